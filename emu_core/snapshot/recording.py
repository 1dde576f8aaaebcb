"""Everything that comes to a device from outside, recorded and replayed.

The host program works through `Recorder.device`, a stand-in: each call, each attribute that is set and each host
function that the device calls back becomes an *operation*. A replay starts from the state at the beginning of the
recording and does the same operations in order, without the host program.

| operation | holds |
|---|---|
| `call` | way to an object of the device, method, arguments, what came of it |
| `set` | way, attribute, value |
| `item` | way, key, value |

| in an operation | is |
|---|---|
| object of the device, or one that an operation returned | a way: where to start, then attributes and keys |
| host function | only its name; what it did when it was called back: operations again, and how it ended |
| exception | class, id and text; the replay must raise the same |

As each operation is a call of the public interface, what the host looks at (memory, states) is no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinMethodType, FunctionType, MappingProxyType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import msgspec
import numpy as np

from emu_core.errors import DeviceFault, InputError, SqemuError
from emu_core.snapshot import file
from emu_core.snapshot.graph import Graph
from emu_core.snapshot.image import Snapshot, decoded, take
from emu_core.snapshot.names import Names, damaged
from emu_core.snapshot.rebuild import Rebuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emu_core.device import Device
    from emu_core.plugins import PluginHost

Step: TypeAlias = tuple[str, Any]
PLAIN = (bool, int, float, str, bytes, type(None))
SEEN = frozenset({"read", "find", "peek", "layout", "runtime_layout", "view"})
"""Methods that only look; they are not recorded, and give what they give."""
HERE = "device"


@dataclass(frozen=True)
class Way:
    """Where an object is found: `start` is `device` or the number of the operation that returned it, then steps."""

    start: str | int
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class HostFunction:
    """A host function in an operation: only its name is kept."""

    name: str


@dataclass(frozen=True)
class CalledBack:
    """One call of a host function: its user pointer, what it did, and the fault that it raised (id, text, code)."""

    data: int
    operations: tuple[Operation, ...]
    fault: tuple[str, str, int] | None = None


@dataclass(frozen=True)
class Operation:
    """One thing that the host did; see the module text.

    Attributes:
        outcome: a plain result, or class and text of an exception.
        returned: number of the result that later ways start from.
        called_back: calls of host functions meanwhile, in order.
    """

    kind: str
    way: Way
    name: Any
    arguments: tuple[Any, ...]
    words: tuple[tuple[str, Any], ...]
    outcome: Any
    returned: int
    called_back: tuple[CalledBack, ...]


@dataclass(frozen=True)
class Recording:
    """A beginning and what the host did from there.

    Attributes:
        start: the state at the beginning. operations: in order.
    """

    start: Snapshot
    operations: tuple[Operation, ...]

    def replay(self) -> Device:
        """A new device on which the same has happened.

        Raises:
            InputError: an operation gives something else than it gave (`replay.differs`): names it.
        """
        device = self.start.fork()
        _Replay(device).run(self.operations)
        return device

    def save(self, path: str | Path) -> None:
        """Write a file that `load_recording` reads.

        Raises:
            PluginError: an argument cannot be kept (`snapshot.unkeepable`).
            InputError: the file cannot be written (`snapshot.write`).
        """
        graph = Graph(Names(self.start.host), {}, plain=True, logs={})
        root = graph.add(self.operations)
        raw = msgspec.msgpack.encode((root, graph.nodes))
        state = self.start.encoded()
        data = MAGIC + len(state).to_bytes(8, "little") + state + file.sealed(raw)
        try:
            Path(path).write_bytes(data)
        except OSError as error:
            what = f"cannot be written: {error.strerror or error}"
            raise InputError(what, id="snapshot.write", where=str(path), remedy="give another name") from None


MAGIC = b"SQEMUREC"


def load_recording(path: str | Path, host: PluginHost) -> Recording:
    """A recording from a file; raises as `emu_core.snapshot.image.load`."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise InputError(what, id="input.file", where=str(path), remedy="give a file that is there") from None
    return decoded_recording(data, host, str(path))


