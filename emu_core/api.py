"""Compiling through the compiler plugin: the one public function that is not a method."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING

from emu_core.chips import Chip
from emu_core.expected import expect
from emu_core.graph import Compiled, CompileOptions
from emu_core.passing import Passes
from emu_core.plugins import PluginHost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.blob import Blob


def compile_with_report(
    graph: Mapping[str, object],
    chip: Chip | str,
    options: CompileOptions | Mapping[str, str] | None = None,
    plugins: Iterable[object] | PluginHost = (),
) -> Compiled:
    """Compile `graph` for `chip`; the result carries the blob, warnings, and each pass's decisions.

    `options` may be a plain mapping of GE options, for example ``{"ge.tiling_schedule_optimize": "1"}``.

    Raises:
        GraphError: with every problem of the graph. OptionError, LimitError.
        InputError: unknown chip (`chip.unknown`), or an argument of another type (`argument.type`).
        PluginError: no compiler takes the chip, or one of somebody else is broken.
    """
    expect(graph, Mapping, "a graph as a mapping", "json.load gives one of a file; GraphBuilder makes one in code")
    expect(chip, (str, Chip), "the name of a chip", "sqemu chips lists them")
    expect(options, (CompileOptions, Mapping, NoneType), "a mapping of options", "or CompileOptions")
    host = plugins if isinstance(plugins, PluginHost) else PluginHost(plugins)
    found = host.chip(chip) if isinstance(chip, str) else chip
    passes = Passes(host, found, _options(options))
    graph = passes.on_graph(graph)
    compiled: Compiled = host.first("sqemu_compile", graph=graph, chip=found, options=passes.watched(), host=host)
    return passes.on_compiled(graph, compiled)


def compile_graph(
    graph: Mapping[str, object],
    chip: Chip | str,
    options: CompileOptions | Mapping[str, str] | None = None,
    plugins: Iterable[object] | PluginHost = (),
) -> Blob:
    """Compile `graph` (the JSON form) for `chip` into a task blob; errors as `compile_with_report`."""
    return compile_with_report(graph, chip, options, plugins).blob


def _options(given: CompileOptions | Mapping[str, str] | None) -> CompileOptions:
    if isinstance(given, CompileOptions):
        return given
    return CompileOptions(options=given or {})
