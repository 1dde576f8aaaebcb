"""edu: a chip that is no product, as a plugin of sqemu with entries, engines, a loader and an operator of its own.

It is written against the public names only (`emu_core`, `formats`, and the two of `emu_plugins.compiler` that
docs/plugins.md lists), and has every hook once: a place to look things up when you bring up a chip.

| module | what |
|---|---|
| `chip`, `layouts` | figures; entries and records of family `edu` |
| `kernel`, `tile`, `flags`, `idle`, `patch`, `start` | one engine each |
| `stripe` | operator EduStripe: shapes, tiling function, kernel |
| `server`, `context` | the AI CPU function that runs tiling functions, and what these see |
| `compiling`, `loader` | graph to blob, blob to rings |
| `checks`, `texts` | for `sqemu check` and `sqemu explain` |
| `passes`, `importing` | a compiler pass, and a format of graphs |
| `views`, `observing`, `commands` | a view of `sqemu dump`, something that looks at executions, a subcommand |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import PolicySpec, Scope, hookimpl

from .layouts import FAMILY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core import (
        AicpuKernelSpec,
        CheckSpec,
        Chip,
        CommandSpec,
        Compiled,
        CompileOptions,
        Device,
        DumpView,
        Handler,
        ImporterSpec,
        KernelSpec,
        Model,
        ObserverSpec,
        OperatorSpec,
        PassSpec,
        PluginHost,
        TaskBlob,
    )
    from formats import CStruct


@hookimpl
def sqemu_chips() -> Iterable[Chip]:
    """The one chip."""
    from .chip import EDU_ONE

    return (EDU_ONE,)


@hookimpl
def sqemu_structs() -> Iterable[CStruct]:
    """Entries, completion entry and records of the family."""
    from .layouts import STRUCTS

    return STRUCTS


@hookimpl
def sqemu_policies() -> Iterable[PolicySpec]:
    """What the patch engine reads."""
    return (
        PolicySpec(
            "edu_unknown_key",
            Scope.DEVICE,
            "fault",
            ("fault", "keep_old"),
            "a patch finds a tiling key that the kernel does not have: a fault, or the entry stays as it is",
        ),
    )


@hookimpl
def sqemu_operators() -> Iterable[OperatorSpec]:
    """EduStripe."""
    from .stripe import OPERATOR

    return (OPERATOR,)


@hookimpl
def sqemu_kernels() -> Iterable[KernelSpec]:
    """The kernel of EduStripe."""
    from .stripe import KERNEL

    return (KERNEL,)


@hookimpl
def sqemu_aicpu_kernels(*, host: PluginHost) -> Iterable[AicpuKernelSpec]:
    """The function that tiles on the device; it looks operators up in `host`."""
    from .server import specs

    return specs(host)


@hookimpl
def sqemu_engines(*, device: Device) -> Iterable[Handler]:
    """Engines for devices with entries of this family; none for others."""
    if device.chip.family != FAMILY:
        return ()
    from . import flags, idle, kernel, patch, start, tile

    return [handler for part in (flags, idle, kernel, patch, start, tile) for handler in part.handlers(device)]


@hookimpl
def sqemu_compile(
    *, graph: Mapping[str, object], chip: Chip, options: CompileOptions, host: PluginHost
) -> Compiled | None:
    """A graph for a chip of this family; None for other chips."""
    if chip.family != FAMILY:
        return None
    from .compiling import compile_for_edu

    return compile_for_edu(graph, chip, options, host)


@hookimpl
def sqemu_load(*, device: Device, blob: TaskBlob) -> Model | None:
    """A blob into a device of this family; None for other devices."""
    if device.chip.family != FAMILY:
        return None
    from .loader import load

    return load(device, blob)


@hookimpl
def sqemu_checks() -> Iterable[CheckSpec]:
    """What `sqemu check` looks at besides."""
    from .checks import SPECS

    return SPECS


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of this package mean."""
    from .texts import EXPLANATIONS

    return EXPLANATIONS


@hookimpl
def sqemu_passes() -> Iterable[PassSpec]:
    """A pass that knows the first name of the operator."""
    from .passes import SPECS

    return SPECS


@hookimpl
def sqemu_importers() -> Iterable[ImporterSpec]:
    """Graphs in one line of text."""
    from .importing import SPECS

    return SPECS


@hookimpl
def sqemu_dump_views() -> Iterable[DumpView]:
    """One word per entry."""
    from .views import VIEWS

    return VIEWS


@hookimpl
def sqemu_observers() -> Iterable[ObserverSpec]:
    """Patches on a logger."""
    from .observing import SPECS

    return SPECS


@hookimpl
def sqemu_commands() -> Iterable[CommandSpec]:
    """`sqemu edu-kinds`."""
    from .commands import SPECS

    return SPECS
