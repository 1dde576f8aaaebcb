"""The host API of one device: `Runtime` has every call, `docs/host_api.md` describes them."""

from __future__ import annotations

from emu_plugins.runtime.host.counted import CountedNotifyCalls
from emu_plugins.runtime.host.events import EventCalls
from emu_plugins.runtime.host.memory import MemoryCalls
from emu_plugins.runtime.host.models import ModelCalls
from emu_plugins.runtime.host.programs import ProgramCalls
from emu_plugins.runtime.host.queries import QueryCalls
from emu_plugins.runtime.host.streams import StreamCalls
from emu_plugins.runtime.host.task_update import TaskUpdateCalls


class Runtime(
    StreamCalls,
    EventCalls,
    CountedNotifyCalls,
    MemoryCalls,
    ProgramCalls,
    TaskUpdateCalls,
    ModelCalls,
    QueryCalls,
):
    """The calls of a host program on one device.

    Args:
        device: the emulated device; several runtimes may share one, each with its own handles.
        firmware: features of its firmware; by default one that knows task updates.
        device_id: its number in `get_device_capability`.

    Raises:
        InputError: nobody writes entries of the chip's family (`chip.no-engines`).

    Every call raises `RuntimeApiError` with the public code when it is refused. Nothing runs before the host waits:
    `synchronize_stream`, `synchronize_event`, `destroy_stream`, or a plain stream that is full.
    """
