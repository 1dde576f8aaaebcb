"""A timeline as a trace of Perfetto (`.pftrace`): a list of packets in protobuf's wire format.

Slices without children and flows are most of a trace; each is two packets of fixed length, made as columns. Names are
sent once and referred to by number. Field numbers are those of Perfetto's public `.proto` files.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
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
EVENT_NAMES, ANNOTATION_NAMES, STRINGS, IID, INTERNED_NAME = 2, 3, 29, 1, 2
ANNOTATION_IID, UINT, INT, STRING_IID = 1, 3, 4, 17

CLEARED, NEEDS = 1, 2
"""Flags of a packet: numbers of names start over; the packet refers to names by number."""
TASK_IID, SLOT_IID = 1, 2
_NONE: Mapping[str, int] = MappingProxyType({})
_SEQUENCE = number(SEQUENCE, 1)


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
    return b"".join([interned(writer.names, writer.arguments, writer.strings), *descriptors, *writer.parts()])


def _packet(*parts: bytes) -> bytes:
    return message(PACKET, *parts, _SEQUENCE)


def _group(group: Group, uuid: int, pid: int) -> bytes:
    process = message(PROCESS, number(PID, pid), text(PROCESS_NAME, group.name))
    return _packet(message(DESCRIPTOR, number(UUID, uuid), process, number(ORDERING, EXPLICIT)))


def _track(track: Track, uuid: int, parent: int, rank: int) -> bytes:
    about = (number(UUID, uuid), text(TRACK_NAME, track.name), number(PARENT, parent), number(RANK, rank))
    return _packet(message(DESCRIPTOR, *about))


def interned(
    names: Mapping[str, int], arguments: Mapping[str, int], strings: Mapping[str, int] = _NONE
) -> bytes:  # fmt: skip
    """The packet that numbers names of slices and instants, names of arguments, and texts that are their values."""
    listed = [
        message(field, number(IID, iid), text(INTERNED_NAME, name))
        for field, table in ((EVENT_NAMES, names), (ANNOTATION_NAMES, arguments), (STRINGS, strings))
        for name, iid in table.items()
    ]
    return _packet(number(FLAGS, CLEARED), message(INTERNED, *listed))


class _Writer:
    """Packets of slices and instants; leaves are kept as columns until all are known.

    Attributes:
        names, arguments, strings: numbers of names, names of arguments, and texts, each from 1.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.arguments: dict[str, int] = {"task": TASK_IID, "slot": SLOT_IID}
        self.strings: dict[str, int] = {}
        self._parts: list[bytes | tuple[int, int]] = []
        self._leaves: list[tuple[int, int, int, int, int, int]] = []

    def track(self, track: Track, uuid: int) -> None:
        """Everything on one track, in the order in which it nests."""
        for each in track.slices:
            self._slice(each, uuid)
        for instant in track.instants:
            self._parts.append(self._instant(instant, uuid))

    def _name(self, name: str) -> int:
        return _numbered(self.names, name)

    def _instant(self, each: Instant, uuid: int) -> bytes:
        about = [
            message(ANNOTATION, number(ANNOTATION_IID, _numbered(self.arguments, name)), self._value(value))
            for name, value in each.about.items()
        ]
        head = number(TYPE, INSTANT), number(TRACK, uuid), number(NAME_IID, self._name(each.name))
        return _packet(number(TIMESTAMP, each.time), number(FLAGS, NEEDS), message(EVENT, *head, *about))

    def _value(self, value: int | str) -> bytes:
        if isinstance(value, str):
            return number(STRING_IID, _numbered(self.strings, value))
        return number(UINT, value) if value >= 0 else number(INT, value)

    def _slice(self, each: Slice, uuid: int) -> None:
        if not each.children and not each.flows_in and not each.flows_out and each.task >= 0 and each.slot >= 0:
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


def _numbered(table: dict[str, int], name: str) -> int:
    """The number of `name`, given out when it is first asked for."""
    return table.setdefault(name, len(table) + 1)


def slice_packets(
    starts: Numbers, ends: Numbers, tracks: Numbers, names: Numbers, entry: Sequence[Numbers] = ()
) -> npt.NDArray[np.uint8]:
    """Packets of slices as rows of bytes, the beginning of each and its end; shape (slices, bytes of a slice).

    Args:
        starts, ends: nanoseconds. tracks, names: numbers of tracks and names. All are below 2^63, and as many bytes are
            spent on each as the largest one needs.
        entry: task id and slot of each; empty: slices without arguments.
    """
    time = max(_bytes_of(starts), _bytes_of(ends))
    holes = [_Hole(b"", tracks), _Hole(bytes([NAME_IID << 3]), names)]
    for iid, values in zip((TASK_IID, SLOT_IID), entry, strict=False):
        inside = bytes([ANNOTATION_IID << 3, iid, UINT << 3])
        holes.append(_Hole(bytes([ANNOTATION << 3 | 2, len(inside) + _bytes_of(values)]) + inside, values))
    begin = _Template(bytes([TYPE << 3, BEGIN, TRACK << 3]), holes, time, number(FLAGS, NEEDS))
    end = _Template(bytes([TYPE << 3, END, TRACK << 3]), [_Hole(b"", tracks)], time, b"")
    rows = np.empty((len(starts), len(begin.text) + len(end.text)), np.uint8)
    rows[:] = np.frombuffer(begin.text + end.text, np.uint8)
    begin.fill(rows, 0, starts)
    end.fill(rows, len(begin.text), ends)
    return rows


def _bytes_of(values: Numbers) -> int:
    """Bytes of the varint of the largest value."""
    return max(-(-int(values.max(initial=0)).bit_length() // 7), 1)


@dataclass(frozen=True)
class _Hole:
    """A place in a template: what stands before it, and what goes into it."""

    mark: bytes
    values: Numbers


class _Template:
    """A packet with room for its numbers: time, sequence, flags, and an event of `head` and `holes`."""

    def __init__(self, head: bytes, holes: Sequence[_Hole], time: int, flags: bytes) -> None:
        size = len(head) + sum(len(hole.mark) + _bytes_of(hole.values) for hole in holes)
        before = bytes([TIMESTAMP << 3]) + bytes(time) + _SEQUENCE + flags + bytes([EVENT << 3 | 2, size])
        made = bytearray(bytes([PACKET << 3 | 2, len(before) + size]) + before + head)
        self._time = time
        self._places: list[tuple[int, Numbers]] = []
        for hole in holes:
            made += hole.mark
            self._places.append((len(made), hole.values))
            made += bytes(_bytes_of(hole.values))
        self.text = bytes(made)

    def fill(self, rows: npt.NDArray[np.uint8], at: int, times: Numbers) -> None:
        """Put the numbers into `rows`, in which the packet begins at column `at`."""
        put_varints(rows, at + 3, self._time, times)
        for place, values in self._places:
            put_varints(rows, at + place, _bytes_of(values), values)
