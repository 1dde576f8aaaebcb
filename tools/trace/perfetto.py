"""A timeline as a trace of Perfetto (`.pftrace`): a list of packets in protobuf's wire format.

Slices without children and flows are most of a trace; each is two packets of fixed length, made as columns. Names are
sent once and referred to by number. Field numbers are those of Perfetto's public `.proto` files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tools.trace.wire import fixed, message, number, put_varints, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from tools.trace.scene import Group, Instant, Scene, Slice, Track

    Numbers = npt.NDArray[np.integer]

# Trace, TracePacket
PACKET, TIMESTAMP, SEQUENCE, EVENT, INTERNED, FLAGS, DESCRIPTOR = 1, 8, 10, 11, 12, 13, 60
# TrackEvent
ANNOTATION, TYPE, NAME_IID, TRACK, NAME, FLOW, FLOW_END = 4, 9, 10, 11, 23, 47, 48
BEGIN, END, INSTANT = 1, 2, 3
# TrackDescriptor, ProcessDescriptor
UUID, TRACK_NAME, PROCESS, PARENT, ORDERING, RANK, PID, PROCESS_NAME = 1, 2, 3, 5, 11, 12, 1, 6
EXPLICIT = 3
# InternedData, DebugAnnotation
EVENT_NAMES, ANNOTATION_NAMES, IID, INTERNED_NAME = 2, 3, 1, 2
ANNOTATION_NAME, ANNOTATION_IID, UINT, INT, STRING = 10, 1, 3, 4, 6

CLEARED, NEEDS = 1, 2
"""Flags of a packet: numbers of names start over; the packet refers to names by number."""
TASK_IID, SLOT_IID = 1, 2
_SEQUENCE = number(SEQUENCE, 1)
_TIME_BYTES, _TRACK_BYTES, _NAME_BYTES, _TASK_BYTES, _SLOT_BYTES = 8, 3, 3, 5, 3


def perfetto_trace(scene: Scene) -> bytes:
    """The whole file."""
    writer = _Writer()
    descriptors = []
    uuid = 0
    for pid, group in enumerate(scene.groups, 1):
        uuid += 1
        parent = uuid
        descriptors.append(_group(group, parent, pid))
        for rank, track in enumerate(group.tracks):
            uuid += 1
            descriptors.append(_track(track, uuid, parent, rank))
            writer.track(track, uuid)
    return b"".join([interned(writer.names), *descriptors, *writer.parts()])


def _packet(*parts: bytes) -> bytes:
    return message(PACKET, *parts, _SEQUENCE)


def _group(group: Group, uuid: int, pid: int) -> bytes:
    process = message(PROCESS, number(PID, pid), text(PROCESS_NAME, group.name))
    return _packet(message(DESCRIPTOR, number(UUID, uuid), process, number(ORDERING, EXPLICIT)))


def _track(track: Track, uuid: int, parent: int, rank: int) -> bytes:
    about = (number(UUID, uuid), text(TRACK_NAME, track.name), number(PARENT, parent), number(RANK, rank))
    return _packet(message(DESCRIPTOR, *about))


def interned(names: Mapping[str, int]) -> bytes:
    """The packet that numbers `names`, and those of the arguments `task` and `slot`."""
    listed = [message(EVENT_NAMES, number(IID, iid), text(INTERNED_NAME, name)) for name, iid in names.items()]
    for iid, name in ((TASK_IID, "task"), (SLOT_IID, "slot")):
        listed.append(message(ANNOTATION_NAMES, number(IID, iid), text(INTERNED_NAME, name)))
    return _packet(number(FLAGS, CLEARED), message(INTERNED, *listed))


class _Writer:
    """Packets of slices and instants; leaves are kept as columns until all are known.

    Attributes:
        names: numbers of names, from 1.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self._parts: list[bytes | tuple[int, int]] = []
        self._leaves: list[tuple[int, int, int, int, int, int]] = []

    def track(self, track: Track, uuid: int) -> None:
        """Everything on one track, in the order in which it nests."""
        for each in track.slices:
            self._slice(each, uuid)
        for instant in track.instants:
            self._parts.append(_instant(instant, uuid))

    def _name(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names) + 1)

    def _slice(self, each: Slice, uuid: int) -> None:
        if not each.children and not each.flows_in and not each.flows_out and each.task >= 0:
            row = (each.start, each.end, uuid, self._name(each.name), each.task, each.slot)
            last = self._parts[-1] if self._parts else b""
            at = len(self._leaves)
            self._leaves.append(row)
            if isinstance(last, tuple) and last[1] == at:
                self._parts[-1] = (last[0], at + 1)
            else:
                self._parts.append((at, at + 1))
            return
        about = [_annotation(iid, value) for iid, value in ((TASK_IID, each.task), (SLOT_IID, each.slot)) if value >= 0]
        flows = [fixed(FLOW, flow) for flow in each.flows_out] + [fixed(FLOW_END, flow) for flow in each.flows_in]
        event = message(EVENT, number(TYPE, BEGIN), number(TRACK, uuid), number(NAME_IID, self._name(each.name)),
                        *about, *flows)  # fmt: skip
        self._parts.append(_packet(number(TIMESTAMP, each.start), number(FLAGS, NEEDS), event))
        for child in each.children:
            self._slice(child, uuid)
        end = message(EVENT, number(TYPE, END), number(TRACK, uuid))
        self._parts.append(_packet(number(TIMESTAMP, each.end), end))

    def parts(self) -> Iterator[bytes]:
        """The packets in order."""
        table = np.array(self._leaves, np.int64).reshape(-1, 6)
        rows = slice_packets(table[:, 0], table[:, 1], table[:, 2], table[:, 3], (table[:, 4], table[:, 5]))
        for part in self._parts:
            yield part if isinstance(part, bytes) else rows[part[0] : part[1]].tobytes()


