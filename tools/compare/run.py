"""Compiles, loads and runs a graph both ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.device import Device
from emu_core.errors import InputError, OptionError
from formats.blob import TaskType
from formats.magic import BLOB_START
from tools.compare import as_json as machine
from tools.compare import as_text as people
from tools.files import read_bytes
from tools.npz import NpzArrays
from tools.program import program_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.model import Model, Result
    from emu_core.plugins import PluginHost
    from tools.npz import Array
    from tools.program import Wanted


@dataclass(frozen=True)
class Way:
    """One of the two ways: the loaded model, how many operators tile on the device, and the executions."""

    name: str
    model: Model
    sunk: int
    results: tuple[Result, ...]

    @property
    def ok(self) -> bool:
        """Whether every execution went well."""
        return all(result.ok for result in self.results)


def compare(path: str, inputs: Sequence[str], wanted: Wanted, host: PluginHost, *, rows: int, as_json: bool) -> int:
    """Show the comparison; returns the exit code.

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
    on_host = _way("host", (path, data), inputs, quiet, host)
    same = [_equal(a, b) for a, b in zip(sink.results, on_host.results, strict=True)]
    if as_json:
        machine.show(sink, on_host, same)
    else:
        people.show(sink, on_host, same, rows)
    return 0 if sink.ok and on_host.ok and all(same) else 1


def _way(name: str, graph: tuple[str, bytes], inputs: Sequence[str], wanted: Wanted, host: PluginHost) -> Way:
    """Compile, load and run `graph`, a file and what it held."""
    program = program_of(*graph, wanted, host)
    model = Device(program.blob.chip, program.policies, host).load(program.blob)
    if model.inputs and not inputs:
        names = ", ".join(port.name for port in model.inputs)
        what = f"the graph has inputs ({names})"
        raise InputError(what, id="input.none", remedy="give --inputs IN.npz with these arrays")
    results = tuple(model.execute(_arrays(model, file)) for file in inputs or (None,))
    return Way(name, model, sum(task.type == TaskType.UPDATE for task in program.blob.tasks), results)


def _arrays(model: Model, file: str | None) -> dict[str, Array]:
    """The inputs of the model out of a file."""
    arrays = NpzArrays(file) if file else {}
    return {port.name: arrays[port.name] for port in model.inputs if port.name in arrays}


def _equal(sink: Result, on_host: Result) -> bool:
    """Whether both gave the same outputs, byte for byte."""
    if set(sink.outputs) != set(on_host.outputs):
        return False
    return all(array.tobytes() == on_host.outputs[name].tobytes() for name, array in sink.outputs.items())
