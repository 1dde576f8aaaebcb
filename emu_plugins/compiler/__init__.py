"""The compiler plugin: JSON graph to task blob, behind the hook `sqemu_compile`.

| pass | module |
|---|---|
| JSON text and npz files | `loading`, `constants` |
| structure, names, operators | `parse`, `names`, `operators` |
| options | `options` |
| shapes and element types | `shapes` |
| gates and marks, partition | `gates`, `marks`, `partition` |
| sink condition, running parameters | `sink`, `running_params` |
| streams and events | `streams`, `resources`, `stream_ends` |
| task generation, args formats | `tasks`, `sink_step`, `libraries`, `args_format`, `args_layout` |
| super kernel | `super_kernel`, `super_kernel_tasks` |
| FFTS+ | `ffts_plus` |
| serialisation | `emit` |

`pipeline` runs them. The vendor function that each mirrors stands in the module's first lines; `docs/compiler.md`
has the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_core.policies import PolicySpec, Scope
from emu_plugins.compiler.args_format import ArgEntry, ArgKind, format_args, parse_args_format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_core.graph import Compiled, CompileOptions
    from emu_core.plugins import PluginHost

__all__ = ["POLICIES", "ArgEntry", "ArgKind", "format_args", "parse_args_format"]

POLICIES = (
    PolicySpec(
        "block_dim_placeholder", Scope.COMPILE, "seed", ("seed", "compiled"),
        "block dim of a kernel task whose tiling sinks: 0xFFFFFFFF until patched, or the compile-time value",
    ),
    PolicySpec(
        "nop_count", Scope.COMPILE, "seed", ("seed", "platform"),
        "bubbles between the wait and the kernel: the seed's number, the platform file's, or a number", True, 4096,
    ),
    PolicySpec(
        "sink_run_order", Scope.COMPILE, "patch_first", ("patch_first", "picture"),
        "attached stream: update before record, or record before update as a picture of the seed can be read",
    ),
    PolicySpec(
        "sink_products", Scope.COMPILE, "all", ("all", "listed"),
        "products that may sink: A2, A3, 310P and 950, or only the listed A2 and A3",
    ),
    PolicySpec(
        "sink_kernel_task", Scope.COMPILE, "seed", ("seed", "public"),
        "kernel tasks that tiling may sink for: any, or none without a kernel list (KERNEL), as the public code",
    ),
    PolicySpec(
        "end_join", Scope.COMPILE, "needed", ("needed", "always"),
        "event from each attached stream to the graph's end: only where the end would not wait anyway, or always",
    ),
    PolicySpec(
        "graph_partition", Scope.COMPILE, "parts", ("parts", "merge"),
        "static parts of a graph with nodes of unknown shape: host scheduled with them, or static models inside",
    ),
    PolicySpec(
        "stream_split", Scope.COMPILE, "on", ("on", "off"),
        "streams with more tasks than a ring holds: go on in another stream, or refuse the graph",
    ),
    PolicySpec(
        "super_kernel_scope_check", Scope.COMPILE, "off", ("off", "bypass", "abort"),
        "a member of a super kernel scope that cannot be fused: leave it out, pass the scope over, or refuse the graph",
    ),
    PolicySpec(
        "never_timeout_with_sink", Scope.COMPILE, "refuse", ("refuse", "allow"),
        "an operator with never-time-out set whose tiling sinks: refuse the graph, or warn",
    ),
)  # fmt: skip
"""Policies that the compiler reads."""


@hookimpl
def sqemu_policies() -> tuple[PolicySpec, ...]:
    """Policies that the compiler reads."""
    return POLICIES


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of this package mean."""
    from emu_plugins.compiler.explanations import EXPLANATIONS  # noqa: PLC0415 - texts are rarely asked for

    return EXPLANATIONS


@hookimpl
def sqemu_compile(graph: Mapping[str, object], chip: Chip, options: CompileOptions, host: PluginHost) -> Compiled:
    """Compile a JSON graph; see :func:`emu_plugins.compiler.pipeline.compile_graph`."""
    from emu_plugins.compiler.pipeline import compile_graph  # noqa: PLC0415 - other hooks must not pay for the passes

    return compile_graph(graph, chip, options, host)
