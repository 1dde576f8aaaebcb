"""Running compiler passes of plugins: before the compiler, after its passes, and on the blob it gives.

| point | runs | gives |
|---|---|---|
| `import` | on the JSON form of the graph, before any compiler is asked | a graph, or None |
| the name of a pass of the compiler | with the compiler's account of the graph | None |
| `emit` | on the blob | a blob, or None |

The compiler calls `CompileOptions.after_pass` after each of its passes; one that never calls it has no points between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from emu_core.errors import PluginError
from emu_core.extensions import BLOB, GRAPH, PassInput
from formats.blob import Blob

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.extensions import PassSpec
    from emu_core.graph import Compiled, CompileOptions
    from emu_core.plugins import PluginHost


@dataclass(frozen=True)
class Passes:
    """The passes of one compilation; `warnings` is what they said."""

    host: PluginHost
    chip: Chip
    options: CompileOptions
    warnings: list[str] = field(default_factory=list)

    def watched(self) -> CompileOptions:
        """The options for the compiler: it tells of its passes when somebody asked for one between them."""
        between = {spec.after for spec in self.host.passes.values()} - {GRAPH, BLOB}
        return replace(self.options, after_pass=self._between) if between else self.options

    def on_graph(self, graph: Mapping[str, Any]) -> Mapping[str, Any]:
        """The graph that is compiled."""
        for spec in self._at(GRAPH):
            given = spec.run(self._input(spec, graph))
            if given is not None:
                graph = self._checked(spec, given, Mapping, "a graph as a mapping")
        return graph

    def on_compiled(self, graph: Mapping[str, Any], compiled: Compiled) -> Compiled:
        """The compilation with the blob that the passes at the end made, and what all of them said."""
        blob = compiled.blob
        for spec in self._at(BLOB):
            given = spec.run(self._input(spec, graph, blob))
            if given is not None:
                blob = self._checked(spec, given, Blob, "a TaskBlob")
        if blob is compiled.blob and not self.warnings:
            return compiled
        return replace(compiled, blob=blob, warnings=(*compiled.warnings, *self.warnings))

    def _between(self, name: str, account: Mapping[str, Any]) -> None:
        for spec in self._at(name):
            if spec.run(self._input(spec, account)) is not None:
                raise self._wrong(spec, f"runs after {name} and may only look there, but it gave something")

    def _at(self, point: str) -> list[PassSpec]:
        return [spec for spec in self.host.passes.values() if spec.after == point]

    def _input(self, spec: PassSpec, graph: Mapping[str, Any], blob: Blob | None = None) -> PassInput:
        return PassInput(spec.after, graph, self.chip, self.options, self.warnings.append, blob)

    def _checked(self, spec: PassSpec, given: Any, wanted: type, what: str) -> Any:  # noqa: ANN401 - a pass's answer
        if isinstance(given, wanted):
            return given
        raise self._wrong(spec, f"must give {what} or None, not {type(given).__name__}")

    def _wrong(self, spec: PassSpec, what: str) -> PluginError:
        return PluginError(
            f"pass {spec.name} {what}",
            id="plugin.pass-answer",
            where=self.host.owner_label("sqemu_passes", spec.name),
            remedy="report this to the author of the plugin, or leave it out",
        )
