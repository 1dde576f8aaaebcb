"""Model task update on three layers (`device_semantics.md` 5.1 and 5.2, S1 to S14, S19 to S21).

| layer | call | adds |
|---|---|---|
| internal | `model_task_update` | the checks below, the tiling table, the entry |
| middle | `launch_update_task` | kind 1 (random numbers) or 2 (AI Core); no FFTS+ information |
| public | `task_update_async` | the information must be there |

| # | checked | answer |
|---|---|---|
| 0 | middle: information null, kind unknown / kind 1 where only A2 and A3 have it | 107000 / 207000 |
| 1, 2 | destination stream, executing stream null | 107000, EE1004 |
| 3 | parameters, tiling key address, block dim address, program null, in that order | 107000, EE1004 |
| 4, 5 | chip without the feature, firmware without feature 27 | 207000 |
| 6 | a stream that is bound to no model | 107005 |
| 7, 8 | program does not live, has no kernels | 107017, 507000 |
| 9 | table does not fit memory, ring full | 207001, 507002; the table is freed |

Not checked, as on the vendor's host: that the destination exists and is a kernel, that the key is one of the program,
where the addresses lead, that both streams belong to one model. The device finds out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from emu_core.errors import Refusal
from emu_core.origin import NOWHERE, Origin
from emu_plugins.runtime.host.base import api_call
from emu_plugins.runtime.host.capability import DSA_UPDATE_PRODUCTS, TILING_KEY_SINK
from emu_plugins.runtime.host.codes import ACL_INVALID_PARAM, INTERNAL, STREAM_MODEL
from emu_plugins.runtime.host.errors import RuntimeApiError, bad_value, not_supported, null_pointer
from emu_plugins.runtime.host.handles import Program, StreamHandle
from emu_plugins.runtime.host.kinds import FIELDS, accept, accept_fields, refused
from emu_plugins.runtime.host.launch import LaunchCalls
from emu_plugins.runtime.images import write_tiling_table
from emu_plugins.runtime.sqes import Place

RANDOM_TASK, AI_CORE_TASK = 1, 2
"""Update kinds of the middle and the public call."""
MOST_U64 = (1 << 64) - 1


@dataclass(frozen=True)
class ModelTaskUpdate:
    """Parameters of the internal call; the field names are the vendor's in our spelling.

    Attributes:
        hdl: program of the destination kernel. ffts_plus_task_info: address of its FFTS+ context, None for a plain one.
        block_dim_addr, tiling_key_addr: device addresses of the u32 and the u64 that the update reads.
    """

    hdl: Program | None = None
    ffts_plus_task_info: int | None = None
    block_dim_addr: int | None = None
    tiling_key_addr: int | None = None


@dataclass(frozen=True)
class TaskUpdateInfo:
    """Parameters of the middle and the public call: `id` 1 random numbers, 2 AI Core.

    Attributes:
        bin_handle: program of the destination. func_entry_addr: device address of the u64 *tiling key*.
        block_dim_addr: device address of the block dim.
    """

    id: int
    bin_handle: Program | None = None
    func_entry_addr: int | None = None
    block_dim_addr: int | None = None


D = TypeVar("D", ModelTaskUpdate, TaskUpdateInfo)


class TaskUpdateCalls(LaunchCalls):
    """See the module text."""

    @api_call
    def model_task_update(
        self,
        dst_stream: StreamHandle | None,
        dst_task_id: int,
        stream: StreamHandle | None,
        para: ModelTaskUpdate | Mapping[str, Any] | None,
        *,
        label: str = "",
        origin: Origin = NOWHERE,
    ) -> int:
        """Submit an update of task `dst_task_id` of `dst_stream` to `stream`, and return its task id.

        Args:
            dst_stream, dst_task_id: the kernel to patch; `last_task_id()` right after its launch.
            stream: executes the update.
            para: what to read, and the program.
            label: what the tiling table is called in reports; the program's name by default.
            origin: graph node and model task, for messages.

        Raises:
            RuntimeApiError: see the table of the module, in that order.
        """
        function = "model_task_update"
        target = self._stream(function, "dst_stream", dst_stream)
        executing = self._stream(function, "stream", stream)
        given = _record(function, "para", para, ModelTaskUpdate)
        if given is None:
            raise null_pointer(function, "para")
        key, block_dim, program = _checked(function, given)
        self._require_feature(function)
        for each in (target, executing):
            if each.model is None:
                raise RuntimeApiError(
                    STREAM_MODEL,
                    f"stream {each.id} is bound to no model",
                    function=function,
                    remedy="bind both streams with bind_stream: updates exist in models only",
                )
        self._require_program(function, program)
        descriptor = self._descriptor(given, target, dst_task_id)
        return self._submit_update(
            executing, Place(target.id, self._narrow(dst_task_id)), (key, block_dim, descriptor), program, label, origin
        )

    @api_call
    def launch_update_task(
        self,
        dst_stream: StreamHandle | None,
        dst_task_id: int,
        stream: StreamHandle | None,
        info: TaskUpdateInfo | Mapping[str, Any] | None,
    ) -> int:
        """The middle call: kind 2 becomes `model_task_update` without FFTS+ information.

        Raises:
            RuntimeApiError: information null or kind unknown (107000), kind 1 where it does not exist, or at all here
                (207000); else as `model_task_update`.
        """
        function = "launch_update_task"
        given = _record(function, "info", info, TaskUpdateInfo)
        if given is None:
            raise null_pointer(function, "info")
        if given.id == RANDOM_TASK:
            raise self._random(function, dst_stream)
        if given.id != AI_CORE_TASK:
            raise bad_value(function, "info.id", given.id, "1 (random numbers) or 2 (AI Core)")
        para = ModelTaskUpdate(given.bin_handle, None, given.block_dim_addr, given.func_entry_addr)
        return self.model_task_update(dst_stream, dst_task_id, stream, para)

    @api_call
    def task_update_async(
        self,
        task_stream: StreamHandle | None,
        task_id: int,
        info: TaskUpdateInfo | Mapping[str, Any] | None,
        exec_stream: StreamHandle | None,
    ) -> int:
        """The public call; it builds the same entry.

        Raises:
            RuntimeApiError: information null (100000, EE1004: the ACL layer looks first); else as `launch_update_task`.
        """
        if info is None:
            error = null_pointer("task_update_async", "info")
            raise RuntimeApiError(
                ACL_INVALID_PARAM, error.what, message=error.message, function=error.function, remedy=error.remedy
            )
        return self.launch_update_task(task_stream, task_id, exec_stream, info)

    # ---- checks ----------------------------------------------------------------------------------------------

    def _stream(self, function: str, parameter: str, stream: StreamHandle | None) -> StreamHandle:
        return self.require(function, parameter, stream, StreamHandle)

    def _random(self, function: str, dst_stream: StreamHandle | None) -> RuntimeApiError:
        if dst_stream is None:
            return null_pointer(function, "dst_stream")
        if self.device.chip.product not in DSA_UPDATE_PRODUCTS:
            return not_supported(function, f"{self.device.chip.name} does not update random-number tasks")
        return not_supported(function, "updates of random-number tasks are not built", refusal=Refusal.UNSUPPORTED_HERE)

    def _require_feature(self, function: str) -> None:
        if not self.device.chip.model_task_update:
            raise not_supported(function, f"{self.device.chip.name} cannot update tasks of a model")
        if TILING_KEY_SINK not in self.firmware.features:
            raise not_supported(function, f"the firmware lacks feature {TILING_KEY_SINK} (tiling key sink)")

    def _require_program(self, function: str, program: Program) -> None:
        self.require(function, "para.hdl", program, Program)
        if program.image is None:
            raise RuntimeApiError(
                INTERNAL,
                f"program {program.name} has no kernels, so its tiling table is empty",
                function=function,
                remedy="register it with tiling keys",
            )

    # ---- the entry -------------------------------------------------------------------------------------------

    def _descriptor(self, para: ModelTaskUpdate, target: StreamHandle, task_id: int) -> int:
        """Offset of the FFTS+ context: the caller's, else the one that was recorded at the launch, else all ones."""
        if para.ffts_plus_task_info is not None:
            return self.build.update_address(self.device.memory, para.ffts_plus_task_info) & MOST_U64
        return self.descriptor_of(target, task_id)

    def _narrow(self, task_id: int) -> int:
        """The task id as the entry holds it: cut to the bits of the family, 16 on v100."""
        bits = self.device.layout("PhModelTaskUpdateSqe").by_name["des_task_id"].width
        return task_id & (1 << bits) - 1

    def _submit_update(
        self,
        stream: StreamHandle,
        target: Place,
        where: tuple[int, int, int],
        program: Program,
        label: str,
        origin: Origin,
    ) -> int:
        """Write the tiling table and the entry; without the entry the table goes again."""
        assert program.image is not None
        key, block_dim, descriptor = where
        table, rows = write_tiling_table(self.device, program.image, label or program.name)
        memory = self.device.memory

        def at(address: int) -> int:
            return self.build.update_address(memory, address) & MOST_U64

        def make(place: Place) -> bytes:
            return self.build.update(
                place,
                key_offset=at(key),
                block_dim_offset=at(block_dim),
                table_offset=at(table),
                rows=rows,
                target=target,
                descriptor_offset=descriptor,
            )

        try:
            task = self.submit(stream, make, origin)
        except BaseException:
            memory.free(table)
            raise
        stream.owned.append(table)
        return task