def decoded_recording(data: bytes, host: PluginHost, source: str) -> Recording:
    """`load_recording` of the bytes of a file; `source` names it in messages."""
    if data[: len(MAGIC)] != MAGIC:
        raise InputError("is no recording", id="snapshot.file", where=source, remedy="give one that was saved")
    at = len(MAGIC) + 8
    end = at + int.from_bytes(data[len(MAGIC) : at], "little")
    start = decoded(data[at:end], host, source)
    raw = file.unsealed(data[end:], source)
    try:
        root, nodes = msgspec.msgpack.decode(raw, type=tuple[Any, list[list[Any]]])
    except msgspec.MsgspecError:
        raise damaged("has operations that cannot be decoded") from None
    if any(not node or node[0] in file.MEMORY_ONLY for node in nodes):
        raise damaged("has a node of no kind that files have")
    found = Rebuilder(Names(host), [tuple(node) for node in nodes], {}, {}).build(root)
    if type(found) is not tuple or not all(isinstance(each, Operation) for each in found):
        raise damaged("holds no operations")
    return Recording(start, found)


class Recorder:
    """Records what the host program does to a device through `device`, a stand-in for it.

    Args:
        device: between two steps; what was done before is part of the beginning.

    Attributes:
        device: use it like the device itself. Its objects (streams, memory, models …) are stand-ins, too.
    """

    def __init__(self, device: Device) -> None:
        self.real = device
        self._start = take(device)
        self._open: list[list[Operation]] = [[]]
        self._back: list[list[CalledBack]] = [[]]
        self._results = 0
        self.device: Device = _StandIn(self, device, Way(HERE))  # type: ignore[assignment]

    def recording(self) -> Recording:
        """What was recorded so far."""
        return Recording(self._start, tuple(self._open[0]))

    # ---- one operation ---------------------------------------------------------------------------------------

    def note(self, kind: str, way: Way, name: object, act: Callable[[], Any], given: tuple[Any, Any]) -> Any:  # noqa: ANN401 - the call's own result
        """Do `act` and note it; `given`: arguments, keyword arguments as they were given."""
        arguments, words = given
        kept = tuple(map(self._kept, arguments)), tuple((k, self._kept(v)) for k, v in words.items())
        self._back.append([])
        number = self._results
        self._results += 1
        outcome: object = None
        try:
            result = act()
            outcome = result if isinstance(result, PLAIN) else None
        except Exception as error:
            outcome = _raised(error)
            raise
        finally:
            called = tuple(self._back.pop())
            self._open[-1].append(Operation(kind, way, name, *kept, outcome, number, called))
        return self.shown(result, Way(number))

    def shown(self, thing: Any, way: Way) -> Any:  # noqa: ANN401 - any object
        """`thing` for the host program: a stand-in if it is part of the machine."""
        return _StandIn(self, thing, way) if _is_part(thing) else thing

    def _kept(self, thing: Any) -> Any:  # noqa: ANN401 - any object
        """`thing` as an operation holds it."""
        if type(thing) is _StandIn:
            return _of(thing)[2]
        if type(thing) in (tuple, list):
            return type(thing)(map(self._kept, thing))
        if isinstance(thing, Mapping):
            return {key: self._kept(value) for key, value in thing.items()}
        if isinstance(thing, np.ndarray):
            return thing.copy()
        if isinstance(thing, FunctionType | MethodType | BuiltinMethodType):
            return HostFunction(getattr(thing, "__qualname__", "function"))
        return bytes(thing) if isinstance(thing, bytearray | memoryview) else thing

    def real_of(self, thing: Any) -> Any:  # noqa: ANN401 - any object
        """`thing` for the device: host functions note what they do."""
        if type(thing) is _StandIn:
            return _of(thing)[1]
        if type(thing) in (tuple, list):
            return type(thing)(map(self.real_of, thing))
        if type(thing) is dict:
            return {key: self.real_of(value) for key, value in thing.items()}
        return thing

    def function(self, call: Callable[[int], object]) -> Callable[[int], None]:
        """`call`, noting what it does whenever the device calls it."""

        def noting(data: int) -> None:
            self._open.append([])
            fault = None
            try:
                call(data)
            except DeviceFault as error:
                fault = (error.id, error.what, error.ts_code)
                raise
            finally:
                self._back[-1].append(CalledBack(data, tuple(self._open.pop()), fault))

        return noting


def _is_part(thing: object) -> bool:
    """Whether the host may change the machine through `thing`."""
    module = type(thing).__module__
    return module.startswith("emu_core.") and type(thing).__name__ in MACHINE


MACHINE = frozenset(
    {
        "Device", "DeviceMemory", "Scheduler", "Completions", "Recovery", "Lanes", "Clock", "SignalTable", "Contexts",
        "Stream", "SubmissionQueue", "CompletionQueue", "PrefetchWindow", "LateWindow", "Model", "Journal", "Trace",
    }
)  # fmt: skip
"""Classes that stand-ins stand for."""


