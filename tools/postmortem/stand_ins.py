"""Engines for captured entries: flags and place holders work, everything else is a timed stand-in.

A log has entries, but no code, arguments or other device memory. So events, notifies, NOPs and place holders run as
they do on the device, every other kind takes `STAND_IN_NS` of virtual time, and an entry that failed in the logs fails.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Run
from emu_core.errors import DeviceFault
from emu_core.hookspecs import hookimpl
from emu_core.plugins import PluginHost
from emu_plugins import engines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emu_core.device import Device
    from emu_core.engines import Outcome, Task
    from emu_core.policies import PolicySpec

STAND_IN_NS = 1000
"""Virtual time of a stand-in."""
REAL = frozenset({"event_record", "event_wait", "notify_record", "notify_wait", "nop", "place_holder"})
"""Kinds of entries that need nothing but flags."""
TYPES = 64


class StandIns:
    """A plugin in the place of the built-in engines; `failed` are the TS codes of entries that fail, by their bytes."""

    name = "captured"

    def __init__(self, failed: Mapping[bytes, int]) -> None:
        self._failed = failed

    @hookimpl
    def sqemu_policies(self) -> Iterable[PolicySpec]:
        """Those of the built-in engines."""
        return engines.POLICIES

    @hookimpl
    def sqemu_engines(self, *, device: Device) -> Iterable[Handler]:
        """The built-in handlers, most of them replaced; types that nobody handles get one, too."""
        known = list(engines.sqemu_engines(device=device))
        for handler in known:
            yield handler if handler.kind in REAL else self._stand_in(handler)
        taken = {handler.sqe_type for handler in known}
        for number in range(TYPES):
            if number not in taken:
                yield self._stand_in(Handler("captured", "stand_in", number, self._starts(codes.TASK_EXCEPTION)))

    def _stand_in(self, handler: Handler) -> Handler:
        start = self._starts(handler.exception_code)
        return replace(handler, start=start, limit=None, plan=None, preload=None, setter_of=None)

    def _starts(self, exception: int) -> Callable[[Task], Outcome]:
        def start(task: Task) -> Outcome:
            code = self._failed.get(bytes(task.sqe))

            def finish() -> None:
                if code is not None:
                    raise DeviceFault(
                        "the logs say that this entry failed", ts_code=code or exception, id="replay.fault",
                        remedy="see what sqemu postmortem says of it",
                    )  # fmt: skip

            return Run(STAND_IN_NS, finish, "stand-in of a captured entry")

        return start


def host_of(failed: Mapping[bytes, int]) -> PluginHost:
    """The plugins of a device for captured entries."""
    return PluginHost([StandIns(failed)], without=("engines",))
