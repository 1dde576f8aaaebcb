"""What the importers share: problems collected and raised together, and node lists made as long as the operator's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import GraphError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_core.operators import OperatorSpec

UNSUPPORTED = "graph.import"


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


def padded_inputs(
    op_type: str, inputs: Sequence[str | None], operators: Mapping[str, OperatorSpec]
) -> list[str | None]:
    """`inputs` with None for the optional ones that were left out at the end."""
    spec = operators.get(op_type)
    missing = len(spec.inputs) - len(inputs) if spec else 0
    return [*inputs, *[None] * max(missing, 0)]


def padded_outputs(op_type: str, outputs: Sequence[str], name: str, operators: Mapping[str, OperatorSpec]) -> list[str]:
    """`outputs` with a name for each output that the file leaves out, because nobody reads it."""
    spec = operators.get(op_type)
    count = len(spec.outputs) if spec else len(outputs)
    listed = [each or f"{name}:{k}" for k, each in enumerate(outputs)]
    return [*listed, *(f"{name}:{k}" for k in range(len(listed), count))]
