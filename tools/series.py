"""A series of executions of one loaded model: inputs in, outputs, traces and ring dumps out."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import click

from emu_core.errors import InputError
from tools.executions import Execution, output_name, ring_files, trace_lines
from tools.files import Outputs, check_distinct
from tools.npz import NpzArrays
from tools.progress import Progress
from tools.record.writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_core.model import Model, Result
    from formats.blob import Blob
    from tools.npz import Array


@dataclass(frozen=True)
class Wishes:
    """What is to be written and shown; empty names: not at all."""

    outputs: str = ""
    trace: str = ""
    rings: str = ""
    record: str = ""
    quiet: bool = False
    as_json: bool = False
    patches: bool = False


@dataclass
class Tally:
    """How the series went: whether an execution failed, and how many hazards there were."""

    failed: bool = False
    hazards: int = 0


class Series:
    """Runs the executions; output files appear only when all of them succeed, traces and ring dumps in any case."""

    def __init__(self, model: Model, files: Sequence[str | None], wishes: Wishes, *, program: str, blob: Blob) -> None:
        self.model = model
        self._program = program
        self._blob = blob
        self._record: RecordWriter | None = None
        self._never = (program, *{f for f in files if f})
        self.files = files
        self.wishes = wishes
        self.tally = Tally()

    def run(self) -> Tally:
        """All executions in order, up to the first that fails.

        An error still leaves trace, ring dumps and record of what ran so far; an interruption leaves no file.
        """
        never = self._never
        self._check_names()
        with Outputs(never=never) as results, Outputs(never=never) as records, contextlib.ExitStack() as stack:
            if self.wishes.outputs:
                results.check(output_name(self.wishes.outputs, 0, len(self.files)))
            trace = stack.enter_context(records.text(self.wishes.trace)) if self.wishes.trace else None
            if self.wishes.record:
                self._record = RecordWriter(records.begin(self.wishes.record), self._blob, self._program)
            progress = stack.enter_context(Progress("execution", len(self.files)))
            try:
                for index in range(len(self.files)):
                    self._one(index, results, records, trace)
                    if self.tally.failed:
                        break
                    progress.step()
            except Exception:
                self._keep(records, trace)
                raise
            except BaseException:  # interrupted: nothing is kept
                if self._record:
                    self._record.close()
                raise
            self._keep(records, trace)
            if self.tally.failed:
                results.discard()
            results.commit()
        return self.tally

    def _keep(self, records: Outputs, trace: IO[str] | None) -> None:
        """Put trace, ring dumps and record in place."""
        if trace:
            trace.close()
        if self._record:
            self._record.finish(self.model)
        records.commit()

    def _check_names(self) -> None:
        """Refuse two outputs of one name before anything runs."""
        wishes, count = self.wishes, len(self.files)
        outputs = [output_name(wishes.outputs, index, count) for index in range(count)] if wishes.outputs else []
        check_distinct([*outputs, wishes.trace, wishes.record])

    def _one(self, index: int, results: Outputs, records: Outputs, trace: IO[str] | None) -> None:
        model, wishes = self.model, self.wishes
        before = model.rings() if wishes.rings or wishes.record else {}
        try:
            result = model.execute(self._arrays(index))
        except InputError as error:
            raise self._named(error, index) from None
        finally:
            if trace:
                trace.write(trace_lines(model.device.trace).decode())
        self._tell(index, result)
        if wishes.rings:
            for name, data in ring_files(model, before, index if len(self.files) > 1 else None):
                records.write(f"{wishes.rings}/{name}", data)
        if self._record:
            self._record.add(model, result, before, self.files[index])
        if wishes.outputs and result.ok:
            results.write_npz(output_name(wishes.outputs, index, len(self.files)), result.outputs)
        model.device.clear_history()

    def _arrays(self, index: int) -> Mapping[str, Array]:
        """Arrays of one execution, read when it is due; names that are no input are said once."""
        path = self.files[index]
        arrays: Mapping[str, Array] = {} if path is None else NpzArrays(path)
        unused = sorted(set(arrays) - {port.name for port in self.model.inputs})
        if unused and index == self.files.index(path):
            click.echo(f"note: {path}: no input of the graph is called {', '.join(unused)}; ignored", err=True)
        return arrays

    def _named(self, error: InputError, index: int) -> InputError:
        """The error with the file it is about."""
        path = self.files[index]
        named = not path or error.where.startswith(path) or not error.id.startswith("input.")
        where = error.where if named else f"{path}: {error.where}"
        return InputError(error.what, id=error.id, where=where, remedy=error.remedy)

    def _tell(self, index: int, result: Result) -> None:
        found = Execution.of(self.model, result)
        self.tally.failed |= found.failed
        self.tally.hazards += len(found.hazards)
        wishes = self.wishes
        target = output_name(wishes.outputs, index, len(self.files)) if wishes.outputs and result.ok else ""
        found.show(quiet=wishes.quiet, as_json=wishes.as_json, patches=wishes.patches, target=target)
        left = len(self.files) - index - 1
        if found.failed and not wishes.as_json:
            more = f"{left} more execution{'s were' if left != 1 else ' was'} not started" if left else ""
            outputs = "no output was written" if wishes.outputs else ""
            if more or outputs:
                click.echo("  " + "; ".join(text for text in (more, outputs) if text))
