"""Which importer of a plugin takes a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from emu_core.errors import InputError, PluginError, SqemuError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.extensions import ImporterSpec
    from emu_core.operators import OperatorSpec
    from emu_core.plugins import PluginHost


def importer_of(host: PluginHost, head: bytes) -> ImporterSpec | None:
    """The importer that recognises a file by its first bytes; an installed plugin whose `recognise` raises is left out.

    Raises:
        InputError: several plugins recognise it (`import.ambiguous`).
        PluginError: a plugin that was given raised (`plugin.raised`).
    """
    found = list(_recognising(host, head))
    if len(found) > 1:
        owners = " and ".join(f"{s.name} of {host.owner_label('sqemu_importers', s.name)}" for s in found)
        raise InputError(
            f"several importers take this file: {owners}",
            id="import.ambiguous",
            remedy="leave one of the plugins out with --no-plugin",
        )
    return replace(found[0], read=partial(_read, host, found[0])) if found else None


def _read(
    host: PluginHost, spec: ImporterSpec, data: bytes, operators: Mapping[str, OperatorSpec], source: str
) -> Mapping[str, Any]:
    """What `read` gives; `PluginError` (`plugin.answer`) when it is no mapping."""
    graph = spec.read(data, operators, source)
    if isinstance(graph, Mapping):
        return graph
    raise PluginError(
        f"importer {spec.name} must give the JSON form of a graph, not {type(graph).__name__}",
        id="plugin.answer",
        where=host.owner_label("sqemu_importers", spec.name),
        remedy="report this to the author of the plugin, or leave it out",
    )


def _recognising(host: PluginHost, head: bytes) -> Iterator[ImporterSpec]:
    for name, spec in host.importers.items():
        if host.is_broken("sqemu_importers", name):
            continue
        try:
            taken = spec.recognise(head)
        except SqemuError as error:
            host.isolate("sqemu_importers", name, error)
            continue
        if taken:
            yield spec
