"""Notify calls: one record wakes one wait, which consumes it (`device_semantics.md` 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.origin import NOWHERE, Origin
from emu_plugins.runtime.host.base import RuntimeCore, api_call
from emu_plugins.runtime.host.errors import bad_value
from emu_plugins.runtime.host.fields import with_timeout
from emu_plugins.runtime.host.handles import NotifyHandle, StreamHandle
from emu_plugins.runtime.sqes_v200 import SqeBuilderV200

if TYPE_CHECKING:
    from emu_plugins.runtime.sqes import Place

COUNTED = "counted notify"
"""Kind of the ids of counted notifies, which are apart from those of notifies."""
COMMON_COMMAND, NOTIFY_RESET = 104, 1


class NotifyCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def create_notify(self, *, name: str = "") -> NotifyHandle:
        """A new notify; `name` is what the host calls it.

        Raises:
            RuntimeApiError: no notify id left (207009, EE1023).
        """
        self.reuse_ids()
        return NotifyHandle(self, self.device.create_notify(), name=name)

    @api_call
    def destroy_notify(self, notify: NotifyHandle | None) -> None:
        """Destroy a notify or a counted notify; its id can be given out again when no entry names it any more.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017).
        """
        found = self.require("destroy_notify", "notify", notify, NotifyHandle)
        self.retire(COUNTED if found.counted else "notify", found, found.id)

    @api_call
    def record_notify(
        self, notify: NotifyHandle | None, stream: StreamHandle | None, *, origin: Origin = NOWHERE
    ) -> int:
        """Submit a record and return its task id.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), counted (107000, EE1003), ring full (507002).
        """
        found, target = self._notify("record_notify", notify, stream)
        return self.submit_for(found, target, lambda place: self.build.notify_record(place, found.id), origin)

    @api_call
    def wait_notify(
        self,
        notify: NotifyHandle | None,
        stream: StreamHandle | None,
        timeout_s: int | None = None,
        *,
        origin: Origin = NOWHERE,
    ) -> int:
        """Submit a wait and return its task id; `timeout_s` None is the device's limit, 0 for ever.

        Raises:
            RuntimeApiError: as `record_notify`; a limit that does not fit 32 bits (107000, EE1003).
        """
        function = "wait_notify"
        found, target = self._notify(function, notify, stream)
        limit = self._limit(function, timeout_s)
        return self.submit_for(
            found,
            target,
            lambda place: with_timeout(self.device, "NotifyWaitSqe", self.build.notify_wait(place, found.id), limit),
            origin,
        )

    @api_call
    def reset_notify(self, notify: NotifyHandle | None, stream: StreamHandle | None) -> int:
        """Submit a reset and return its task id: place holder 104, on v200 a record that clears.

        Raises:
            RuntimeApiError: as `record_notify`.
        """
        found, target = self._notify("reset_notify", notify, stream)
        build = self.build
        make = build.notify_reset if isinstance(build, SqeBuilderV200) else self._clear_entry
        return self.submit_for(found, target, lambda place: make(place, found.id))

    def _clear_entry(self, place: Place, notify_id: int) -> bytes:
        return self.device.layout("PhCommonCmdSqe").build(
            {
                **place.header(3),
                "task_type": COMMON_COMMAND,
                "pre_p": 1,
                "kernel_credit": 254,
                "cmd_type": NOTIFY_RESET,
                "notify_id": notify_id,
            }
        )

    def _limit(self, function: str, timeout_s: int | None) -> int:
        limit = self._wait_timeout_s if timeout_s is None else timeout_s
        if not 0 <= limit < 1 << 32:
            raise bad_value(function, "timeout", limit, "0 to 4294967295")
        return limit

    def _notify(
        self, function: str, notify: NotifyHandle | None, stream: StreamHandle | None, *, counted: bool = False
    ) -> tuple[NotifyHandle, StreamHandle]:
        found = self.require(function, "notify", notify, NotifyHandle)
        target = self.require(function, "stream", stream, StreamHandle)
        if found.counted != counted:
            raise bad_value(function, "notify", "counted" if found.counted else "plain", "the other kind of notify")
        return found, target
