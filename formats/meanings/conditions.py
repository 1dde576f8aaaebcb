"""Instruction words, and the instruction slots of condition SQEs (`reference/sqe_formats.md` 4.16, 7)."""

from __future__ import annotations

_SLOTS = {
    **{f"lhwi{n}": "load high word" for n in ("", 1, 2)},
    **{f"llwi{n}": "load low word" for n in ("", 1, 2, 3)},
    "ldi": "load from an address",
    "lhu": "load 16 bits from an address",
    "var_ldi": "load of the variable",
    "value_ldi": "load of the value",
    "func_call": "function call",
    **{f"nop{n}": "no operation" for n in (*range(5), *range(20, 25))},
    **{f"sd_zero{n}": f"store of zero {n}" for n in range(7)},
    "sd_overflow_cnt": "store of the overflow count",
    "sd": "64-bit store",
    "sw": "32-bit store",
    "bne": "branch if not equal",
    "loop": "loop",
    "loop_active": "loop after the activation",
    "loop_goto": "loop after the jump",
    "active_i": "activation of a queue",
    "de_active_i": "deactivation of a queue",
    "goto_i": "jump of a queue",
    "gotor": "jump of a queue named by a register",
    "csrrc": "clear bits of a control register",
    "csrrs": "set bits of a control register",
    **{f"slli{n}": "shift left" for n in (1, 2)},
    "addi": "add immediate",
    "and1": "and",
    "or1": "or",
    "lhwi_mbuf_snapshot": "load high word of the snapshot address",
    "llwi_mbuf_snapshot": "load low word of the snapshot address",
    "reset_snap_shot": "store that resets the snapshot",
}
_PARTS = {
    "op_code": "opcode",
    "rd": "destination register",
    "func3": "function code",
    "func7": "upper function code",
    "rs1": "first source register",
    "rs2": "second source register",
    "immd": "immediate",
    "immd_high": "immediate, upper bits",
    "immd_low": "immediate, lower bits",
    "immd_addr_high": "address, upper bits",
    "immd_addr_low": "address, lower 32 bits",
    "shamt": "shift amount",
    "csr_reg": "control register",
    "sq_id": "queue",
    "sq_head": "queue head",
    "jump_instr_offset": "low 4 bits of the target word",
    "delay_cycle": "cycles to wait",
}

CONDITIONS = {
    **{f"{slot}_{part}": f"{what}: {text}" for slot, what in _SLOTS.items() for part, text in _PARTS.items()},
    **{part: text for part, text in _PARTS.items() if part not in {"sq_id", "sq_head"}},  # named in `completions`
    "err": "0 is the error instruction",
    "conds_sub_type": "kind of conditional task",
    "csc": "condition flag; written 1, 0 only in the second part of an RDMA sink",
}
SLOTS = frozenset(_SLOTS)
"""Names of instruction slots."""
