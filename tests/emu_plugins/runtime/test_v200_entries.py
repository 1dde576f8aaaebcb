"""v200 entries byte by byte: every value by hand from the measured tables of `sqe_formats.md` 6."""

from __future__ import annotations

import pytest

from emu_core.errors import InputError
from emu_core.kernels import CoreType, Mix, MixType
from emu_plugins.runtime.builders import builder_for
from emu_plugins.runtime.sqes import Place, SqeBuilder
from emu_plugins.runtime.sqes_v200 import RecordMode, SqeBuilderV200, WaitMode
from formats import BUILTIN

BUILD = builder_for(BUILTIN, "v200")
PC, SECOND, ARGS, STACK = 0x12C0C0200000, 0x12C0C0200040, 0x12C041300000, 0x12C040800000
KERNEL = {"schem": 0, "pc": PC, "args": ARGS, "stack": STACK}


def _words(text: str) -> bytes:
    """16 words, written as bytes in address order; what is missing at the end is 0."""
    raw = bytes.fromhex(text.replace("|", ""))
    return raw.ljust(64, b"\0")


def _place(serial, stream=3):
    return Place(stream, serial)


ENTRIES = [
    ("nop", (), {}, "03000000 05000000 00000000 6700fd00"),
    ("event_record", (21,), {}, "06000000 05000000 15000000 0400fd00"),
    ("event_wait", (70000,), {}, "07000000 05000000 70110100 0500ff00"),
    ("event_reset", (21,), {}, "06000000 05000000 15000080 0800ff00"),
    ("notify_record", (21,), {}, "06000000 05000000 15000000 0000fd00"),
    ("notify_wait", (21,), {}, "07000000 05000000 15000080 0100ff00"),
    ("notify_reset", (21,), {}, "06000000 05000000 15000080 0000fd00"),
    (
        "count_notify_record", (9,), {"mode": RecordMode.ADD, "value": 3},
        "06000000 05000000 09000040 0200fd00 03000000 04000000",
    ),
    (
        "count_notify_record", (9,), {"mode": RecordMode.CLEAR_BITS, "value": 1 << 31},
        "06000000 05000000 09000040 0200fd00 00000080 10000000",
    ),
    ("count_notify_reset", (9,), {}, "06000000 05000000 09000040 0200fd00"),
    (
        "count_notify_wait", (9,), {"mode": WaitMode.EQUAL, "value": 0, "clear": True, "timeout": 10},
        "07000000 05000000 090000c0 0300ff00 00000000 01000000 0a000000",
    ),
    (
        "count_notify_wait", (9,), {"mode": WaitMode.BITS, "value": 5},
        "07000000 05000000 09000040 0300ff00 05000000 20000000",
    ),
    (
        "count_notify_wait", (9,), {"mode": WaitMode.GREATER_EQUAL, "value": 5},
        "07000000 05000000 09000040 0300ff00 05000000 03000000",
    ),
    ("model_execute", (5,), {}, "14040000 05000000 01050080 0000fd00"),
    (
        "aicpu", (), {"library": 0x12C040000100, "function": 0x12C040000200, "args": 0x12C040000300, "custom": False},
        ("05000100 05000000 00000200 00000700 00010040 c0120000 00030040 c012ffff 00020040 c0120000"
        "00000000 00000000 05000000 00000000 00300028"),
    ),
    (
        "update", (),
        {
            "key_offset": 0x124000001000, "block_dim_offset": 0x124000001080, "table_offset": 0x124000002000, "rows": 2,
            "target": Place(2, 70000),
        },
        ("03020000 05000000 00000000 6500fd00 00100000 40120000 80100000 40120000 00200000 40120000"
        "02000200 70110100 03000000"),
    ),
    (
        "kernel", (), {**KERNEL, "core_type": CoreType.AIC, "block_dim": 8, "schem": 1},
        ("00000800 05000000 02000400 0000fd05 00008040 c0120000 00000900 00004001 000020c0 00000000 c0120000 00000000"
        "00003041 c0120000"),
    ),
    (
        "kernel", (), {**KERNEL, "core_type": CoreType.AIV, "block_dim": 0xFFFFFFFF},
        ("0100ffff 05000000 02000080 0000fd05 00008040 c0120000 00000000 00001201 00000000 000020c0 0000c012 00000000"
        "00000000 00000000 00003041 c0120000"),
    ),
    (
        "kernel", (), {**KERNEL, "core_type": CoreType.AIV, "block_dim": 0},
        ("01000100 05000000 01000100 0000fd05 00008040 c0120000 00000000 00001201 00000000 000020c0 0000c012 00000000"
        "00000000 00000000 00003041 c0120000"),
    ),
    (
        "kernel", (), {**KERNEL, "core_type": CoreType.MIX, "block_dim": 3, "second_pc": SECOND, "mix": Mix()},
        ("00000300 05000000 02000200 0000fd03 00008040 c0120000 00080900 00001202 000020c0 400020c0 c012c012 00000000"
        "00003041 c0120000 00003041 c0120000"),
    ),
    (
        "kernel", (),
        {**KERNEL, "core_type": CoreType.MIX, "block_dim": 2, "mix": Mix(MixType.AIV_ONLY, 0)},
        ("01000200 05000000 02000100 0000fd07 00008040 c0120000 00080000 00001200 00000000 000020c0 0000c012 00000000"
        "00000000 00000000 00003041 c0120000"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "given", "named", "text"), ENTRIES, ids=[f"{i}-{e[0]}" for i, e in enumerate(ENTRIES)]
)
def test_an_entry_has_these_bytes(kind, given, named, text):
    """Serial number 5, executing stream 3; each word from the table of its layout."""
    assert getattr(BUILD, kind)(_place(5), *given, **named).hex() == _words(text).hex()


def test_the_worked_example_of_the_reference_is_a_notify_wait_with_ten_seconds():
    """Serial 77, notify 21; only the seconds in word 6 differ from what the builder writes."""
    example = bytes.fromhex("070000004d000000150000800100ff00" + "0000000000000000" + "0a000000" + "00" * 36)
    built = bytearray(BUILD.notify_wait(_place(77), 21))
    built[24] = 10
    assert bytes(built) == example


def test_every_entry_of_v100_exists_on_v200():
    """The loader calls the same names on both builders."""
    names = {name for name in vars(SqeBuilder) if not name.startswith("_") and callable(getattr(SqeBuilder, name))}
    same = {"aicpu", "nop", "update", "model_execute"}
    assert names - {"mix_kernel"} - same <= set(vars(SqeBuilderV200))
    assert not same & set(vars(SqeBuilderV200))
    assert not SqeBuilderV200.has_contexts
    built = {name: BUILTIN.get("v200", struct).parse(_entry(name)) for name, struct in SAME.items()}
    assert {name: values["type"] for name, values in built.items()} == {"aicpu": 5, "nop": 3, "model_execute": 20}
    assert {name: values["kernel_credit"] for name, values in built.items()} == {
        "aicpu": 7,
        "nop": 253,
        "model_execute": 253,
    }
    assert built["aicpu"]["kfc_args_fmt_offset"] == 0xFFFF
    assert all(values["task_id"] == 0x12345 for values in built.values())


SAME = {"aicpu": "AicpuKernelSqe", "nop": "PhSqe", "model_execute": "FunctionCallSqe"}
"""Entries that both builders write alike but for header and credit, and their layouts."""


def _entry(name):
    arguments = {"aicpu": {"library": 1, "function": 2, "args": 3, "custom": False}, "model_execute": {"model_id": 1}}
    return getattr(BUILD, name)(Place(3, 0x12345), **arguments.get(name, {}))


def test_a_family_without_a_builder_is_refused():
    """The message names the families that have one."""
    with pytest.raises(InputError) as caught:
        builder_for(BUILTIN, "arch5162")
    assert caught.value.id == "chip.no-engines"
    assert "v100 or v200" in str(caught.value)


def test_s18_the_update_entry_of_v200_asks_for_no_completion():
    """S18: type 3, task type 101, pre-P 1; the completion bit is the stream's, credit 253, ids of 32 and 16 bits."""
    sqe = BUILD.update(
        _place(1), key_offset=8, block_dim_offset=16, table_offset=24, rows=1, target=Place(65535, 1 << 31)
    )
    found = BUILTIN.get("v200", "PhModelTaskUpdateSqe").parse(sqe)
    expected = {
        "type": 3, "task_type": 101, "pre_p": 1, "post_p": 0, "wr_cqe": 0, "kernel_credit": 253, "tiling_tab_len": 1,
        "des_stream_id": 65535, "des_task_id": 1 << 31, "exe_stream_id": 3,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("core", list(CoreType))
def test_a_kernel_of_either_half_decodes_to_what_was_asked(core):
    """The leading half has the program counter; cube kernels fill no vector half, and the other way round."""
    sqe = BUILD.kernel(_place(0), core_type=core, block_dim=4, second_pc=SECOND, **KERNEL)
    found = BUILTIN.decode("v200", sqe)
    values = found.struct.join(found.values)
    assert found.struct.struct_name == ("AivKernelSqe" if core is CoreType.AIV else "AicKernelSqe")
    assert values["aic_start_pc"] == (0 if core is CoreType.AIV else PC)
    assert values["aiv_start_pc"] == {CoreType.AIC: 0, CoreType.AIV: PC, CoreType.MIX: SECOND}[core]
    assert values["mix"] == values["pi_mix"] == (core is CoreType.MIX)
