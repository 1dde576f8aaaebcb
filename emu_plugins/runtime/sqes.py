"""The v100 entries the loader writes, one function per kind (`reference/sqe_formats.md` 4).

Every function gives 64 bytes. Addresses are device addresses; ids are those of the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.kernels import CoreType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.kernels import Mix
    from emu_core.memory import DeviceMemory
    from formats import CStruct, Registry

DEFAULT_CREDIT = 254
NEVER_CREDIT = 255
AICPU_CREDIT = 8
NOP_TASK, UPDATE_TASK = 103, 101
ALL_ONES = (1 << 64) - 1
EVENT_TABLE = 0x6A0000000 + 0x200000
"""Event table of a 910B (`sqe_formats.md` 1): 4096 events of 4 bytes per table, tables 64 KiB apart."""

FFTS_PLUS = 4
MIX_SUB_TYPES = MappingProxyType({CoreType.AIC: 6, CoreType.AIV: 7})
"""Sub type of the FFTS+ entry of a mix kernel, by main core."""

FFTS_TYPE = MappingProxyType({CoreType.AIC: 0, CoreType.AIV: 1, CoreType.MIX: 5})
"""`ffts_type` of an AI Core entry, by the cores of its kernel."""


@dataclass(frozen=True)
class Place:
    """Where an entry goes: stream id and task id, which every header carries."""

    stream_id: int
    task_id: int

    def header(self, sqe_type: int) -> dict[str, int]:
        """Header fields of an entry of `sqe_type` here."""
        return {"type": sqe_type, "rt_stream_id": self.stream_id, "task_id": self.task_id}


def narrow_block_dim(block_dim: int) -> int:
    """A block dim of 32 bits as entries hold it: its low 16 bits; 0 becomes 1."""
    return (block_dim & 0xFFFF) if block_dim else 1


class SqeBuilder:
    """Builds entries of one family; `SqeBuilderV200` says what differs there.

    Attributes:
        has_contexts: mix kernels are FFTS+ entries with a context in memory.
        default_credit, kernel_credit, aicpu_credit: time budgets of entries, as they are stored.
        aicpu_type, aicpu_fields: type of an AI CPU entry, and what it has beside the fields of every family.
        update_reports: an update writes a completion entry.
    """

    has_contexts = True
    default_credit = DEFAULT_CREDIT
    kernel_credit = DEFAULT_CREDIT
    aicpu_credit = AICPU_CREDIT
    aicpu_type = 1
    update_reports = True
    aicpu_fields: Mapping[str, int] = MappingProxyType({})

    def __init__(self, registry: Registry, family: str) -> None:
        self._registry = registry
        self._family = family

    def _struct(self, name: str) -> CStruct:
        return self._registry.get(self._family, name)

    def header(self, place: Place, sqe_type: int) -> dict[str, int]:
        """Header fields of an entry of `sqe_type` in `place`."""
        return place.header(sqe_type)

    def update_address(self, memory: DeviceMemory, address: int) -> int:
        """What an update entry says for `address` of the TS space: its device offset."""
        return memory.offset_of(address)

    def kernel(
        self,
        place: Place,
        *,
        core_type: CoreType,
        block_dim: int,
        schem: int,
        pc: int,
        args: int,
        stack: int,
        second_pc: int = 0,
        mix: Mix | None = None,
    ) -> bytes:
        """AI Core kernel; `block_dim` of 32 bits is narrowed to 16 as the launch does, 0 becomes 1.

        `second_pc` and `mix` of a mix kernel have no place in this entry.
        """
        del second_pc, mix
        return self._struct("AicoreKernelSqe").build(
            {
                **self.header(place, 0),
                "block_dim": narrow_block_dim(block_dim),
                "ffts_type": FFTS_TYPE[core_type],
                "wrr_ratio": 1,
                "kernel_credit": DEFAULT_CREDIT,
                "schem": schem,
                "ns": 1,
                "stack_phy_base": stack,
                "pc_addr": pc,
                "param_addr": args,
            }
        )

    def mix_kernel(self, place: Place, *, mix: Mix, block_dim: int, context: int, stack: int) -> bytes:
        """Mix kernel: FFTS+ entry with the one context at address `context`; block dim as in `kernel`."""
        return self._struct("FftsPlusSqe").build(
            {
                **self.header(place, 0),
                "block_dim": narrow_block_dim(block_dim),
                "ffts_type": FFTS_PLUS,
                "kernel_credit": DEFAULT_CREDIT,
                "sub_type": MIX_SUB_TYPES[mix.type.main],
                "stack_phy_base": stack,
                "total_context_num": 1,
                "ready_context_num": 1,
                "preload_context_num": 1,
                "context_address_base": context,
            }
        )

    def aicpu(self, place: Place, *, library: int, function: int, args: int, custom: bool) -> bytes:
        """AI CPU kernel with block dim 1; `library` and `function` are addresses of texts."""
        return self._struct("AicpuKernelSqe").build(
            {
                **self.aicpu_fields,
                **self.header(place, self.aicpu_type),
                "block_dim": 1,
                "kernel_type": 4 if custom else 2,
                "kernel_credit": self.aicpu_credit,
                "task_so_addr": library,
                "param_addr": args,
                "task_name_str_ptr": function,
                "extra_field_low": place.task_id,
                "topic_id": 3,
                "usr_data_len": 40,
            }
        )

    def event_record(self, place: Place, event_id: int) -> bytes:
        """Event record."""
        return self._struct("EventRecordSqe").build(
            {**self.header(place, 4), "event_id": event_id, "kernel_credit": DEFAULT_CREDIT}
        )

    def event_wait(self, place: Place, event_id: int) -> bytes:
        """Event wait, without a time limit."""
        return self._struct("EventWaitSqe").build(
            {**self.header(place, 5), "event_id": event_id, "kernel_credit": NEVER_CREDIT}
        )

    def event_reset(self, place: Place, event_id: int) -> bytes:
        """Event reset: a write of 0 to the event's word, by its physical address."""
        address = EVENT_TABLE + event_id // 4096 * 0x10000 + event_id % 4096 * 4
        return self._struct("WriteValueSqe").build(
            {
                **self.header(place, 8),
                "kernel_credit": DEFAULT_CREDIT,
                "write_addr": address,
                "event_id": event_id,
                "sub_type": 1,
            }
        )

    def notify_record(self, place: Place, notify_id: int) -> bytes:
        """Notify record."""
        return self._struct("NotifyRecordSqe").build(
            {**self.header(place, 6), "notify_id": notify_id, "kernel_credit": DEFAULT_CREDIT}
        )

    def notify_wait(self, place: Place, notify_id: int) -> bytes:
        """Notify wait, without a time limit."""
        return self._struct("NotifyWaitSqe").build(
            {**self.header(place, 7), "notify_id": notify_id, "kernel_credit": NEVER_CREDIT}
        )

    def nop(self, place: Place) -> bytes:
        """NOP: a place holder with task type 103 that nobody stops at."""
        return self._struct("PhSqe").build(
            {**self.header(place, 3), "task_type": NOP_TASK, "kernel_credit": self.default_credit}
        )

    def update(
        self,
        place: Place,
        *,
        key_offset: int,
        block_dim_offset: int,
        table_offset: int,
        rows: int,
        target: Place,
        descriptor_offset: int = ALL_ONES,
    ) -> bytes:
        """Model task update; places are as `update_address` gives them, that of a plain kernel's context all ones."""
        return self._struct("PhModelTaskUpdateSqe").build(
            {
                **self.header(place, 3),
                "task_type": UPDATE_TASK,
                "pre_p": 1,
                "wr_cqe": int(self.update_reports),
                "kernel_credit": self.default_credit,
                **({"desc_buf_offset": descriptor_offset} if self.has_contexts else {}),
                "tiling_key_offset": key_offset,
                "block_dim_offset": block_dim_offset,
                "tiling_tab_offset": table_offset,
                "tiling_tab_len": rows & 0xFFFF,
                "des_stream_id": target.stream_id,
                "des_task_id": target.task_id,
                "exe_stream_id": place.stream_id,
            }
        )

    def model_execute(self, place: Place, model_id: int) -> bytes:
        """Model execute: condition entry of sub type 1 with post-P."""
        return self._struct("FunctionCallSqe").build(
            {
                **self.header(place, 20),
                "post_p": 1,
                "conds_sub_type": 1,
                "model_id": model_id,
                "kernel_credit": self.default_credit,
                "csc": 1,
            }
        )
