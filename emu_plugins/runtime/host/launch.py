"""Launch calls: AI Core kernels, AI CPU functions, NOPs.

| attribute of a launch | effect | expected, else EE1003 |
|---|---|---|
| `schem` | 0: blocks start one by one; 1: all at once, more than there are cores is warned about (S61) | [0, 1] |
| `block_task_prefetch` | 1: the runtime's NOPs go first, so that the entry may still be patched (S29) | [0, 1] |
| `timeout_us` | time limit of this launch; 2^64 - 1 is *never* (S57) | 64 bits |

The NOPs of `block_task_prefetch` are the runtime's number, not the compiler's: 10 on 310P, 8 elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.origin import NOWHERE, Origin
from emu_plugins.engines.credits import budget_ns, credit_for, unit_ns
from emu_plugins.runtime.host.base import RuntimeCore, api_call
from emu_plugins.runtime.host.errors import bad_value, dead_handle, null_pointer, shown
from emu_plugins.runtime.host.fields import with_credit
from emu_plugins.runtime.host.handles import NOT_MIX, Function, Launched, Program, StreamHandle
from emu_plugins.runtime.host.kinds import accept_fields, refused
from emu_plugins.runtime.kernel_entries import LaunchValues, kernel_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_plugins.runtime.sqes import Place

RUNTIME_NOPS: Mapping[str, int] = MappingProxyType({"310P": 10})
"""NOPs in front of a launch with `block_task_prefetch`, by product (`device_semantics.md` 7.2)."""
OTHER_NOPS = 8
MOST_U32, MOST_U64 = (1 << 32) - 1, (1 << 64) - 1
BATCH = 1


@dataclass(frozen=True)
class LaunchConfig:
    """Attributes of one launch; see the module text.

    `timeout_us` None is the limit of the device. A limit is kept in units of the chip, seconds long, and rounded up:
    `Runtime.time_limit_ns` tells what becomes of it.
    """

    schem: int = 0
    block_task_prefetch: int = 0
    timeout_us: int | None = None


DEFAULTS = LaunchConfig()


class LaunchCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def launch_kernel(
        self,
        function: Function | None,
        block_dim: int,
        stream: StreamHandle | None,
        args: int,
        config: LaunchConfig = DEFAULTS,
        *,
        label: str = "",
        origin: Origin = NOWHERE,
    ) -> int:
        """Submit an AI Core kernel and return its task id.

        Args:
            function: what to run. block_dim: blocks, 32 bits of which the entry holds the low 16; 0 becomes 1.
            stream: where to.
            args: address of the argument block: one 64-bit word per argument.
            config: attributes.
            label: what the context of a mix kernel is called; the program's name by default.
            origin: graph node and model task, for messages.

        Raises:
            RuntimeApiError: function or stream null (107000, EE1004); stream or program destroyed (107017); block dim,
                argument address or an attribute out of range (107000, EE1003); ring full (507002, EE1019).
        """
        called = "launch_kernel"
        function = self._function(called, function)
        target = self.require(called, "stream", stream, StreamHandle)
        config = _attributes(called, config)
        _check(called, config, block_dim, args)
        self._warn_about_batch(called, function, config, block_dim)
        credit = self._credit(config.timeout_us)
        nops = self.prefetch_nops if config.block_task_prefetch else 0
        self.reserve(target, nops + 1)
        for _ in range(nops):
            self.submit(target, self.build.nop, origin)
        image, values = function.program.image, LaunchValues(block_dim, config.schem, args, self.stack())
        assert image is not None
        contexts: list[int | None] = []

        def make(place: Place) -> bytes:
            entry = kernel_entry(
                self.device,
                self.build,
                place,
                image,
                function.tiling_key,
                values,
                where=label or function.program.name,
            )
            contexts.append(entry.context)
            return with_credit(entry.sqe, credit)

        task = self.submit(target, make, origin)
        if not target.core.queue.bound:
            target.launched.clear()
        target.launched[task] = Launched(target.id, task, function, contexts[0])
        return task

    def _function(self, called: str, function: Function | None) -> Function:
        if function is None:
            raise null_pointer(called, "function")
        if not isinstance(function, Function):
            raise dead_handle(called, "function", f"the {type(function).__name__} {shown(function)}")
        if not function.program.alive:
            raise dead_handle(called, "function", "a kernel of a program that was unregistered")
        self.require(called, "function", function.program, Program)
        return function

    @property
    def prefetch_nops(self) -> int:
        """NOPs that the runtime puts before a kernel whose entry may be patched."""
        return RUNTIME_NOPS.get(self.device.chip.product, OTHER_NOPS)

    def _warn_about_batch(self, called: str, function: Function, config: LaunchConfig, block_dim: int) -> None:
        chip = self.device.chip
        most = max(chip.core_num_aiv, chip.core_num)
        if config.schem == BATCH and most < block_dim != MOST_U32:
            name = function.program.name
            self.warnings.append(f"{called}: batch of {block_dim} blocks of {name}, {chip.name} has {most} cores")

    @api_call
    def launch_aicpu(
        self,
        library: str | None,
        function: str | None,
        stream: StreamHandle | None,
        args: int,
        *,
        custom: bool = False,
        timeout_us: int | None = None,
        origin: Origin = NOWHERE,
    ) -> int:
        """Submit an AI CPU function with block dim 1 and return its task id; it never gets NOPs in front.

        Args:
            library, function: file name of the shared object, and the name it exports; found when it runs.
            stream: where to.
            args: address of the arguments.
            custom: a custom AI CPU kernel.
            timeout_us: time limit in microseconds; None is that of the device.
            origin: graph node and model task, for messages.

        Raises:
            RuntimeApiError: a name or stream null (107000, EE1004); stream destroyed (107017); a name that is not
                printable, an address or limit out of range (107000, EE1003); ring full (507002, EE1019).
        """
        called = "launch_aicpu"
        names = _name(called, "library", library), _name(called, "function", function)
        target = self.require(called, "stream", stream, StreamHandle)
        _check(called, LaunchConfig(timeout_us=timeout_us), 1, args)
        texts = self.text(names[0]), self.text(names[1])
        credit = self._credit(timeout_us)
        return self.submit(
            target,
            lambda place: with_credit(
                self.build.aicpu(place, library=texts[0], function=texts[1], args=args, custom=custom), credit
            ),
            origin,
        )

    @api_call
    def launch_nop(self, stream: StreamHandle | None, *, origin: Origin = NOWHERE) -> int:
        """Submit an entry that does nothing and return its task id.

        Raises:
            RuntimeApiError: stream null (107000, EE1004) or destroyed (107017); ring full (507002, EE1019).
        """
        return self.submit(self.require("launch_nop", "stream", stream, StreamHandle), self.build.nop, origin)

    def _credit(self, timeout_us: int | None) -> int | None:
        """Kernel credit of a launch: from its own limit, else from the device's; None leaves the builder's."""
        chosen = self._execute_timeout_us if timeout_us is None else timeout_us
        device = self.device
        return None if chosen is None else credit_for(chosen, unit_ns(device), from_zero=device.chip.credit_from_zero)

    @api_call
    def time_limit_ns(self, timeout_us: int | None = None) -> int | None:
        """Nanoseconds that an AI Core kernel really gets when it is launched with `timeout_us`; None is for ever.

        An entry holds its limit as kernel credit: 1 to 254 units of the chip's `credit_ns` (policy `kernel_credit_us`),
        so a limit is rounded up to a unit and never above 254 of them.

        Raises:
            RuntimeApiError: not in 64 bits (107000, EE1003).
        """
        _check("time_limit_ns", LaunchConfig(timeout_us=timeout_us), 1, 0)
        credit = self._credit(timeout_us)
        return budget_ns(self.device, self.build.kernel_credit if credit is None else credit)

    # ---- what was launched -----------------------------------------------------------------------------------

    @api_call
    def descriptor_of(self, stream: StreamHandle | None, task_id: int) -> int:
        """Device offset of the FFTS+ context of a launched kernel; all ones for a plain one and for other tasks.

        Kept are all kernels of a stream that is bound to a model, and the last one of a plain stream.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), task id of another type (107000, EE1003).
        """
        launched = self.require("descriptor_of", "stream", stream, StreamHandle).launched.get(task_id)
        if launched is None or launched.context is None:
            return NOT_MIX
        return self.build.update_address(self.device.memory, launched.context)

    @api_call
    def program_of(self, stream: StreamHandle | None, task_id: int) -> Program | None:
        """Program of a launched kernel, None for any other task.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), task id of another type (107000, EE1003).
        """
        launched = self.require("program_of", "stream", stream, StreamHandle).launched.get(task_id)
        return None if launched is None else launched.function.program


def _name(called: str, parameter: str, name: str | None) -> str:
    """A name that can lie in device memory as a zero-terminated text."""
    if name is None:
        raise null_pointer(called, parameter)
    if not name.isprintable():
        raise bad_value(called, parameter, name, "printable text")
    return name


def _attributes(called: str, config: LaunchConfig) -> LaunchConfig:
    """The attributes with plain integers."""
    if config is DEFAULTS:
        return config
    if not isinstance(config, LaunchConfig):
        raise refused(called, "config", config, "a LaunchConfig")
    return LaunchConfig(**accept_fields(called, "config", config, ("schem", "block_task_prefetch", "timeout_us")))


def _check(called: str, config: LaunchConfig, block_dim: int, args: int) -> None:
    for parameter, value, most, expected in (
        ("block_dim", block_dim, MOST_U32, "[0, 4294967295]"),
        ("args", args, MOST_U64, "an address of 64 bits"),
        ("schem", config.schem, 1, "[0, 1]"),
        ("block_task_prefetch", config.block_task_prefetch, 1, "[0, 1]"),
        ("timeout_us", config.timeout_us or 0, MOST_U64, "[0, 18446744073709551615]"),
    ):
        if not 0 <= value <= most:
            raise bad_value(called, parameter, value, expected)
