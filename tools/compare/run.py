"""Compiles, loads and runs a graph both ways, and by runtime V2 as a third one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.device import Device
from emu_core.errors import InputError, OptionError
from formats.magic import BLOB_START
from tools.compare import as_json as machine
from tools.compare import as_text as people
from tools.files import read_bytes
from tools.npz import NpzArrays
from tools.program import program_of
from tools.runtime_options import V1, V2, with_runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.model import Model, Result
    from emu_core.plugins import PluginHost
    from tools.npz import Array
    from tools.program import Wanted


@dataclass(frozen=True)
class Way:
    """One of the ways: the loaded model, how many operators tile on the device, and the executions."""

    name: str
    model: Model
    sunk: int
    results: tuple[Result, ...]
    runtime: str = V1

    @property
    def ok(self) -> bool:
        """Whether every execution went well."""
        return all(result.ok for result in self.results)


def compare(
    path: str,
    inputs: Sequence[str],
    wanted: Wanted,
    host: PluginHost,
    *,
    rows: int,
    as_json: bool,
    runtime: str = V1,
) -> int:
    """Show the comparison; returns the exit code. `runtime` v2 adds it as a third way.

    Raises:
        OptionError: `path` is a task blob (`option.compiled`). InputError: inputs are missing or do not fit.
        GraphError, LimitError: as the compiler.
    """
    data = read_bytes(path)
    if data[: len(BLOB_START)] == BLOB_START:
        raise OptionError(
            f"{path} is compiled already", id="option.compiled", remedy="give the graph: it is compiled both ways"
        )
    sink = _way("sink", (path, data), inputs, replace(wanted, tiling_schedule_optimize="1"), host)
    quiet = replace(wanted, tiling_schedule_optimize="0", warn=False)  # it would only say that nothing sinks
    ways = [sink, _way("host", (path, data), inputs, quiet, host)]
    if runtime == V2:
        by_graph = replace(quiet, policies=with_runtime(wanted.policies, V2))
        ways.append(_way(V2, (path, data), inputs, by_graph, host, V2))
    runs = zip(*(way.results for way in ways), strict=True)
    same = [all(_equal(first, other) for other in others) for first, *others in runs]
    if as_json:
        machine.show(ways, same)
    else:
        people.show(ways, same, rows)
    return 0 if all(way.ok for way in ways) and all(same) else 1


def _way(
    name: str, graph: tuple[str, bytes], inputs: Sequence[str], wanted: Wanted, host: PluginHost, runtime: str = V1
) -> Way:
    """Compile, load and run `graph`, a file and what it held."""
    program = program_of(*graph, wanted, host)
    model = Device(program.blob.chip, program.policies, host).load(program.blob)
    if model.inputs and not inputs:
        names = ", ".join(port.name for port in model.inputs)
        what = f"the graph has inputs ({names})"
        raise InputError(what, id="input.none", remedy="give --inputs IN.npz with these arrays")
    results = tuple(model.execute(_arrays(model, file)) for file in inputs or (None,))
    return Way(name, model, sum(op.sink for op in program.blob.ops), results, runtime)


def _arrays(model: Model, file: str | None) -> dict[str, Array]:
    """The inputs of the model out of a file."""
    arrays = NpzArrays(file) if file else {}
    return {port.name: arrays[port.name] for port in model.inputs if port.name in arrays}


def _equal(first: Result, other: Result) -> bool:
    """Whether both gave the same outputs, byte for byte."""
    if set(first.outputs) != set(other.outputs):
        return False
    return all(array.tobytes() == other.outputs[name].tobytes() for name, array in first.outputs.items())
