"""An offline model as a task blob, to be checked, loaded and run (`docs/om.md`).

Operators and kernels that plugins have are taken over with everything the loader needs: arguments by args format,
tiling answers, the sink sequence. All others become timed stand-ins (`emu_plugins.runtime.stand_in`), marked with what
they stand for and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emu_plugins.om.chosen import Way, core_of, way_of
from emu_plugins.om.cursor import om_error
from emu_plugins.om.known import Known, known_operator, stored_tiling
from emu_plugins.om.names import task_name
from emu_plugins.om.tensors import CONSTANT, DATA, OUTPUT, Tensors
from emu_plugins.runtime.stand_in import FUNCTION, LIBRARY, MARK, kernel_for
from formats.blob import Blob, BlobEvent, BlobKernel, BlobOp, BlobStream, BlobTask, KernelType, TaskType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_plugins.om.reader import OmFile, OmModel
    from emu_plugins.om.tasks import Task
    from emu_plugins.om.values import Op

MADE_BY = "om"
"""Provenance of tasks that are taken over."""
LARGEST_ID = (1 << 31) - 1
MOST_BLOCKS = (1 << 32) - 1
NARROW = 0xFFFF
"""Block dims are narrowed to 16 bits; all ones stand for one that an update brings."""


@dataclass(frozen=True)
class OmProgram:
    """A blob of the model number `model`, and remarks on how it came about."""

    blob: Blob
    model: int
    notes: tuple[str, ...] = ()


def program_of_om(file: OmFile, chip: Chip, host: PluginHost) -> OmProgram:
    """The first model of `file` that has tasks, as a blob for `chip`.

    Raises:
        FormatError: `om.no-tasks`: no model has a task; `om.value`, `om.weights`: what no blob can hold.
    """
    number = next((i for i, model in enumerate(file.models) if model.task_list.tasks), None)
    if number is None:
        raise om_error(
            "om.no-tasks", "no model in the file has a task", "partition TASK_INFO", None,
            "sqemu dump shows what is in it; give a model that was compiled for a device",
        )  # fmt: skip
    model = file.models[number]
    made = _Builder(model, chip, host)
    blob = made.blob(model.name or file.header.name or "om")
    notes = list(made.notes)
    if len(file.models) > 1:
        notes.insert(0, f"the file has {len(file.models)} models; number {number} is taken, the host would call each")
    return OmProgram(blob, number, tuple(notes))


@dataclass
class _Builder:
    """One model on its way to a blob."""

    model: OmModel
    chip: Chip
    host: PluginHost
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tensors = Tensors(self.model)
        self.by_id: dict[int, Op] = {op.id: op for op in self.model.ops}
        self.tasks = self.model.task_list.tasks
        by_op: dict[int, list[Task]] = {}
        for task in self.tasks:
            if task.op_index is not None:
                by_op.setdefault(task.op_index, []).append(task)
        self.of_op = by_op
        self.known: dict[int, Known] = {
            number: known_operator(self.by_id[number], tasks, self.model, self.chip, self.host)
            for number, tasks in by_op.items()
            if number in self.by_id and self.by_id[number].type not in {*DATA, *CONSTANT, OUTPUT}
        }
        self.op_index: dict[int, int] = {}
        self.ops: list[BlobOp] = []
        self.kernels: dict[BlobKernel, int] = {}
        self.notify_base = 1 + max((t.event_id for t in self.tasks if t.event_id is not None), default=-1)

    def blob(self, name: str) -> Blob:
        """Everything."""
        tasks = [made for task in self.tasks for made in self._task(task)]
        *early, last = [i for i, task in enumerate(tasks) if task.type == TaskType.MODEL_END_GRAPH] or [-1]
        for index in early:
            made_by = f"{MARK}{task_name(TaskType.MODEL_END_GRAPH)}: a model ends once, with the last of them"
            tasks[index] = replace(tasks[index], type=TaskType.NOP, made_by=made_by)
        if last < 0:
            self.notes.append("the task list has no end of graph; one was put behind the last task")
            tasks.append(BlobTask(TaskType.MODEL_END_GRAPH, tasks[-1].stream_id if tasks else 0, made_by=MADE_BY))
        streams = sorted({task.stream_id for task in tasks})
        serves = self._serves(tasks)
        events = sorted({task.event_id for task in tasks if task.event_id is not None})
        return Blob(
            self.chip.name,
            name,
            streams=tuple(BlobStream(i, f"stream {i}", serves.get(i)) for i in streams),
            events=tuple(BlobEvent(i, self._flag_name(i)) for i in events),
            tasks=tuple(tasks),
            ops=tuple(self.ops),
            tensors=tuple(self.tensors.found),
            kernels=tuple(self.kernels),
            inputs=self.tensors.inputs,
            outputs=self.tensors.outputs,
        )

    def _flag_name(self, number: int) -> str:
        if number >= self.notify_base:
            return f"notify {number - self.notify_base}"
        return f"event {number}"

    def _serves(self, tasks: Iterable[BlobTask]) -> dict[int, int]:
        """Attached streams: those of tiling tasks, with the stream of the operator's kernel."""
        listed = list(tasks)
        main = {task.op: task.stream_id for task in listed if task.kernel is not None}
        return {
            task.stream_id: main[task.op]
            for task in listed
            if task.type == TaskType.PREPROCESS_KERNEL and main.get(task.op, task.stream_id) != task.stream_id
        }

    # ---- tasks -------------------------------------------------------------------------------------------------

    def _task(self, task: Task) -> tuple[BlobTask, ...]:
        _check(task)
        way, why = way_of(task)
        if way is Way.NONE:
            return ()
        op = self.by_id.get(task.op_index) if task.op_index is not None else None
        node = op.name if op else ""
        base = BlobTask(task.type, task.stream_id, node=node, made_by=MADE_BY)
        if way is Way.EVENT:
            return (replace(base, event_id=task.event_id),)
        if way is Way.NOTIFY:
            return (replace(base, event_id=self.notify_base + (task.notify_id or 0)),)
        if way in (Way.NOP, Way.END):
            return (base,)
        return (self._code(base, task, op, way, why),)

    def _code(self, base: BlobTask, task: Task, op: Op | None, way: Way, why: str) -> BlobTask:
        """A task that runs code, or stands in for it."""
        known = self.known.get(op.id) if op else None
        if way in (Way.KERNEL, Way.PREPROCESS, Way.UPDATE):
            if known is not None and not known.why_not:
                assert op is not None
                return self._taken_over(base, task, op, known)
            why = known.why_not if known else "no operator of the graph has its index"
        marked = replace(base, made_by=f"{MARK}{_called(task)}: {why}")
        if way in (Way.UPDATE, Way.NOTHING) or op is None:
            return replace(marked, type=TaskType.NOP)
        index = self._op(op, None)
        moved = sum(map(self.tensors.size, (*self.ops[index].inputs, *self.ops[index].outputs)))
        timed = replace(marked, type=TaskType.KERNEL, op=index, args_format=f"{{#{moved}}}")
        if way in (Way.PREPROCESS, Way.THREAD):
            return replace(timed, kernel_type=KernelType.AI_CPU, so_name=LIBRARY, kernel_name=FUNCTION)
        kernel = self._kernel(kernel_for(core_of(task, op)))
        blocks = self._blocks(task, op)
        return replace(timed, kernel=kernel, kernel_type=KernelType.TE, block_dim=blocks, kernel_name=task.kernel_name)

    def _blocks(self, task: Task, op: Op) -> int:
        """Blocks of a stand-in: the task's, or those of the stored tiling where an update would bring them."""
        if task.block_dim & NARROW != NARROW:
            return max(task.block_dim, 1)
        stored = stored_tiling(op, self.model)
        return max(stored.block_dim & (NARROW >> 1), 1) if stored else 1

    def _taken_over(self, base: BlobTask, task: Task, op: Op, known: Known) -> BlobTask:
        found = replace(
            base,
            op=self._op(op, known),
            args_format=task.args_format,
            kernel_type=task.kernel_type,
            so_name=task.so_name,
            schem=task.schedule_mode,
        )
        if task.type == TaskType.UPDATE:
            return found
        if task.type == TaskType.PREPROCESS_KERNEL:
            return replace(found, kernel_name=task.kernel_name)
        return replace(found, so_name="", block_dim=task.block_dim, kernel=self._kernel(known.kernel))

    def _kernel(self, kernel: BlobKernel) -> int:
        return self.kernels.setdefault(kernel, len(self.kernels))

    def _op(self, op: Op, known: Known | None) -> int:
        """Index of `op` in the blob; the first task of an operator decides how it is described, as all have one."""
        if op.id not in self.op_index:
            self.op_index[op.id] = len(self.ops)
            self.ops.append(self._described(op, known))
        return self.op_index[op.id]

    def _described(self, op: Op, known: Known | None) -> BlobOp:
        plain = BlobOp(
            op.name,
            op.type,
            self.tensors.inputs_of(op),
            self.tensors.outputs_of(op),
            workspaces=_sizes(op.workspace_bytes, op.name),
        )
        return plain if known is None else known.describe(plain)


def _sizes(sizes: Iterable[int], name: str) -> tuple[int, ...]:
    found = tuple(max(size, 0) for size in sizes)
    if any(size > LARGEST_ID << 15 for size in found):
        raise om_error("om.value", f"asks for a workspace of {max(found)} bytes", f"operator {name}")
    return found


def _check(task: Task) -> None:
    """Nothing for a task whose numbers a blob can hold."""
    for what, value, most in (
        ("stream", task.stream_id, LARGEST_ID),
        ("event", task.event_id or 0, LARGEST_ID >> 1),
        ("notify", task.notify_id or 0, LARGEST_ID >> 1),
        ("block dim", task.block_dim, MOST_BLOCKS),
        ("kernel type", task.kernel_type, LARGEST_ID),
        ("schedule mode", task.schedule_mode, LARGEST_ID),
    ):
        if value > most:
            raise om_error("om.value", f"has the {what} {value}, at most {most} is possible", f"task {task.index}")


def _called(task: Task) -> str:
    return task.kernel_name or task_name(task.type)
