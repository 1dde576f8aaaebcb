"""A snapshot: the whole state of a device between two steps, in memory or in a file.

| of a device | in a snapshot |
|---|---|
| memory, rings, contexts, flags, streams, fetch buffers, models, handlers with what their engines keep | yes |
| planned actions, entries in flight, waits, cores in use, ids | yes |
| journal, trace, faults, hazards | yes |
| lanes, decoded windows | no: queues that run ahead are put where they stand first, which nobody can tell |
| `host_functions`, watchers | no: they are the host program's, and stay when the device itself is restored |
| chip, layouts, kernels, operators | by name, of the plugin host |
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emu_core.errors import InputError
from emu_core.snapshot import file
from emu_core.snapshot.graph import Graph
from emu_core.snapshot.names import Names, damaged
from emu_core.snapshot.pages import kept, size_of
from emu_core.snapshot.rebuild import Rebuilder
from emu_core.snapshot.rules import PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emu_core.device import Device
    from emu_core.plugins import PluginHost
    from emu_core.snapshot.nodes import Node
    from emu_core.snapshot.pages import Pieces

RECORD_BYTES = 256
"""What a record of a log counts for in `Snapshot.bytes`, and a node."""


@dataclass(frozen=True, eq=False)
class Copy:
    """An independent device that was made of a snapshot, and the further objects that were kept with it."""

    device: Device
    further: tuple[Any, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """State of one device; `Device.snapshot` and `load` make them.

    Attributes:
        time: virtual nanoseconds. chip: its name. touched: bytes of memory that it holds.
    """

    time: int
    chip: str
    host: PluginHost
    nodes: Sequence[Node]
    root: object
    pieces: Mapping[int, Pieces]
    source: str = ""
    device: Device | None = None
    objects: Sequence[Any] = ()
    addresses: Mapping[int, int] = field(default_factory=dict)
    logs: Mapping[str, tuple[tuple[object, ...], ...]] = field(default_factory=dict)
    functions: Mapping[int, Callable[[int], None]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Snapshot of {self.chip} at {self.time} ns, {self.touched} bytes of memory>"

    @property
    def touched(self) -> int:
        """Bytes of device memory in it."""
        return sum(map(size_of, self.pieces.values()))

    def bytes_beside(self, other: Snapshot | None) -> int:
        """About how many bytes it takes beside `other`, with which it shares what is the same."""
        theirs = {id(p) for found in other.pieces.values() for p in found.values()} if other else set()
        own = sum(len(p) for found in self.pieces.values() for p in found.values() if id(p) not in theirs)
        groups = {id(g) for log in other.logs.values() for g in log} if other else set()
        records = sum(len(g) for log in self.logs.values() for g in log if id(g) not in groups)
        return own + RECORD_BYTES * (len(self.nodes) + records)

    def fork(self) -> Device:
        """A new device in this state, independent of any other; it shares host functions, and nobody watches it."""
        return self.copy().device

    def copy(self) -> Copy:
        """`fork`, with copies of the objects that were kept besides.

        Raises:
            InputError: a file holds something else than a device (`snapshot.damaged`).
        """
        rebuilder = Rebuilder(Names(self.host), self.nodes, self.pieces, {})
        with _uncollected():
            found = rebuilder.build(self.root)
        _require_device(found, rebuilder.objects)
        found[0].host_functions = dict(self.functions)
        return Copy(found[0], tuple(found[1:]))

    def restore(self, device: Device | None = None, further: Sequence[object] = ()) -> Device:
        """Put a device into this state; its streams and models stay the objects they are. Completely or not at all.

        Args:
            device: by default the one it was made of; a new one for a snapshot that was loaded.
            further: with another device than that: its objects for those that were kept besides, in order.

        Raises:
            InputError: planned actions are being run right now (`snapshot.running`), or the device is of another chip
                or other plugins (`snapshot.device`).
        """
        target = self.device if device is None else device
        if target is None:
            return self.fork()
        require_idle(target)
        if target.chip.name != self.chip or target.host is not self.host:
            raise InputError(
                f"was made of another device: {self.chip}",
                id="snapshot.device",
                where=self.source or "snapshot",
                remedy="restore it on a device of the same chip and plugin host, or make a copy with fork",
            )
        if target is self.device:
            live = {at: self.objects[at] for at, node in enumerate(self.nodes) if node[0] in ("obj", "block")}
        else:
            self.copy()
            live = self._anchors(target, further)
        with _uncollected():
            Rebuilder(Names(self.host), self.nodes, self.pieces, live).build(self.root)
        return target

    def _anchors(self, device: Device, further: Sequence[object]) -> dict[int, Any]:
        """Nodes of the device, its models and its streams, and the objects of `device` that they become."""
        root: Any = self.root
        (top,), *others = self.nodes[root[0]][1:]
        found: dict[int, Any] = {top: device}
        if len(others) != len(further):
            raise InputError(
                f"keeps {len(others)} objects beside the device, not {len(further)}",
                id="snapshot.device",
                where=self.source or "snapshot",
                remedy="restore it where it was made, or make a copy with fork",
            )
        found.update(
            {ref[0]: thing for ref, thing in zip(others, further, strict=True) if isinstance(ref, list | tuple)}
        )
        attributes = self.nodes[top][2:]
        for name, live in (("streams", device.streams), ("models", device.models)):
            (at,) = attributes[attributes.index(name) + 1]
            pairs = self.nodes[at][1:]
            known: dict[int, Any] = dict(live)
            listed = zip(pairs[::2], pairs[1::2], strict=True)
            found.update({ref[0]: known[key] for key, ref in listed if isinstance(key, int) and key in known})
        return found

    def save(self, path: str | Path) -> None:
        """Write a file that `load` reads; host functions and watchers are not in it.

        Raises:
            PluginError: it holds something that only this process has (`snapshot.unkeepable`).
            InputError: the file cannot be written (`snapshot.write`).
        """
        try:
            Path(path).write_bytes(self.encoded())
        except OSError as error:
            what = f"cannot be written: {error.strerror or error}"
            raise InputError(what, id="snapshot.write", where=str(path), remedy="give another name") from None

    def encoded(self) -> bytes:
        """The bytes of the file."""
        copy = self.copy()
        graph, root, pieces = _taken((copy.device, *copy.further), Names(self.host), None, plain=True)
        chip = copy.device.chip
        header = file.Header(file.product_version(), chip.name, chip.family, file.plugins_of(self.host), root, 0, [])
        return file.encode(header, graph.nodes, pieces)  # type: ignore[arg-type]


def take(device: Device, further: Iterable[object] = (), beside: Snapshot | None = None) -> Snapshot:
    """The present state of `device`.

    Args:
        device: between two steps.
        further: objects of the host program that belong to the state, such as a `Runtime`; kept and restored with it.
        beside: an earlier snapshot, of which everything that is the same is shared.

    Raises:
        InputError: planned actions are being run right now (`snapshot.running`).
        PluginError: something cannot be kept (`snapshot.unkeepable`); names plugin, engine, kind and the way to it.
    """
    require_idle(device)
    device.scheduler.lanes.settle_all()
    iter(device.trace)
    graph, root, pieces = _taken((device, *further), Names(device.host), beside, plain=False)
    addresses = {block.info.address: at for at, block in graph.blocks.items()}
    return Snapshot(
        device.clock.now, device.chip.name, device.host, graph.nodes, root, pieces, "", device,  # type: ignore[arg-type]
        graph.objects, addresses, graph.logs, dict(device.host_functions),
    )  # fmt: skip


def load(path: str | Path, host: PluginHost) -> Snapshot:
    """A snapshot from a file; `restore`, `fork` or `copy` makes a device of it.

    Raises:
        InputError: it cannot be read (`input.file`), or is no snapshot, damaged or of another version.
        PluginError: plugins that it was saved with are missing or have another version (`snapshot.plugins`).
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise InputError(what, id="input.file", where=str(path), remedy="give a file that is there") from None
    return decoded(data, host, str(path))


