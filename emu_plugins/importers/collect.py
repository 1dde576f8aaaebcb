"""What the importers share: problems collected and raised together, and node lists made as long as the operator's."""

from __future__ import annotations

from itertools import count, takewhile
from typing import TYPE_CHECKING, TypeAlias

from emu_core.errors import GraphError, Problem

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from emu_core.operators import OperatorSpec

UNSUPPORTED = "graph.import"
Entry: TypeAlias = "str | Sequence[str | None] | None"
"""An entry of a node's inputs: a name, None for an absent one, the names of a dynamic one."""


class Refusals:
    """Collects what an importer cannot take."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: list[Problem] = []

    def note(self, what: str, where: str, remedy: str = "") -> None:
        """Note one thing; reading goes on."""
        self._found.append(Problem(UNSUPPORTED, what, where, remedy))

    def stop_if_bad(self) -> None:
        """Raise what was found.

        Raises:
            GraphError: at least one thing was noted.
        """
        if self._found:
            raise GraphError(self._found, source=self._source)


def padded_inputs(op_type: str, inputs: Sequence[str | None], operators: Mapping[str, OperatorSpec]) -> list[Entry]:
    """`inputs` with None for the optional ones that were left out at the end, those of a dynamic one as a list.

    A file that lists tensors one after the other says how many belong to a dynamic input only where there is one such
    input, which then takes what the others leave; with several, all of them but the last take one tensor each.
    """
    spec = operators.get(op_type)
    if spec is None:
        return list(inputs)
    last = max((k for k, each in enumerate(spec.inputs) if each.dynamic), default=None)
    if last is None:
        return [*inputs, *[None] * max(len(spec.inputs) - len(inputs), 0)]
    taken = max(len(inputs) - len(spec.inputs) + 1, 1)
    padded = [*inputs, *[None] * max(len(spec.inputs) - len(inputs), 0)]
    listed: list[Entry] = [*padded[:last], tuple(padded[last : last + taken]), *padded[last + taken :]]
    return [
        _as_list(each) if k < len(spec.inputs) and spec.inputs[k].dynamic else each for k, each in enumerate(listed)
    ]


def named_inputs(spec: OperatorSpec, by_name: Mapping[str, str | None]) -> list[Entry]:
    """Inputs by IR index from tensors by instance name; those of a dynamic input `x` are `x0`, `x1` and so on."""
    return [
        [by_name[name] for name in _instance_names(each.name, by_name)] if each.dynamic else by_name.get(each.name)
        for each in spec.inputs
    ]


def _instance_names(name: str, known: Container[str]) -> Iterator[str]:
    return takewhile(lambda each: each in known, (f"{name}{k}" for k in count()))


def _as_list(entry: Entry) -> Entry:
    found = entry if isinstance(entry, (tuple, list)) else (entry,)
    return [each for each in found if each is not None]


def padded_outputs(op_type: str, outputs: Sequence[str], name: str, operators: Mapping[str, OperatorSpec]) -> list[str]:
    """`outputs` with a name for each output that the file leaves out, because nobody reads it."""
    spec = operators.get(op_type)
    count = len(spec.outputs) if spec else len(outputs)
    listed = [each or f"{name}:{k}" for k, each in enumerate(outputs)]
    return [*listed, *(f"{name}:{k}" for k in range(len(listed), count))]
