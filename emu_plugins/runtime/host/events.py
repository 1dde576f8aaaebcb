"""Event calls, with the rules of the host that decide what reaches a ring (`device_semantics.md` 3.2, S54, S55).

| wait | result |
|---|---|
| stream bound to a model | entry |
| never recorded, old style | 107000, EE1018 |
| on 950 and 350 | entry once the event has an id |
| never recorded, or reset since, new style | success, no entry: there is nothing to wait for |
| recorded last on the same stream | no entry: the order holds anyway |
| the record is done | no entry |
| else | entry |

A record of an event that nobody may wait for is a place holder. An id is taken when the event is created (old style)
or first recorded, or waited for in a model (new style).
"""

from __future__ import annotations

from emu_core.origin import NOWHERE, Origin
from emu_plugins.runtime.host.base import RuntimeCore, api_call, is_queued
from emu_plugins.runtime.host.codes import EVENT_NOT_COMPLETE, EVENT_SYNC_TIMEOUT, PARAM_INVALID
from emu_plugins.runtime.host.errors import RuntimeApiError, bad_value
from emu_plugins.runtime.host.fields import with_fields, with_timeout
from emu_plugins.runtime.host.handles import EventHandle, EventStyle, StreamHandle
from emu_plugins.runtime.host.streams import FOREVER, NS_PER_MS

EVENT_RECORD_TASK = 2
"""Task type of a record that is a place holder (`formats.enums.TASK_TYPES`)."""


class EventCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def create_event(self, *, style: EventStyle = EventStyle.NEW, waitable: bool = True, name: str = "") -> EventHandle:
        """A new event; `waitable` False makes one that only takes time stamps; `name` is for messages.

        Raises:
            RuntimeApiError: no event id left (207007, EE1023); a new-style event notices that when it is recorded.
        """
        event = EventHandle(self, style, waitable, name=name)
        if style is EventStyle.OLD:
            self._event_id(event)
        return event

    @api_call
    def destroy_event(self, event: EventHandle | None) -> None:
        """Destroy an event; its id can be given out again when no entry names it any more.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017).
        """
        found = self.require("destroy_event", "event", event, EventHandle)
        if found.id is not None:
            self.retire("event", found, found.id)
        found.alive = False

    @api_call
    def record_event(self, event: EventHandle | None, stream: StreamHandle | None, *, origin: Origin = NOWHERE) -> int:
        """Submit a record and return its task id.

        Raises:
            RuntimeApiError: event or stream null (107000, EE1004) or destroyed (107017); no event id left (207007,
                EE1023); the ring is full (507002, EE1019).
        """
        found, target = self._event_pair("record_event", event, stream)
        event_id = self._event_id(found)
        if found.waitable:
            task = self.submit_for(found, target, lambda place: self.build.event_record(place, event_id), origin)
        else:
            task = self.submit(
                target,
                lambda place: with_fields(
                    self.device, "PhSqe", self.build.nop(place), {"task_type": EVENT_RECORD_TASK}
                ),
                origin,
            )
        found.recorder = (target, task)
        return task

    @api_call
    def wait_event(
        self, stream: StreamHandle | None, event: EventHandle | None, *, origin: Origin = NOWHERE
    ) -> int | None:
        """Let `stream` wait for the event; returns the task id, or None when no entry was needed.

        Raises:
            RuntimeApiError: event or stream null (107000, EE1004) or destroyed (107017); old style and never recorded
                (107000, EE1018); not waitable (107000, EE1003); the ring is full (507002, EE1019).
        """
        function = "wait_event"
        found, target = self._event_pair(function, event, stream)
        if not found.waitable:
            raise bad_value(function, "event", "an event for time stamps", "an event that was created waitable")
        if not target.core.queue.bound and not self._needed(function, found, target):
            self._behind_record(found)
            return None
        event_id = self._event_id(found)
        limit = self._wait_timeout_s
        return self.submit_for(
            found,
            target,
            lambda place: with_timeout(self.device, "EventWaitSqe", self.build.event_wait(place, event_id), limit),
            origin,
        )

    def _needed(self, function: str, event: EventHandle, stream: StreamHandle) -> bool:
        if event.recorder is None and event.style is EventStyle.OLD:
            raise RuntimeApiError(
                PARAM_INVALID,
                "the event has not been recorded",
                message="EE1018",
                function=function,
                remedy="record it first, or create it in the new style",
            )
        if self.device.chip.family != "v100":
            return event.id is not None
        return event.recorder is not None and event.recorder[0] is not stream and not _complete(event)

    @api_call
    def reset_event(
        self, event: EventHandle | None, stream: StreamHandle | None, *, origin: Origin = NOWHERE
    ) -> int | None:
        """Submit a reset and return its task id; None for an event that never had an id, which is clear anyway.

        Raises:
            RuntimeApiError: event or stream null (107000, EE1004) or destroyed (107017); the ring is full (507002,
                EE1019).
        """
        found, target = self._event_pair("reset_event", event, stream)
        found.recorder = None
        event_id = found.id
        if event_id is None:
            return None
        return self.submit_for(found, target, lambda place: self.build.event_reset(place, event_id), origin)

    @api_call
    def query_event(self, event: EventHandle | None) -> bool:
        """Whether the last record is done; True for an event that was never recorded.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017).
        """
        found = self.require("query_event", "event", event, EventHandle)
        if not _complete(found):
            return False
        self._behind_record(found)
        return True

    def _behind_record(self, event: EventHandle) -> None:
        """Tell who follows orders that the host knows the last record of `event` to be done."""
        ordering = self.device.ordering
        if ordering is not None and event.recorder is not None:
            stream, task = event.recorder
            ordering.host_waited(stream.id, stream.core.queue.slot_of.get(task, -1))

    @api_call
    def synchronize_event(self, event: EventHandle | None, timeout_ms: int = FOREVER) -> None:
        """Let the device run until the last record is done.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), a limit below -1 (107000, EE1003); not in time
                (507047), never (507006).
        """
        function = "synchronize_event"
        found = self.require(function, "event", event, EventHandle)
        if timeout_ms < FOREVER:
            raise bad_value(function, "timeout", timeout_ms, "-1 or more")
        limit = None if timeout_ms == FOREVER else timeout_ms * NS_PER_MS
        if not self.drive(lambda: _complete(found), limit):
            code = EVENT_NOT_COMPLETE if limit is None else EVENT_SYNC_TIMEOUT
            raise RuntimeApiError(
                code,
                f"event {found.id}{f' ({found.name})' if found.name else ''} is not recorded yet",
                function=function,
                remedy="synchronise the stream that records it: an earlier task may have failed",
            )
        self._behind_record(found)

    def _event_pair(
        self, function: str, event: EventHandle | None, stream: StreamHandle | None
    ) -> tuple[EventHandle, StreamHandle]:
        return (
            self.require(function, "event", event, EventHandle),
            self.require(function, "stream", stream, StreamHandle),
        )

    def id_of(self, event: EventHandle) -> int:
        """The event's id on the device; it gets one now if it has none.

        Raises:
            RuntimeApiError: no event id is left (207007, EE1023).
        """
        return self._event_id(event)

    def _event_id(self, event: EventHandle) -> int:
        if event.id is None:
            self.reuse_ids()
            event.id = self.device.create_event()
        return event.id


def _complete(event: EventHandle) -> bool:
    """Whether the last record left its ring; one of a model never does."""
    return event.recorder is None or not is_queued(*event.recorder)
