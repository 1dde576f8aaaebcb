"""From a file to a program: a graph is compiled, a task blob is read, an offline model becomes a task blob."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from emu_core.api import compile_with_report
from emu_core.errors import LimitError, OptionError
from emu_core.graph import CompileOptions
from emu_plugins.importers.kinds import read_graph
from emu_plugins.om.magic import MAGIC_BYTES
from formats import FormatError
from formats.blob import decode
from formats.magic import BLOB_START
from tools.files import STDIN, read_bytes
from tools.grouped_warnings import say_warnings
from tools.importer_of import importer_of
from tools.options import option_levels, pairs, split_policies
from tools.progress import Progress
from tools.runtime_options import POLICY, V2

if TYPE_CHECKING:
    from emu_core.graph import Compiled
    from emu_core.plugins import PluginHost
    from formats.blob import Blob


@dataclass(frozen=True)
class Wanted:
    """How a graph is to be compiled, as the command line said it.

    Attributes:
        warn: say the compiler's warnings. details: as in `CompileOptions`.
        tiling: `host` or `sink` as the command line said it; `tiling_schedule_optimize` agrees with it.
    """

    chip: str
    ge_options: tuple[str, ...] = ()
    tiling_schedule_optimize: str | None = None
    online: bool | None = None
    policies: tuple[str, ...] = ()
    online_by_default: bool = False
    warn: bool = True
    details: bool = False
    tiling: str | None = None

    def offline(self) -> bool | None:
        """The build mode for the compiler; None leaves it to the graph."""
        return None if self.online is None else not self.online


@dataclass(frozen=True)
class Program:
    """A blob, the policies left for device and loader, and the compilation it came from (None for a compiled file)."""

    blob: Blob
    policies: dict[str, str]
    compiled: Compiled | None = None


def load_program(path: str, wanted: Wanted, host: PluginHost) -> Program:
    """Read `path` (`-`: standard input) and compile it if it is a graph; raises as `program_of`, or `InputError`."""
    return program_of(path, read_bytes(path), wanted, host)


def program_of(path: str, data: bytes, wanted: Wanted, host: PluginHost) -> Program:
    """The program in `data`, which `path` held.

    Raises:
        GraphError, OptionError, LimitError, FormatError: as the compiler, the blob reader and `om_blob`.
    """
    compile_time, rest = split_policies(host, pairs(wanted.policies, "--policy"))
    if data[: len(BLOB_START)] == BLOB_START:
        return Program(_blob(path, data, wanted, compile_time), rest)
    if data[: len(MAGIC_BYTES)] == MAGIC_BYTES:
        from tools.om_program import om_blob  # noqa: PLC0415 - other programs do without

        _refuse_compile_time(path, wanted, compile_time)
        return Program(om_blob(path, data, wanted, host), rest)
    compiled = compile_text(path, data, wanted, host, compile_time)
    return Program(compiled.blob, rest, compiled)


def _refuse_compile_time(path: str, wanted: Wanted, compile_time: Mapping[str, str]) -> None:
    """`OptionError` (`option.compiled`) when something was given that counts when a graph is compiled."""
    given = [*(f"policy {name}" for name in compile_time), *(f"option {text}" for text in wanted.ge_options)]
    if wanted.tiling is not None:
        given.append("--tiling")
    elif wanted.tiling_schedule_optimize is not None:
        given.append("--tiling_schedule_optimize")
    if given:
        raise OptionError(
            f"{', '.join(given)} is decided when a graph is compiled, and {path} is compiled already",
            id="option.compiled",
            remedy="give it to `sqemu compile`, or run the graph",
        )


def _blob(path: str, data: bytes, wanted: Wanted, compile_time: Mapping[str, str]) -> Blob:
    _refuse_compile_time(path, wanted, compile_time)
    try:
        return decode(data)
    except FormatError as error:
        raise FormatError(
            error.what, id=error.id, where=f"{path}: {error.where}", remedy=error.remedy, offset=error.offset
        ) from None


def compile_text(path: str, data: bytes, wanted: Wanted, host: PluginHost, compile_time: Mapping[str, str]) -> Compiled:
    """Compile the graph in `data`; its warnings go to standard error."""
    source = "standard input" if path == STDIN else path
    graph = read_graph(data, host.operators, source=source, foreign=partial(importer_of, host))
    levels = option_levels(pairs(wanted.ge_options, "--option"))
    nodes = graph.get("nodes")
    progress = Progress("compiling, step", 2 * len(nodes) if isinstance(nodes, list) else 0)
    options = CompileOptions(
        options=levels[""],
        tiling_schedule_optimize=wanted.tiling_schedule_optimize,
        offline=_mode(wanted, graph),
        policies=compile_time,
        source=source,
        session_options=levels["session"],
        global_options=levels["global"],
        details=wanted.details,
        progress=progress.step,
        never_sinks=pairs(wanted.policies, "--policy").get(POLICY) == V2,
    )
    try:
        with progress:
            compiled = compile_with_report(graph, wanted.chip, options, host)
    except LimitError as error:
        raise LimitError(error.what, id=error.id, where=_joined(source, error.where), remedy=error.remedy) from None
    except FormatError as error:
        where = _joined(source, error.where)
        raise FormatError(error.what, id=error.id, where=where, remedy=error.remedy, offset=error.offset) from None
    if wanted.warn:
        say_warnings(compiled.warnings)
    return compiled


def _mode(wanted: Wanted, graph: Mapping[str, object]) -> bool | None:
    """Flags first, then the graph's own build mode, then the command's default."""
    if wanted.online is not None or not wanted.online_by_default:
        return wanted.offline()
    options = graph.get("options")
    own = isinstance(options, Mapping) and "ge.buildGraphMode" in options
    levels = option_levels(pairs(wanted.ge_options, "--option")).values()
    given = any("ge.buildGraphMode" in options for options in levels)
    return None if own or given else False


def _joined(source: str, where: str) -> str:
    return f"{source}: {where}" if where else source