def _of(stand_in: _StandIn) -> tuple[Recorder, Any, Way]:
    return object.__getattribute__(stand_in, "_parts")  # type: ignore[no-any-return]


class _StandIn:
    """Stands for one object of the machine; everything that is done to it is noted."""

    __slots__ = ("_parts",)

    def __init__(self, recorder: Recorder, thing: object, way: Way) -> None:
        object.__setattr__(self, "_parts", (recorder, thing, way))

    @property
    def __class__(self) -> type:
        """The class it stands for, so that checks of arguments hold."""
        return type(_of(self)[1])

    @__class__.setter
    def __class__(self, _kind: type) -> None:
        raise TypeError("a stand-in has the class of its object")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the attribute's own type
        recorder, thing, way = _of(self)
        found = getattr(thing, name)
        further = Way(way.start, (*way.steps, ("attribute", name)))
        if isinstance(found, MethodType) and name not in SEEN:
            return _Call(recorder, found, way, name)
        if isinstance(found, dict):
            return _Items(recorder, found, further)
        return recorder.shown(found, further)

    def __setattr__(self, name: str, value: object) -> None:
        recorder, thing, way = _of(self)
        recorder.note("set", way, name, lambda: setattr(thing, name, recorder.real_of(value)), ((value,), {}))

    def __len__(self) -> int:
        return len(_of(self)[1])

    def __iter__(self) -> Iterator[Any]:
        return iter(_of(self)[1])

    def __eq__(self, other: object) -> bool:
        mine = _of(self)[1]
        return bool(mine == (_of(other)[1] if type(other) is _StandIn else other))

    def __hash__(self) -> int:
        return hash(_of(self)[1])

    def __repr__(self) -> str:
        return f"<recorded {_of(self)[1]!r}>"


@dataclass(frozen=True, eq=False)
class _Call:
    """A method of an object of the machine."""

    recorder: Recorder
    method: MethodType
    way: Way
    name: str

    def __call__(self, *arguments: Any, **words: Any) -> Any:  # noqa: ANN401 - the method's own
        real = self.recorder.real_of
        return self.recorder.note(
            "call", self.way, self.name,
            lambda: self.method(*map(real, arguments), **{k: real(v) for k, v in words.items()}),
            (arguments, words),
        )  # fmt: skip


class _Items(dict[Any, Any]):
    """A dictionary of the machine: its values are stand-ins, setting and deleting items is noted."""

    def __init__(self, recorder: Recorder, real: dict[Any, Any], way: Way) -> None:
        shown = {key: recorder.shown(v, Way(way.start, (*way.steps, ("item", key)))) for key, v in real.items()}
        super().__init__(shown)
        self._recorder, self._real, self._way = recorder, real, way

    def __setitem__(self, key: object, value: Any) -> None:  # noqa: ANN401 - any object
        recorder, real = self._recorder, self._recorder.real_of(value)
        if callable(real):
            real = recorder.function(real)
        recorder.note("item", self._way, key, lambda: self._real.__setitem__(key, real), ((value,), {}))
        super().__setitem__(key, value)


GOES_ON = MappingProxyType({"run_until_idle": "Scheduler", "execute": "Model"})
"""Operations in which the device runs, by the class they belong to."""


class Replayed:
    """The host program of a recording, one operation a step; what the device does meanwhile are steps of its own.

    Args:
        device: in the state at the beginning of the recording, for example `recording.start.fork()`.
        recording: what to do again.

    Attributes:
        done: operations that ended. failed: always False; an operation that gives something else raises.
    """

    kept_outside: ClassVar[Mapping[str, Callable[[], object]]] = MappingProxyType({"operations": tuple})
    failed = False
    operations: tuple[Operation, ...]

    def __init__(self, device: Device, recording: Recording) -> None:
        self.operations = recording.operations
        self.done = 0
        self._replay = _Replay(device)
        self._running = False

    @property
    def at_once(self) -> bool:
        """The host did one operation after the other; only in those in which the device runs it waits for that."""
        return not self._running and self.done < len(self.operations)

    def advance(self) -> bool:
        """The next operation, or the end of the one in which the device has run.

        Raises:
            InputError: it gives something else than it gave (`replay.differs`).
        """
        if self.done == len(self.operations):
            return False
        operation = self.operations[self.done]
        if self._running:
            self._running = False
            self._replay.end(operation)
        elif self._replay.goes_on(operation):
            self._running = self._replay.begin(operation)
            if self._running:
                return True
        else:
            self._replay.one(operation)
        self.done += 1
        return True

    def summary(self) -> str:
        """How much of it was done."""
        return f"{self.done} of {len(self.operations)} operations of the recording were done"


