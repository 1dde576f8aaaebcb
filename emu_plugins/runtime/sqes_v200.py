"""The v200 entries the loader writes, where they differ from those of v100 (`sqe_formats.md` 6).

| what differs from v100 | here |
|---|---|
| header | a 32-bit serial number; the stream is not in the entry |
| credit | 253 where v100 writes 254; kernels follow the chip's rule and store one less than they mean |
| events | notify entries with sub types of their own, the reset too |
| kernels | type by the leading core, one half of the entry per kind of core, block dim cut into groups |
| update | addresses instead of device offsets |
"""

from __future__ import annotations

from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.kernels import CoreType, Mix, MixType
from emu_plugins.engines.ai_core_v200 import groups
from emu_plugins.runtime.sqes import NEVER_CREDIT, Place, SqeBuilder, narrow_block_dim

if TYPE_CHECKING:
    from emu_core.memory import DeviceMemory

DEFAULT_CREDIT = 253
KERNEL_CREDIT, AICPU_CREDIT = 254 - 1, 8 - 1
"""Defaults of 254 and 8 periods, as stored on chips that count from 0 (`sqe_formats.md` 3)."""
MIX_RATIO = 2
"""Vector blocks per cube block of a mix kernel, the chips' default."""
NO_KFC_ARGUMENTS = 0xFFFF


class RecordMode(IntEnum):
    """What a counted record does with the value."""

    STORE = 0
    ADD = 1
    SET_BITS = 2
    CLEAR_BITS = 4


class WaitMode(IntEnum):
    """How a counted wait compares; `BITS`: all bits of the given value are set."""

    LESS = 0
    EQUAL = 1
    GREATER = 2
    GREATER_EQUAL = 3
    BITS = 4


_KERNELS = ("AicKernelSqe", "AivKernelSqe")
"""By SQE type, which is the number of the leading cores."""


class SqeBuilderV200(SqeBuilder):
    """Builds entries of family v200."""

    has_contexts = False
    default_credit = DEFAULT_CREDIT
    kernel_credit = KERNEL_CREDIT
    aicpu_credit = AICPU_CREDIT
    aicpu_type = 5
    update_reports = False
    aicpu_fields = MappingProxyType({"kfc_args_fmt_offset": NO_KFC_ARGUMENTS})

    def header(self, place: Place, sqe_type: int) -> dict[str, int]:
        """Header fields: the task's serial number, no stream."""
        return {"type": sqe_type, "task_id": place.task_id}

    def update_address(self, memory: DeviceMemory, address: int) -> int:
        """What an update entry says for `address`: v200 has virtual addresses."""
        del memory
        return address

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
        """AI Core kernel; a mix kernel says by `mix` which cores lead, and where the vector cores start.

        `block_dim` of 32 bits is narrowed to 16 as the launch does, 0 becomes 1.
        """
        if mix is None and core_type is CoreType.MIX:
            mix = Mix()
        lead = mix.type.main if mix else core_type
        uses = set(CoreType) if mix and mix.type.both else {lead}
        values = {
            **self.header(place, int(lead)),
            **groups(narrow_block_dim(block_dim)),
            "kernel_credit": self.kernel_credit,
            "die_friendly": 1,
            "loose": 1,
            "ratio": 1,
            "schem": schem,
            "stack_phy_base": stack,
        }
        if mix:
            tied = mix.type is MixType.AIC_MAIN and mix.ratio == MIX_RATIO
            values |= {"mix": 1, "pi_mix": 1, "ratio": mix.secondary, "loose": int(not tied)}
        if CoreType.AIC in uses:
            values |= {"aic_wrr_rd": 1, "aic_wrr_wr": 1, "aic_start_pc": pc, "aic_task_param_ptr": args}
        if CoreType.AIV in uses:
            start = second_pc if CoreType.AIC in uses else pc
            values |= {"aiv_wrr_rd": 2, "aiv_wrr_wr": 2, "aiv_start_pc": start, "aiv_task_param_ptr": args}
        return self._struct(_KERNELS[lead]).build(values)

    def event_record(self, place: Place, event_id: int) -> bytes:
        """Event record: sub type 4 of a notify record."""
        return self._record(place, event_id, sub_type=4)

    def event_wait(self, place: Place, event_id: int) -> bytes:
        """Event wait, without a time limit: sub type 5 of a notify wait, which leaves the event set."""
        return self._wait(place, event_id, sub_type=5)

    def event_reset(self, place: Place, event_id: int) -> bytes:
        """Event reset: sub type 8 of a notify record, with the clear flag."""
        return self._record(place, event_id, sub_type=8, clr_flag=1, kernel_credit=NEVER_CREDIT)

    def notify_record(self, place: Place, notify_id: int) -> bytes:
        """Notify record."""
        return self._record(place, notify_id, sub_type=0)

    def notify_wait(self, place: Place, notify_id: int) -> bytes:
        """Notify wait, without a time limit; it clears the notify."""
        return self._wait(place, notify_id, sub_type=1, clr_flag=1)

    def notify_reset(self, place: Place, notify_id: int) -> bytes:
        """Notify reset: a record with the clear flag."""
        return self._record(place, notify_id, sub_type=0, clr_flag=1)

    def count_notify_record(self, place: Place, notify_id: int, *, mode: RecordMode, value: int) -> bytes:
        """Record of a counted notify; `value` has 32 bits."""
        return self._record(
            place, notify_id, sub_type=2, cnt_flag=1, cnt_value=value & 0xFFFFFFFF, record_mode_bit=int(mode)
        )

    def count_notify_wait(
        self, place: Place, notify_id: int, *, mode: WaitMode, value: int, clear: bool = False, timeout: int = 0
    ) -> bytes:
        """Wait for a counted notify, for at most `timeout` seconds (0: for ever)."""
        bits = mode is WaitMode.BITS
        return self._wait(
            place,
            notify_id,
            sub_type=3,
            cnt_flag=1,
            clr_flag=int(clear),
            cnt_value=value & 0xFFFFFFFF,
            wait_mode_bit=0 if bits else int(mode),
            bitmap=int(bits),
            timeout=timeout,
        )

    def count_notify_reset(self, place: Place, notify_id: int) -> bytes:
        """Reset of a counted notify: a record that stores 0."""
        return self.count_notify_record(place, notify_id, mode=RecordMode.STORE, value=0)

    def _record(self, place: Place, notify_id: int, **fields: int) -> bytes:
        values = {"kernel_credit": self.default_credit, **self.header(place, 6), "notify_id": notify_id, **fields}
        return self._struct("NotifyRecordSqe").build(values)

    def _wait(self, place: Place, notify_id: int, **fields: int) -> bytes:
        values = {**self.header(place, 7), "kernel_credit": NEVER_CREDIT, "notify_id": notify_id, **fields}
        return self._struct("NotifyWaitSqe").build(values)
