"""What host calls give out and take: streams, events, notifies, models, programs. Plain records; no call is a method.

Every handle knows its runtime, so that the functions of the C-like interface need no further argument, and whether it
still lives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu_core.model import Model
    from emu_core.streams import Stream
    from emu_plugins.runtime.host.base import RuntimeCore
    from emu_plugins.runtime.images import KernelImage

HEAD_STREAM = 0
"""Bind flag of a stream that model execution starts itself (`device_semantics.md` 4.1)."""
DEFAULT_FLAG = 0x7FFFFFFF
"""Bind flag of a stream that another one activates."""
NOT_MIX = (1 << 64) - 1
"""Descriptor offset of an update whose target has no FFTS+ context."""


@dataclass(eq=False)
class Handle:
    """An object of the host. `alive` ends with its destruction."""

    runtime: RuntimeCore = field(repr=False)
    alive: bool = field(default=True, kw_only=True)


@dataclass(eq=False)
class StreamHandle(Handle):
    """A stream: `core` is the device's, `model` the one it is bound to, `launched` its tasks by task id.

    `called` are the device's models that it executed since it was synchronised last. `owned` are addresses of device
    memory that goes with the stream (tiling tables, copies of arguments).
    """

    core: Stream = field(repr=False)
    model: ModelHandle | None = None
    launched: dict[int, Launched] = field(default_factory=dict, repr=False)
    owned: list[int] = field(default_factory=list, repr=False)
    seen_faults: int = 0
    called: list[Model] = field(default_factory=list, repr=False)

    @property
    def id(self) -> int:
        """Stream id on the device."""
        return self.core.id

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.core.name


@dataclass(eq=False)
class Flag(Handle):
    """A handle whose id entries in rings name; `uses` are those entries: stream and task id. `name` is the host's own.

    The id of a destroyed one is given out again when none of its entries waits any more.
    """

    uses: list[tuple[StreamHandle, int]] = field(default_factory=list, repr=False, kw_only=True)
    name: str = field(default="", kw_only=True)


class EventStyle(Enum):
    """How an event came to be, which decides what a wait before any record means (`device_semantics.md` 3.2)."""

    OLD = "old"
    NEW = "new"


@dataclass(eq=False)
class EventHandle(Flag):
    """An event. `id` is None until the device needs one; `recorder` the last record: stream and task id.

    `waitable` is False for an event that only takes time stamps: its records are place holders.
    """

    style: EventStyle
    waitable: bool = True
    id: int | None = None
    recorder: tuple[StreamHandle, int] | None = field(default=None, repr=False)


@dataclass(eq=False)
class NotifyHandle(Flag):
    """A notify, or a counted one."""

    id: int
    counted: bool = False


@dataclass(eq=False)
class ModelHandle(Handle):
    """A model that is being built or is complete (`core` is the device's then)."""

    id: int
    name: str = ""
    streams: list[StreamHandle] = field(default_factory=list)
    heads: list[StreamHandle] = field(default_factory=list)
    end: NotifyHandle | None = None
    core: Model | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Execution:
    """A model that was executed from `caller` when there had been `mark` faults; `core` is the device's model."""

    core: Model
    caller: Stream
    mark: int


@dataclass(eq=False)
class Program(Handle):
    """A registered kernel binary. `image` is None for one without kernels; `repeated` are keys that came twice."""

    name: str
    image: KernelImage | None
    repeated: tuple[int, ...] = ()

    @property
    def tiling_keys(self) -> tuple[int, ...]:
        """Keys of the kernels, ascending: the rows of the tiling table."""
        return tuple(sorted(self.image.entries)) if self.image else ()


@dataclass(frozen=True)
class Function:
    """One kernel of a program; `pc` is its address."""

    program: Program
    tiling_key: int
    pc: int

    @property
    def name(self) -> str:
        """Name of the kernel's program, and the tiling key: `TilingProbe key 2`."""
        return f"{self.program.name} key {self.tiling_key}"


@dataclass(frozen=True)
class Launched:
    """A kernel that was launched: where, which one, and the address of its FFTS+ context if it has one."""

    stream_id: int
    task_id: int
    function: Function
    context: int | None = None