def _annotation(iid: int, value: int) -> bytes:
    return message(ANNOTATION, number(ANNOTATION_IID, iid), number(UINT, value))


def _instant(each: Instant, uuid: int) -> bytes:
    about = [message(ANNOTATION, text(ANNOTATION_NAME, name), _value(value)) for name, value in each.about.items()]
    event = message(EVENT, number(TYPE, INSTANT), number(TRACK, uuid), text(NAME, each.name), *about)
    return _packet(number(TIMESTAMP, each.time), event)


def _value(value: int | str) -> bytes:
    if isinstance(value, str):
        return text(STRING, value)
    return number(UINT, value) if value >= 0 else number(INT, value)


def slice_packets(
    starts: Numbers, ends: Numbers, tracks: Numbers, names: Numbers, entry: Sequence[Numbers] | None = None
) -> npt.NDArray[np.uint8]:
    """Packets of slices as rows of bytes, the beginning of each and its end; shape (slices, bytes of a slice).

    Args:
        starts, ends: nanoseconds, below 2^56.
        tracks, names: numbers of tracks and names, below 2^21.
        entry: task id (below 2^35) and slot (below 2^21) of each; None: slices without arguments.
    """
    begin, places = _begin_template(with_entry=entry is not None)
    end, end_places = _end_template()
    rows = np.empty((len(starts), len(begin) + len(end)), np.uint8)
    rows[:] = np.frombuffer(begin + end, np.uint8)
    columns = [starts, tracks, names, *(entry or ())]
    shift = [at + len(begin) for at, _ in end_places]
    for values, (at, width) in zip(columns, places, strict=True):
        put_varints(rows, at, width, values)
    for values, at, (_, width) in zip((ends, tracks), shift, end_places, strict=True):
        put_varints(rows, at, width, values)
    return rows


def _begin_template(*, with_entry: bool) -> tuple[bytes, list[tuple[int, int]]]:
    """The packet of a beginning with room for its numbers, and where they are: offset and width."""
    task = b"\x22" + bytes([3 + _TASK_BYTES, 8, TASK_IID, UINT << 3])
    slot = b"\x22" + bytes([3 + _SLOT_BYTES, 8, SLOT_IID, UINT << 3])
    holes = [(b"", _TRACK_BYTES), (bytes([NAME_IID << 3]), _NAME_BYTES)]
    if with_entry:
        holes += [(task, _TASK_BYTES), (slot, _SLOT_BYTES)]
    head = bytes([TYPE << 3, BEGIN, TRACK << 3])
    return _template(head, holes, number(FLAGS, NEEDS))


def _end_template() -> tuple[bytes, list[tuple[int, int]]]:
    return _template(bytes([TYPE << 3, END, TRACK << 3]), [(b"", _TRACK_BYTES)], b"")


def _template(
    head: bytes, holes: Sequence[tuple[bytes, int]], flags: bytes
) -> tuple[bytes, list[tuple[int, int]]]:  # fmt: skip
    """A packet: time, sequence, flags, and an event that begins with `head` and has `holes` behind their marks."""
    size = len(head) + sum(len(mark) + width for mark, width in holes)
    before = bytes([TIMESTAMP << 3]) + bytes(_TIME_BYTES) + _SEQUENCE + flags + bytes([EVENT << 3 | 2, size])
    made = bytearray(bytes([PACKET << 3 | 2, len(before) + size]) + before + head)
    places = [(3, _TIME_BYTES)]
    for mark, width in holes:
        made += mark
        places.append((len(made), width))
        made += bytes(width)
    return bytes(made), places