def decoded(data: bytes, host: PluginHost, source: str = "snapshot") -> Snapshot:
    """`load` of the bytes of a file; `source` names it in messages."""
    content = file.decode(data, source)
    header = content.header
    file.require_plugins(header, host, source)
    return Snapshot(0, header.chip, host, content.nodes, header.root, content.pieces, source)


def require_idle(device: Device) -> None:
    """`InputError` (`snapshot.running`) while planned actions of `device` are run."""
    if device.scheduler.lanes.looping:
        raise InputError(
            "the device is in the middle of a step",
            id="snapshot.running",
            where="snapshot",
            remedy="take and restore snapshots between two steps, not in a kernel, a watcher or a host function",
        )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection: many objects are made at once, and none of them is garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _taken(
    roots: tuple[Any, ...], names: Names, beside: Snapshot | None, *, plain: bool
) -> tuple[Graph, object, dict[int, Pieces]]:
    device: Device = roots[0]
    arrays = {id(block.data): block for block in device.memory.blocks() if not (block.freed or block.untouched)}
    graph = Graph(names, arrays, plain=plain, logs=beside.logs if beside else {})
    with _uncollected():
        root = graph.add(roots)
    before = {a: beside.pieces.get(n, {}) for a, n in beside.addresses.items()} if beside else None
    pieces: dict[int, Pieces] = {
        at: kept(block, None if before is None else before.get(block.info.address, {}))
        for at, block in graph.blocks.items()
    }
    return graph, root, pieces


def _require_device(found: Any, made: Mapping[int, Any]) -> None:  # noqa: ANN401 - whatever a file holds
    from emu_core.device import Device  # noqa: PLC0415 - it uses this module

    if type(found) is not tuple or not found or type(found[0]) is not Device:
        raise damaged("holds no device")
    for thing in made.values():
        for name, kind in PARTS.get(type(thing), {}).items():
            if not isinstance(vars(thing).get(name), kind):
                raise damaged(f"holds a {type(thing).__name__} without a proper {name}")