def _checked(function: str, para: ModelTaskUpdate) -> tuple[int, int, Program]:
    """Tiling key address, block dim address and program, none of them null; looked at in this order."""
    if not para.tiling_key_addr:
        raise null_pointer(function, "para.tiling_key_addr")
    if not para.block_dim_addr:
        raise null_pointer(function, "para.block_dim_addr")
    if para.hdl is None:
        raise null_pointer(function, "para.hdl")
    return para.tiling_key_addr, para.block_dim_addr, para.hdl


def _record(function: str, parameter: str, given: D | Mapping[str, Any] | None, kind: type[D]) -> D | None:
    """The record that was given, or made from a mapping with the names of its fields."""
    names = [field.name for field in fields(kind)]
    if given is None:
        return None
    if isinstance(given, kind):
        return kind(**accept_fields(function, parameter, given, names))
    if not isinstance(given, Mapping):
        raise refused(function, parameter, given, f"a {kind.__name__}, or a mapping")
    unknown = sorted(set(given) - set(names), key=str)
    if unknown:
        raise refused(function, f"{parameter}.{unknown[0]}", given[unknown[0]], f"the names {', '.join(names)}")
    if kind is TaskUpdateInfo and "id" not in given:
        raise bad_value(function, f"{parameter}.id", None, "1 (random numbers) or 2 (AI Core)")
    values: dict[str, Any] = {n: accept(function, f"{parameter}.{n}", given[n], FIELDS[n]) for n in given}
    return kind(**values)
