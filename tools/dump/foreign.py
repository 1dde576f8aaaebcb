"""Views of plugins: `sqemu dump --view NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import OptionError, PluginError
from emu_core.extensions import DumpEntry
from formats import FormatError
from tools.dump.items import Entry
from tools.given_plugins import make_host
from tools.show import json_line, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emu_core.extensions import DumpView
    from tools.dump.items import Item


def view_called(name: str, without: tuple[str, ...]) -> DumpView:
    """The view called `name`; `OptionError` (`dump.view`) lists the known ones."""
    views = make_host(without).dump_views
    if name in views:
        return views[name]
    known = ", ".join(sorted(views)) or "no loaded plugin has any"
    raise OptionError(f"there is no view {name!r}", id="dump.view", where="--view", remedy=f"known views: {known}")


def lines(view: DumpView, items: Iterable[Item], family: str) -> Iterator[str]:
    """What the view makes of the entries; gaps of empty entries are left out.

    Raises:
        PluginError: it raised, or gave something that is no text (`plugin.raised`).
    """
    try:
        for line in view.show(_entries(items, family)):
            yield safe(line)  # anything but text raises here
    except (PluginError, FormatError):
        raise
    except Exception as error:
        raise _raised(view, error) from error


def records(view: DumpView, items: Iterable[Item], family: str) -> None:
    """Print one JSON object per entry."""
    for entry in _entries(items, family):
        values = dict(entry.fields) if view.record is None else view.record(entry)
        try:
            about = {"stream_id": entry.stream, "slot": entry.slot, "task_id": entry.task, "struct": entry.struct}
            json_line({"section": view.name, **about, **values})
        except TypeError as error:
            raise _raised(view, error) from error


def _raised(view: DumpView, error: Exception) -> PluginError:
    return PluginError(
        f"raised {type(error).__name__}: {error}".splitlines()[0],
        id="plugin.raised",
        where=f"dump view {view.name}",
        remedy="report this to the author of the plugin, or use another view",
    )


def _entries(items: Iterable[Item], family: str) -> Iterator[DumpEntry]:
    for item in items:
        if isinstance(item, Entry):
            struct, values = item.decoded.struct, item.decoded.values
            named = {f.name: values[f.name] for f in struct.named_fields}
            joined = {name: value for name, value in struct.join(values).items() if name in struct.joined}
            yield DumpEntry(
                _known(item.stream_id), item.slot, _known(item.task_id), family, struct.struct_name, item.kind.name,
                named | joined, item.raw,
            )  # fmt: skip


def _known(number: int | None) -> int:
    return -1 if number is None else number
