"""Calls about the device: capabilities, failure mode, time limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.runtime.host.base import RuntimeCore, api_call
from emu_plugins.runtime.host.capability import STUB_DEVICE, TILING_KEY_SINK, Capability, Feature, Module
from emu_plugins.runtime.host.codes import INVALID_DEVICE, PARAM_INVALID
from emu_plugins.runtime.host.errors import RuntimeApiError, bad_value, not_supported
from emu_plugins.runtime.host.handles import StreamHandle

if TYPE_CHECKING:
    from emu_core.reports import Hazard

FAILURE_MODES = ("continue", "stop")
"""By the number of `aclrtSetDeviceFailureMode`-like calls: 0 goes on, 1 stops."""
NEVER_US = (1 << 64) - 1
"""Microseconds that mean *never* (`device_semantics.md` 8.5)."""


class QueryCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def hazards(self, stream: StreamHandle | None = None) -> tuple[Hazard, ...]:
        """What ran on the device since this runtime was made and may be wrong, in order: stale fetches and the like.

        Args:
            stream: only tasks of this stream, and of models that it executed and was not synchronised for yet; by
                default those of every stream.

        Raises:
            RuntimeApiError: stream destroyed (107017), of another device (107003).
        """
        found = self._first_hazard.behind(self.device.hazards)
        if stream is None:
            return found
        core = self.require("hazards", "stream", stream, StreamHandle)
        ids = {core.id, *(each.id for model in core.called for each in model.streams)}
        return tuple(hazard for hazard in found if hazard.stream in ids)

    @api_call
    def get_device_capability(self, device_id: int, module: int, feature: int) -> Capability:
        """Whether device `device_id` has `feature` of `module`; only the model task update is known (S11, S12).

        Raises:
            RuntimeApiError: no such device (107001); a module or feature without a number here (107000, EE1003).
        """
        function = "get_device_capability"
        if device_id not in (self.device_id, STUB_DEVICE):
            raise RuntimeApiError(
                INVALID_DEVICE,
                f"device {device_id} does not exist",
                function=function,
                remedy=f"ask about device {self.device_id}, or {STUB_DEVICE} for builds without one",
            )
        if module not in list(Module):
            raise bad_value(function, "module", module, f"one of {[int(m) for m in Module]}")
        if feature not in list(Feature):
            raise bad_value(function, "feature", feature, f"one of {[int(f) for f in Feature]}")
        if (module, feature) != (Module.TSCPU, Feature.MODEL_TASK_UPDATE):
            return Capability.NOT_SUPPORT
        known = self.firmware.offline if device_id == STUB_DEVICE else TILING_KEY_SINK in self.firmware.features
        return Capability.SUPPORT if known and self.device.chip.model_task_update else Capability.NOT_SUPPORT

    @api_call
    def set_device_failure_mode(self, mode: int) -> None:
        """0: a stream goes on behind a failed task. 1: the first error aborts everything, streams made later included.

        Raises:
            RuntimeApiError: 0 after 1 (207000); another number (107000, EE1003).
        """
        if mode not in range(len(FAILURE_MODES)):
            raise bad_value("set_device_failure_mode", "mode", mode, "[0, 1]")
        self.device.scheduler.recovery.set_mode(FAILURE_MODES[mode])

    @api_call
    def set_op_execute_timeout(self, seconds: int) -> None:
        """Time limit of kernels without one of their own, in seconds; 0 is the largest finite one (S57).

        Raises:
            RuntimeApiError: negative (107000, EE1003), or microseconds were set before (107000, EE1017).
        """
        self._set_timeout("set_op_execute_timeout", seconds, "s")
        self._execute_timeout_us = seconds * 1_000_000

    @api_call
    def set_op_execute_timeout_us(self, microseconds: int) -> None:
        """The same in microseconds; here 0 is *never*.

        Raises:
            RuntimeApiError: negative (107000, EE1003), or seconds were set before (107000, EE1017).
        """
        self._set_timeout("set_op_execute_timeout_us", microseconds, "us")
        self._execute_timeout_us = NEVER_US if microseconds == 0 else microseconds

    def _set_timeout(self, function: str, value: int, unit: str) -> None:
        if not 0 <= value <= NEVER_US:
            raise bad_value(function, "timeout", value, "0 or more")
        if self._timeout_unit not in ("", unit):
            raise RuntimeApiError(
                PARAM_INVALID,
                "time limits in seconds and in microseconds exclude each other",
                message="EE1017",
                function=function,
                remedy=f"keep to the call in {'seconds' if self._timeout_unit == 's' else 'microseconds'}",
            )
        self._timeout_unit = unit

    @api_call
    def set_op_wait_timeout(self, seconds: int) -> None:
        """Seconds that event and notify waits submitted from now on wait at most; 0 is for ever.

        Raises:
            RuntimeApiError: 310P does not support it (207000); not in 32 bits (107000, EE1003).
        """
        function = "set_op_wait_timeout"
        if self.device.chip.product == "310P":
            raise not_supported(function, "a time limit of waits is not supported on 310P")
        if not 0 <= seconds < 1 << 32:
            raise bad_value(function, "timeout", seconds, "0 to 4294967295")
        self._wait_timeout_s = seconds
