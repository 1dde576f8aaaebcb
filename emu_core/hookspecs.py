"""Hook specifications: the doors through which plugins add to the product.

Plugins are modules or objects registered under the entry-point group `sqemu.plugins`, or given by path.
They mark their functions with `emu_core.hookimpl`. All arguments are passed by name, and a hook may take
fewer arguments than listed. One line per hook stands here; `docs/plugins.md` has the contract of each: arguments,
result, when and how often it is called, what happens when it is wrong, what it may not do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.checks import CheckSpec
    from emu_core.chips import Chip
    from emu_core.device import Device
    from emu_core.engines import Handler
    from emu_core.extensions import CommandSpec, DumpView, ImporterSpec, ObserverSpec, PassSpec
    from emu_core.graph import Compiled, CompileOptions
    from emu_core.kernels import AicpuKernelSpec, KernelSpec
    from emu_core.model import Model
    from emu_core.operators import OperatorSpec
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySpec
    from formats import CStruct
    from formats.blob import Blob

PROJECT = "sqemu"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def sqemu_chips() -> Iterable[Chip]:  # type: ignore[empty-body]
    """Chips this plugin describes; a name that is taken already is refused."""


@hookspec
def sqemu_structs() -> Iterable[CStruct]:  # type: ignore[empty-body]
    """Binary layouts to add to the format registry, each with its family and name."""


@hookspec
def sqemu_policies() -> Iterable[PolicySpec]:  # type: ignore[empty-body]
    """Policies this plugin reads."""


@hookspec
def sqemu_operators() -> Iterable[OperatorSpec]:  # type: ignore[empty-body]
    """Operators this plugin declares: IR, shapes, tiling, placements."""


@hookspec
def sqemu_kernels() -> Iterable[KernelSpec]:  # type: ignore[empty-body]
    """AI Core kernels this plugin supplies."""


@hookspec
def sqemu_aicpu_kernels(host: PluginHost) -> Iterable[AicpuKernelSpec]:  # type: ignore[empty-body]
    """AI CPU functions this plugin supplies; `host` lets a server look up what others registered."""


@hookspec
def sqemu_engines(device: Device) -> Iterable[Handler]:  # type: ignore[empty-body]
    """Handlers of SQE kinds for `device`, called once while it is built; two owners of one kind are refused."""


@hookspec(firstresult=True)
def sqemu_compile(
    graph: Mapping[str, object], chip: Chip, options: CompileOptions, host: PluginHost
) -> Compiled | None:
    """Compile `graph` (the JSON form) for `chip`, or return None when this compiler does not take it."""


@hookspec(firstresult=True)
def sqemu_load(device: Device, blob: Blob) -> Model | None:
    """Load `blob` into `device`: allocate, build arguments, write SQEs; None when this loader does not take it."""


@hookspec
def sqemu_checks() -> Iterable[CheckSpec]:  # type: ignore[empty-body]
    """Checks of a program before it runs, for `sqemu check`; a name that is taken already is refused."""


@hookspec
def sqemu_explanations() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Texts for `sqemu explain`: id or code to what it means and what to do."""


@hookspec
def sqemu_passes() -> Iterable[PassSpec]:  # type: ignore[empty-body]
    """Compiler passes that run on the graph, between the passes of the compiler, or on the blob."""


@hookspec
def sqemu_importers() -> Iterable[ImporterSpec]:  # type: ignore[empty-body]
    """Formats of graphs: how a file of the format is recognised, and how it is read."""


@hookspec
def sqemu_dump_views() -> Iterable[DumpView]:  # type: ignore[empty-body]
    """Ways to show entries, for `sqemu dump --view NAME`."""


@hookspec
def sqemu_observers() -> Iterable[ObserverSpec]:  # type: ignore[empty-body]
    """Functions that look at each execution that ended: events, patches, hazards, ordering reports."""


@hookspec
def sqemu_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]
    """Subcommands of `sqemu`, loaded when they are run."""
