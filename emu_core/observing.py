"""Telling observers of plugins about an execution that ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import SqemuError
from emu_core.extensions import Observed
from emu_core.trace import EVENTS

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.extensions import ObserverSpec
    from emu_core.model import Result


def tell_observers(device: Device, result: Result) -> None:
    """Tell every observer; one of an installed plugin that raises is left out from then on, the run is not harmed.

    Raises:
        PluginError: an observer of a plugin that was given raised (`plugin.raised`).
    """
    host = device.host
    for name, spec in host.observers.items():
        if host.is_broken("sqemu_observers", name):
            continue
        try:
            spec.see(_observed(device, result, spec))
        except SqemuError as error:
            host.isolate("sqemu_observers", name, error)


def _observed(device: Device, result: Result, spec: ObserverSpec) -> Observed:
    wanted = frozenset(spec.events)
    events = result.trace if wanted.issuperset(EVENTS) else tuple(e for e in result.trace if type(e) in wanted)
    return Observed(device, result, events)
