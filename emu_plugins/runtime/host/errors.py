"""The error of the host API: the public code, the vendor's message class, and words of ours.

Calls raise `RuntimeApiError`; the functions of `emu_plugins.runtime.host.c_api` return its code instead. Errors of the
layers below stay what they are as well: a used-up resource is also a `LimitError`, with the id it always had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import DeviceFault, InputError, LimitError, SqemuError
from emu_plugins.runtime.host.codes import (
    DEVICE_ABORTED,
    INTERNAL,
    INVALID_HANDLE,
    KERNEL_LOOKUP,
    LIMIT_CODES,
    NOT_SUPPORTED,
    PARAM_INVALID,
    LimitCode,
)

if TYPE_CHECKING:
    from emu_core.errors import Refusal
    from emu_core.reports import Fault, Hazard


class RuntimeApiError(SqemuError):
    """A call of the host API that was refused, or a device error that a synchronisation reports.

    Attributes:
        code: public return code (`emu_plugins.runtime.host.codes`).
        message: the vendor's message class, for example `EE1004`; empty where it has none.
        function: the call, by its name in this API. id: for `sqemu explain`: message class, else code.
    """

    def __init__(
        self,
        code: int,
        what: str,
        *,
        message: str = "",
        function: str = "",
        remedy: str = "",
        id: str = "",  # noqa: A002 - see SqemuError
        refusal: Refusal | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.function = function
        super().__init__(what, id=id or message or str(code), where=function, remedy=remedy, refusal=refusal)

    def as_json(self) -> dict[str, object]:
        """The error as one JSON object, with `code` and `message`."""
        return {**super().as_json(), "code": self.code, "message": self.message}


class DeviceError(RuntimeApiError):
    """Tasks failed on the device.

    Attributes:
        faults: all since the stream was synchronised last, first cause first: those of the stream, and those of models
            that it executed. The code is that of the stream's own last fault.
        hazards: what ran and may be wrong, as `Runtime.synchronize_stream` gives it when nothing fails.
    """

    def __init__(
        self,
        code: int,
        what: str,
        *,
        function: str,
        remedy: str,
        id: str,  # noqa: A002 - see SqemuError
        faults: tuple[Fault, ...],
        hazards: tuple[Hazard, ...] = (),
    ) -> None:
        self.faults = faults
        self.hazards = hazards
        super().__init__(code, what, function=function, remedy=remedy, id=id)


class ResourceError(RuntimeApiError, LimitError):
    """A resource of the device is used up; the id is that of the limit."""


class RefusedInputError(RuntimeApiError, InputError):
    """An input that a layer below refuses, for example a kernel that no plugin supplies."""


SHOWN = 60
"""Characters of a refused value that a message shows."""


def shown(value: object) -> str:
    """A value of any type for a message, in one line and not too long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a value of the caller's may have a repr that raises anything
        text = "an object without a text"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def null_pointer(function: str, parameter: str) -> RuntimeApiError:
    """`parameter` of `function` is None (107000, EE1004)."""
    return RuntimeApiError(
        PARAM_INVALID,
        f"parameter {parameter} is a null pointer",
        message="EE1004",
        function=function,
        remedy=f"give {parameter}",
    )


def bad_value(function: str, parameter: str, value: object, expected: str) -> RuntimeApiError:
    """`value` is none that `parameter` takes (107000, EE1003)."""
    return RuntimeApiError(
        PARAM_INVALID,
        f"parameter {parameter} is {value!r}, expected {expected}",
        message="EE1003",
        function=function,
        remedy=f"give {expected}",
    )


def dead_handle(function: str, parameter: str, what: str) -> RuntimeApiError:
    """`parameter` names an object that was destroyed (107017)."""
    return RuntimeApiError(
        INVALID_HANDLE,
        f"parameter {parameter} is {what}, which does not live any more",
        function=function,
        remedy="use an object that was created and not destroyed since",
    )


def not_supported(function: str, what: str, *, refusal: Refusal | None = None) -> RuntimeApiError:
    """A feature that chip or firmware lack (207000); the vendor only logs a warning."""
    return RuntimeApiError(
        NOT_SUPPORTED,
        what,
        function=function,
        remedy="ask with get_device_capability, or use another chip: sqemu chips",
        refusal=refusal,
    )


def public(error: LimitError | InputError | DeviceFault, function: str) -> RuntimeApiError:
    """An error of the layers below as the host API gives it out, for a call of `function`."""
    if isinstance(error, LimitError):
        limit = LIMIT_CODES.get(error.id, LimitCode(INTERNAL, "EE9999", ""))
        return ResourceError(
            limit.code,
            error.what,
            message=limit.message,
            function=error.where or function,
            remedy=error.remedy,
            id=error.id,
        )
    if isinstance(error, InputError):
        code, message = _INPUT_CODES.get(error.id, (PARAM_INVALID, "EE1001"))
        return RefusedInputError(
            code,
            error.what,
            message=message,
            function=error.where or function,
            remedy=error.remedy,
            id=error.id,
            refusal=error.refusal,
        )
    return RuntimeApiError(
        PARAM_INVALID, error.what, message="EE1001", function=function, remedy=error.remedy, id=error.id
    )


_INPUT_CODES = {
    "stream.aborted": (DEVICE_ABORTED, ""),
    "kernel.missing": (KERNEL_LOOKUP, ""),
    "kernel.product": (KERNEL_LOOKUP, ""),
    "kernel.no-entry": (KERNEL_LOOKUP, ""),
}
