"""Every index of a blob that points to something else in it, as one list for encode and decode."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats.blob.model import Blob, BlobOp, BlobTask


class Reference(NamedTuple):
    """An index: who holds it (section, record, field of the layout), what it is, and the limit it must stay below."""

    section: str
    record: int
    field: str
    what: str
    value: int
    limit: int


def bad_references(blob: Blob) -> Iterator[Reference]:
    """The indices of `blob` that point nowhere."""
    return (r for r in _references(blob) if not 0 <= r.value < r.limit)


def _references(blob: Blob) -> Iterator[Reference]:
    tensors = len(blob.tensors)
    for name, indices in (("inputs", blob.inputs), ("outputs", blob.outputs)):
        for k, index in enumerate(indices):
            yield Reference(name, k, "tensor", "tensor", index, tensors)
    for k, task in enumerate(blob.tasks):
        yield from _of_task(k, task, blob)
    for k, op in enumerate(blob.ops):
        yield from _of_op(k, op, tensors)


def _of_task(k: int, task: BlobTask, blob: Blob) -> Iterator[Reference]:
    if task.op is not None:
        yield Reference("tasks", k, "op", "operator", task.op, len(blob.ops))
    if task.kernel is not None:
        yield Reference("tasks", k, "kernel", "kernel", task.kernel, len(blob.kernels))


def _of_op(k: int, op: BlobOp, tensors: int) -> Iterator[Reference]:
    lists: Iterable[tuple[str, Iterable[int | None], int]] = (
        ("input tensor", op.inputs, tensors),
        ("output tensor", op.outputs, tensors),
        ("input it depends on", op.depends, len(op.inputs)),
    )
    for what, indices, limit in lists:
        for index in indices:
            if index is not None:
                yield Reference("ops", k, "first_operand", what, index, limit)
