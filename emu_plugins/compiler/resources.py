"""Attached streams and sync resources: what an operator asks for, and which stream numbers it gets.

Mirrors the vendor's `SetTilingSinkCalcResources` (the request) and `AssignAttachedStreamPass` (the assignment;
`reference/tiling_sink_compiler.md` 6.2, 9.1). Requests of one graph with the same key share a stream; graphs never
share. The key is reuse key + name, and unless reuse is forced `_stream_<main stream>` behind it, so that all sinking
operators of one main stream share one attached stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

RESOURCE_NAME = "tiling"
"""Name of the attached stream and of the event that a sinking operator asks for."""
INVALID = -1
"""Id of a resource that was asked for and not given."""
EVENT, NOTIFY = 0, 1
"""Values of `_attached_resource_type`."""


@dataclass(frozen=True)
class AttachedStream:
    """A request for an attached stream.

    Attributes:
        name, reuse_key: make up the key.
        depends: IR inputs whose value the work on that stream reads; all registered ones, ascending.
        required: without it no stream is given.
        force_reuse: the key does not name the main stream.
        group: requests of different groups never share; empty is the default group.
    """

    name: str
    reuse_key: str = ""
    depends: tuple[int, ...] = ()
    required: bool = True
    force_reuse: bool = False
    group: str = ""

    def key(self, main: int) -> str:
        """Key under which streams are shared, for an operator on stream `main`."""
        return self.reuse_key + self.name + ("" if self.force_reuse else f"_stream_{main}")

    def attributes(self, stream: int) -> dict[str, object]:
        """The entry of `_attached_stream_info_list`, after assignment."""
        return {
            "_attached_resource_name": self.name,
            "_attached_resource_reuse_key": self.reuse_key,
            "_attached_resource_depend_value_list_int": list(self.depends),
            "_attached_resource_required_flag": self.required,
            "_attached_resource_id": stream,
            "_attached_resource_is_valid": stream != INVALID,
        }


@dataclass(frozen=True)
class SyncResource:
    """A request for an event; each request gets one of its own."""

    name: str
    reuse_key: str = ""
    required: bool = True

    def attributes(self, event: int) -> dict[str, object]:
        """The entry of `_attached_sync_res_info_list`, after allocation."""
        return {
            "_attached_resource_type": EVENT,
            "_attached_resource_name": self.name,
            "_attached_resource_reuse_key": self.reuse_key,
            "_attached_resource_required_flag": self.required,
            "_attached_resource_id": event,
            "_attached_resource_is_valid": event != INVALID,
        }


@dataclass(frozen=True)
class SinkResources:
    """What a sinking operator asks for: exactly one attached stream and one event, both called `tiling`."""

    streams: tuple[AttachedStream, ...]
    syncs: tuple[SyncResource, ...] = field(default=(SyncResource(RESOURCE_NAME),))


def sink_resources(depends: Iterable[int]) -> SinkResources:
    """The request of an operator whose tiling reads IR inputs `depends`."""
    return SinkResources((AttachedStream(RESOURCE_NAME, depends=tuple(sorted(depends))),))


@dataclass(frozen=True)
class Asking:
    """An operator with its main stream and its requests; `disabled`: `_disable_attached_resource` is there."""

    node: str
    main: int
    requests: tuple[AttachedStream, ...]
    disabled: bool = False


@dataclass(frozen=True)
class Assigned:
    """Attached streams of one graph.

    Attributes:
        of_node: a stream per request, `INVALID` for one that was not given.
        keys: key and main stream of each new stream, ascending by number from `first`.
    """

    first: int
    of_node: Mapping[str, tuple[int, ...]]
    keys: tuple[tuple[str, int], ...]


def assign_attached(asking: Sequence[Asking], first: int) -> Assigned:
    """Give out stream numbers from `first`: named groups, then the default one; inside a group keys ascending.

    The vendor's order of groups is a hash order; nothing may rely on it.
    """
    wanted = {
        (not request.group, request.group, request.key(each.main)): each.main
        for each in reversed(asking)
        for request in each.requests
        if request.required and not each.disabled
    }
    ordered = sorted(wanted)
    number = {found: first + at for at, found in enumerate(ordered)}
    of_node = {each.node: tuple(_given(each, request, number) for request in each.requests) for each in asking}
    return Assigned(first, of_node, tuple((found[2], wanted[found]) for found in ordered))


def _given(asking: Asking, request: AttachedStream, number: Mapping[tuple[bool, str, str], int]) -> int:
    if not request.required or asking.disabled:
        return INVALID
    return number[not request.group, request.group, request.key(asking.main)]