class _Replay:
    """Does operations again on a device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._results: dict[int, Any] = {}
        self._due: list[list[CalledBack]] = []

    # ---- in single steps -------------------------------------------------------------------------------------

    def goes_on(self, operation: Operation) -> bool:
        """Whether the device runs in it."""
        owner = GOES_ON.get(operation.name) if operation.kind == "call" else None
        return owner is not None and type(self._find(operation.way)).__name__ == owner

    def begin(self, operation: Operation) -> bool:
        """The part before the device runs; False when it was refused, as it was when it was recorded."""
        if operation.name == "execute":
            model = self._find(operation.way)
            try:
                model.begin(*map(self._given, operation.arguments))
            except SqemuError as error:
                self._compare(operation, _raised(error), [])
                return False
            self._due.append(list(operation.called_back))
            model.submit()
        else:
            self._due.append(list(operation.called_back))
        return True

    def end(self, operation: Operation) -> None:
        """The part behind it."""
        if operation.name == "execute":
            self._results[operation.returned] = self._find(operation.way).complete()
        self._compare(operation, None, self._due.pop())

    def run(self, operations: tuple[Operation, ...]) -> None:
        """Each of them, in order."""
        for operation in operations:
            self.one(operation)

    def one(self, operation: Operation) -> None:
        """A whole operation."""
        target = self._find(operation.way)
        arguments = [self._given(each) for each in operation.arguments]
        words = {str(key): self._given(value) for key, value in operation.words}
        self._due.append(list(operation.called_back))
        outcome: object = None
        try:
            result = self._act(operation, target, arguments, words)
            outcome = result if isinstance(result, PLAIN) else None
            self._results[operation.returned] = result
        except (SqemuError, DeviceFault, TypeError, ValueError, KeyError, AttributeError, LookupError) as error:
            outcome = _raised(error)
        self._compare(operation, outcome, self._due.pop())

    @staticmethod
    def _compare(operation: Operation, outcome: object, left: list[CalledBack]) -> None:
        """`InputError` (`replay.differs`) unless it gave what it gave."""
        if outcome != operation.outcome or left:
            raise InputError(
                f"{operation.name} gave {_text(operation.outcome)} when it was recorded, and now {_text(outcome)}"
                + (f", with {len(left)} calls of host functions less" if left else ""),
                id="replay.differs",
                where=f"operation {operation.returned}",
                remedy="replay with the version of the product and the plugins that recorded it",
            )

    def _act(self, operation: Operation, target: Any, arguments: list[Any], words: dict[str, Any]) -> Any:  # noqa: ANN401 - the call's own
        if operation.kind == "set":
            if not _is_part(target) or str(operation.name).startswith("__"):
                raise damaged("sets something of what is no part of the machine")
            return setattr(target, str(operation.name), *arguments)
        if operation.kind == "item":
            if type(target) is not dict:
                raise damaged("sets an item of what is no dictionary")
            return target.__setitem__(operation.name, *arguments)
        name = str(operation.name)
        if name.startswith("_") or not _is_part(target):
            raise damaged(f"calls {name} of something that is no part of the machine")
        return getattr(target, name)(*arguments, **words)

    def _find(self, way: Way) -> Any:  # noqa: ANN401 - any object
        found = self._device if way.start == HERE else self._results.get(int(way.start))
        for what, name in way.steps:
            found = getattr(found, name) if what == "attribute" else found[name]  # type: ignore[index]
        return found

    def _given(self, thing: Any) -> Any:  # noqa: ANN401 - any object
        if isinstance(thing, Way):
            return self._find(thing)
        if isinstance(thing, HostFunction):
            return self._function
        if type(thing) in (tuple, list):
            return type(thing)(map(self._given, thing))
        if type(thing) is dict:
            return {key: self._given(value) for key, value in thing.items()}
        return thing

    def _function(self, data: int) -> None:
        """What any host function did when it was called at this place."""
        due = self._due[-1] if self._due else []
        if not due or due[0].data != data:
            raise InputError(
                f"a host function is called with {data}, which did not happen when it was recorded",
                id="replay.differs", where="replay", remedy="replay with the version that recorded it",
            )  # fmt: skip
        called = due.pop(0)
        self.run(called.operations)
        if called.fault is not None:
            name, what, ts_code = called.fault
            raise DeviceFault(what, ts_code=ts_code, id=name)


def _raised(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _text(outcome: object) -> str:
    return "a result" if outcome is None else repr(outcome)[:120]
