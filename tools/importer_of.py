"""Which importer of a plugin takes a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError, SqemuError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.extensions import ImporterSpec
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
    return found[0] if found else None


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
