"""Counted notifies: a 32-bit value that records change and waits compare (950 and 350; `device_semantics.md` 3.1, S56).

`RecordMode` says what a record does with its value, `WaitMode` how a wait compares.
"""

from __future__ import annotations

from emu_plugins.runtime.host.base import api_call
from emu_plugins.runtime.host.errors import bad_value, not_supported
from emu_plugins.runtime.host.handles import NotifyHandle, StreamHandle
from emu_plugins.runtime.host.notifies import COUNTED, NotifyCalls
from emu_plugins.runtime.sqes_v200 import RecordMode, SqeBuilderV200, WaitMode

MOST = 2048
"""Counted notifies of a device: 16 tables of 128 (`device_semantics.md` 1.2)."""


class CountedNotifyCalls(NotifyCalls):
    """See the module text."""

    @api_call
    def create_counted_notify(self, *, name: str = "") -> NotifyHandle:
        """A new counted notify; `name` is what the host calls it.

        Raises:
            RuntimeApiError: a chip without them (207000); none left (207009, EE1023).
        """
        self._counting("create_counted_notify")
        self.reuse_ids()
        return NotifyHandle(self, self.device.take_id(COUNTED, MOST, "207009"), counted=True, name=name)

    @api_call
    def record_counted_notify(
        self,
        notify: NotifyHandle | None,
        stream: StreamHandle | None,
        value: int,
        mode: RecordMode = RecordMode.STORE,
    ) -> int:
        """Submit a record and return its task id.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017); no counted notify, value or mode unknown
                (107000, EE1003); ring full (507002).
        """
        function = "record_counted_notify"
        found, target = self._notify(function, notify, stream, counted=True)
        _check(function, value, mode, tuple(RecordMode))
        build = self._counting(function)
        return self.submit_for(
            found, target, lambda place: build.count_notify_record(place, found.id, mode=RecordMode(mode), value=value)
        )

    @api_call
    def wait_counted_notify(
        self,
        notify: NotifyHandle | None,
        stream: StreamHandle | None,
        value: int,
        mode: WaitMode = WaitMode.EQUAL,
        *,
        clear: bool = False,
        timeout_s: int | None = None,
    ) -> int:
        """Submit a wait and return its task id; `clear` makes the notify 0 when it passes.

        Raises:
            RuntimeApiError: as `record_counted_notify`; a limit that does not fit 32 bits (107000, EE1003).
        """
        function = "wait_counted_notify"
        found, target = self._notify(function, notify, stream, counted=True)
        _check(function, value, mode, tuple(WaitMode))
        build, limit = self._counting(function), self._limit(function, timeout_s)
        return self.submit_for(
            found,
            target,
            lambda place: build.count_notify_wait(
                place, found.id, mode=WaitMode(mode), value=value, clear=clear, timeout=limit
            ),
        )

    @api_call
    def reset_counted_notify(self, notify: NotifyHandle | None, stream: StreamHandle | None) -> int:
        """Submit a record that makes the notify 0, and return its task id.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), no counted notify (107000, EE1003), ring full
                (507002).
        """
        found, target = self._notify("reset_counted_notify", notify, stream, counted=True)
        build = self._counting("reset_counted_notify")
        return self.submit_for(found, target, lambda place: build.count_notify_reset(place, found.id))

    def _counting(self, function: str) -> SqeBuilderV200:
        """The builder that knows counted notifies; 207000 where the chip has none."""
        if not isinstance(self.build, SqeBuilderV200):
            raise not_supported(function, f"{self.device.chip.name} has no counted notifies")
        return self.build


def _check(function: str, value: int, mode: int, modes: tuple[int, ...]) -> None:
    if not 0 <= value < 1 << 32:
        raise bad_value(function, "value", value, "0 to 4294967295")
    if mode not in modes:
        raise bad_value(function, "mode", mode, f"one of {[int(m) for m in modes]}")
