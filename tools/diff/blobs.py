"""Two task blobs, section by section: tasks aligned by what they are, the rest by name or number."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.blob import Blob, BlobEvent, BlobKernel, BlobOp, BlobStream, BlobTask, BlobTensor, TensorRole
from tools.dump.blob import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Record = dict[str, object]

_KEYS: Mapping[str, str] = MappingProxyType({
    "streams": "id", "events": "id", "ops": "name", "tensors": "name", "kernels": "name", "policies": "name",
})  # fmt: skip
_SIGNATURE = ("kind", "stream_id", "op", "made_by", "kernel_name")
_POSITIONS = frozenset({"section", "index"})
MOST_MATCHED = 20_000
"""Tasks of one blob that are aligned by what they are; longer lists are aligned by position."""

_ONE_OF_EACH = Blob(
    chip="",
    name="",
    streams=(BlobStream(0, ""),),
    events=(BlobEvent(0, ""),),
    tasks=(BlobTask(0, 0),),
    ops=(BlobOp("", "", (), ()),),
    tensors=(BlobTensor("", 0, (), TensorRole.INTERMEDIATE, 0),),
    kernels=(BlobKernel("", 0, ()),),
    policies={"": ""},
)
"""A blob with a record in every section, whose keys are all there are."""


@dataclass(frozen=True)
class Change:
    """One record that differs: section, what it is called, and its values on each side (None: not there)."""

    section: str
    name: str
    a: Record | None
    b: Record | None

    @property
    def fields(self) -> dict[str, tuple[object, object]]:
        """Keys whose values differ."""
        if self.a is None or self.b is None:
            return {}
        keys = [k for k in dict.fromkeys((*self.a, *self.b)) if k not in _POSITIONS]
        return {k: (self.a.get(k), self.b.get(k)) for k in keys if self.a.get(k) != self.b.get(k)}


def compare(a: Blob, b: Blob, ignored: frozenset[str]) -> Iterator[Change]:
    """Everything that differs, in the order of the sections."""
    head = _head(a), _head(b)
    yield from _kept(Change("header", "blob", *head), ignored)
    for section in SECTIONS:
        left, right = list(section.records(a)), list(section.records(b))
        changes = _tasks(left, right) if section.name == "tasks" else _by_key(section.name, left, right)
        for change in changes:
            yield from _kept(change, ignored)


def names() -> frozenset[str]:
    """Names of all values that are compared, whatever the blob."""
    keys = {key for section in SECTIONS for record in section.records(_ONE_OF_EACH) for key in record}
    return frozenset({*_head(_ONE_OF_EACH), *keys} - _POSITIONS)


def _kept(change: Change, ignored: frozenset[str]) -> Iterator[Change]:
    if change.a is None or change.b is None or set(change.fields) - ignored:
        yield change


def _head(blob: Blob) -> Record:
    return {
        "chip": blob.chip,
        "name": blob.name,
        "unknown_shape": blob.unknown_shape,
        "inputs": [blob.tensors[i].name for i in blob.inputs],
        "outputs": [blob.tensors[i].name for i in blob.outputs],
    }


def _by_key(section: str, left: Sequence[Record], right: Sequence[Record]) -> Iterator[Change]:
    key = _KEYS[section]
    theirs = {r[key]: r for r in right}
    for mine in left:
        yield Change(section, str(mine[key]), mine, theirs.pop(mine[key], None))
    for other in theirs.values():
        yield Change(section, str(other[key]), None, other)


def _tasks(left: Sequence[Record], right: Sequence[Record]) -> Iterator[Change]:
    """Tasks in list order; a run of replaced ones is paired by position."""
    for first_a, end_a, first_b, end_b in _runs(left, right):
        for k in range(max(end_a - first_a, end_b - first_b)):
            mine = left[first_a + k] if first_a + k < end_a else None
            theirs = right[first_b + k] if first_b + k < end_b else None
            shown = mine or theirs
            assert shown is not None
            yield Change("tasks", f"{shown['index']} {shown['kind']}", mine, theirs)


def _runs(left: Sequence[Record], right: Sequence[Record]) -> Iterator[tuple[int, int, int, int]]:
    if max(len(left), len(right)) > MOST_MATCHED:
        yield 0, len(left), 0, len(right)
        return
    a, b = ([tuple(r[k] for k in _SIGNATURE) for r in side] for side in (left, right))
    for _, first_a, end_a, first_b, end_b in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        yield first_a, end_a, first_b, end_b
