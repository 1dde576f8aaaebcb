"""A series of executions of one loaded model: inputs in, outputs, traces and ring dumps out."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from tools.executions import Execution, output_name, ring_files, trace_lines
from tools.files import Outputs, check_distinct, require_folder
from tools.injection import tell
from tools.log_options import emit
from tools.npz import NpzArrays
from tools.progress import Progress
from tools.record.writer import RecordWriter
from tools.say import say
from tools.show import safe
from tools.wait_graph_file import picture, require_form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_core.injection import Verdict
    from emu_core.model import Model, Result
    from formats.blob import Blob
    from tools.files import TextOutput
    from tools.injection.compared import Compared
    from tools.log_options import LogWishes
    from tools.npz import Array


_MOST_NAMED = 4
"""Output files that are named one by one."""
_OF_ARRAYS = ("input.", "run.shape")
"""How ids begin of errors that the arrays of an execution cause."""


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
    wait_graph: str = ""
    log: LogWishes | None = None


@dataclass
class Tally:
    """How the series went: whether an execution failed, and how many hazards there were."""

    failed: bool = False
    hazards: int = 0


class Series:
    """Runs the executions; output files appear only when all of them succeed, traces and ring dumps in any case."""

    def __init__(
        self,
        model: Model,
        files: Sequence[str | None],
        wishes: Wishes,
        *,
        program: str,
        blob: Blob,
        compared: Compared | None = None,
    ) -> None:
        self.model = model
        self._compared = compared
        self._program = program
        self._blob = blob
        self._record: RecordWriter | None = None
        self._never = (program, *{f for f in files if f})
        self.files = files
        self.wishes = wishes
        self.tally = Tally()

    def run(self) -> Tally:
        """All executions in order, up to the first that fails.

        An error still leaves trace, ring dumps and record of what ran so far; an interruption leaves no file, and so
        does a trace, ring dump or record for which there is no room: files that were there before stay as they were.
        """
        never = self._never
        self._check_names()
        with Outputs(never=never) as results, Outputs(never=never) as records, contextlib.ExitStack() as stack:
            if self.wishes.outputs:
                results.check(output_name(self.wishes.outputs, 0, len(self.files)))
            if self.wishes.rings:
                require_folder(Path(os.path.realpath(self.wishes.rings)).parent, self.wishes.rings)
            trace = stack.enter_context(records.text(self.wishes.trace)) if self.wishes.trace else None
            if self.wishes.record:
                self._begin_record(records, stack)
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
            self._keep(records, trace)
            self._tell_never()
            if self.tally.failed:
                results.discard()
            results.commit()
            self._tell_outputs()
        return self.tally

    def _tell_outputs(self) -> None:
        """Where the outputs are, once they are there."""
        wishes = self.wishes
        if not wishes.outputs or self.tally.failed or wishes.quiet or wishes.as_json:
            return
        names = [safe(output_name(wishes.outputs, index, len(self.files))) for index in range(len(self.files))]
        click.echo("outputs -> " + (", ".join(names) if len(names) <= _MOST_NAMED else f"{names[0]} … {names[-1]}"))

    def _begin_record(self, records: Outputs, stack: contextlib.ExitStack) -> None:
        part = records.begin(self.wishes.record)
        with records.writing(self.wishes.record):
            self._record = RecordWriter(part, self._blob, self._program)
        stack.callback(self._record.close)

    def _keep(self, records: Outputs, trace: TextOutput | None) -> None:
        """Put trace, ring dumps and record in place, all of them or, when one could not be written, none."""
        if records.failed:
            records.discard()
            return
        if trace:
            trace.close()
        if self._record:
            with records.writing(self.wishes.record):
                self._record.finish(self.model)
        records.commit()

    def _check_names(self) -> None:
        """Refuse two outputs of one name before anything runs."""
        wishes, count = self.wishes, len(self.files)
        outputs = [output_name(wishes.outputs, index, count) for index in range(count)] if wishes.outputs else []
        if wishes.wait_graph:
            require_form(wishes.wait_graph)
        check_distinct([*outputs, wishes.trace, wishes.record, wishes.wait_graph])

    def _one(self, index: int, results: Outputs, records: Outputs, trace: TextOutput | None) -> None:
        model, wishes = self.model, self.wishes
        before = model.rings() if wishes.rings or wishes.record else {}
        try:
            result, verdict = self._execute(self._arrays(index))
        except InputError as error:
            raise self._named(error, index) from None
        finally:
            if trace:
                trace.write(trace_lines(model.device.trace).decode())
            if wishes.log is not None:
                emit(model.device.trace, wishes.log, device=model.device.chip.name, model=model.id)
        self._tell(index, result, verdict)
        if result is None:
            return
        if wishes.rings:
            for name, data in ring_files(model, before, index if len(self.files) > 1 else None):
                records.write(f"{wishes.rings}/{name}", data, within=wishes.rings)
        if wishes.wait_graph and result.deadlock is not None and result.deadlock.graph is not None:
            records.write(wishes.wait_graph, picture(wishes.wait_graph, result.deadlock.graph))
        if self._record:
            with records.writing(wishes.record):
                self._record.add(model, result, before, self.files[index])
        if wishes.outputs and result.ok:
            results.write_npz(output_name(wishes.outputs, index, len(self.files)), result.outputs)
        model.device.clear_history()

    def _execute(self, arrays: Mapping[str, Array]) -> tuple[Result | None, Verdict | None]:
        """One execution; with a plan of injections what came of it, and no result when a plugin broke over it."""
        return (self.model.execute(arrays), None) if self._compared is None else self._compared.execute(arrays)

    def _tell_never(self) -> None:
        """Injections that never happened, which make the series fail: what they were to show is not shown."""
        never = self._compared.never() if self._compared is not None else ()
        if never:
            tell.never(never, as_json=self.wishes.as_json)
            self.tally.failed = True

    def _arrays(self, index: int) -> Mapping[str, Array]:
        """Arrays of one execution, read when it is due; names that are no input are said once."""
        path = self.files[index]
        arrays: Mapping[str, Array] = {} if path is None else NpzArrays(path)
        unused = sorted(set(arrays) - {port.name for port in self.model.inputs})
        if unused and index == self.files.index(path):
            say(f"note: {path}: no input of the graph is called {', '.join(unused)}; ignored")
        return arrays

    def _named(self, error: InputError, index: int) -> InputError:
        """The error with the file it is about; without a file, with the execution if there are several."""
        path = self.files[index] or (f"execution {index + 1}" if len(self.files) > 1 else "")
        named = not path or error.where.startswith(path) or not error.id.startswith(_OF_ARRAYS)
        where = error.where if named else ": ".join(filter(None, (path, error.where)))
        return InputError(error.what, id=error.id, where=where, remedy=error.remedy)

    def _tell(self, index: int, result: Result | None, verdict: Verdict | None) -> None:
        found = Execution(failed=True) if result is None else Execution.of(self.model, result)
        self.tally.failed |= found.failed or (verdict is not None and not verdict.good)
        self.tally.hazards += len(found.hazards)
        wishes = self.wishes
        if verdict is not None:
            tell.causes(verdict, as_json=wishes.as_json)
        found.show(quiet=wishes.quiet, as_json=wishes.as_json, patches=wishes.patches)
        if verdict is not None:
            tell.outcome(verdict, as_json=wishes.as_json)
        left = len(self.files) - index - 1
        if self.tally.failed and not wishes.as_json:
            more = f"{left} more execution{'s were' if left != 1 else ' was'} not started" if left else ""
            outputs = "no output was written" if wishes.outputs else ""
            if more or outputs:
                click.echo("  " + "; ".join(text for text in (more, outputs) if text))
