"""Graphs in Python: a builder that gives the mapping which the compiler takes.

```python
from emu_core import compile_graph
from emu_plugins.importers import GraphBuilder

g = GraphBuilder("probe")
x = g.input("x", "float32", [64])
n = g.input("n", "int32", [1])
y = g.node("TilingProbe", x, n, name="probe0", add_x=1)
g.output(y)
blob = compile_graph(g.build(), "ascend310p3", {"ge.tiling_schedule_optimize": "1"})
```

Nothing is checked but what the builder needs itself; the compiler reports everything else, all of it together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from emu_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    Data: TypeAlias = "Sequence[bool | int | float] | bytes | npt.NDArray[np.generic]"

Attr: TypeAlias = "bool | int | float | str | Sequence[int] | Sequence[float]"


@dataclass(frozen=True)
class Tensor:
    """A tensor of the graph that is being built, by its name."""

    name: str


class GraphBuilder:
    """Builds one graph.

    Args:
        name: name of the graph.
        options: GE options of the graph, text by key.
    """

    def __init__(self, name: str, options: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._options = dict(options or {})
        self._inputs: list[dict[str, object]] = []
        self._constants: list[dict[str, object]] = []
        self._nodes: list[dict[str, object]] = []
        self._outputs: list[str] = []
        self._count: dict[str, int] = {}

    def option(self, key: str, value: str) -> None:
        """Set GE option `key` of the graph."""
        self._options[key] = value

    def input(self, name: str, dtype: str, shape: Sequence[int]) -> Tensor:
        """A tensor that the caller supplies at each run; `shape` in elements."""
        self._inputs.append({"name": name, "dtype": dtype, "shape": list(shape)})
        return Tensor(name)

    def constant(self, name: str, dtype: str, shape: Sequence[int], data: Data) -> Tensor:
        """A tensor with data: one number per element row by row, an array, or the bytes themselves.

        An array is taken as it lies in memory, little endian; bfloat16 travels as uint16.
        """
        found: object = list(data) if isinstance(data, (list, tuple)) else data
        if not isinstance(found, (list, bytes)):
            found = _array_bytes(found)
        self._constants.append({"name": name, "dtype": dtype, "shape": list(shape), "data": found})
        return Tensor(name)

    def node(
        self,
        op_type: str,
        *inputs: Tensor | Sequence[Tensor] | None,
        name: str = "",
        outputs: Sequence[str] = (),
        **attrs: Attr,
    ) -> Tensor:
        """An operator with one output, which is returned.

        Args:
            op_type: operator type.
            inputs: tensors of this graph in IR order, None for an absent optional one, a list for a dynamic one.
            name: node name; by default the type in lower case and a number.
            outputs: names of the outputs; by default the node's name with `_out` behind it.
            attrs: attributes by name; GE attributes as well.
        """
        return self.nodes(op_type, *inputs, name=name, outputs=outputs, count=1, **attrs)[0]

    def nodes(
        self,
        op_type: str,
        *inputs: Tensor | Sequence[Tensor] | None,
        name: str = "",
        outputs: Sequence[str] = (),
        count: int = 0,
        **attrs: Attr,
    ) -> tuple[Tensor, ...]:
        """As :meth:`node`, for an operator with `count` outputs (by default as many as `outputs` names).

        Raises:
            InputError: `graph.builder`: neither names nor a count of outputs, or an input that is no tensor of a graph.
        """
        chosen = name or self._free_name(op_type)
        names = list(outputs) or [f"{chosen}_out{k if count > 1 else ''}" for k in range(count)]
        if not names:
            raise InputError(
                "has no outputs", id="graph.builder", where=f"node {chosen}", remedy="give outputs=[…] or count=N"
            )
        node: dict[str, object] = {
            "name": chosen,
            "type": op_type,
            "inputs": [_entry(each, chosen) for each in inputs],
            "outputs": names,
        }
        if attrs:
            node["attrs"] = {key: list(v) if isinstance(v, (list, tuple)) else v for key, v in attrs.items()}
        self._nodes.append(node)
        return tuple(Tensor(each) for each in names)

    def output(self, *tensors: Tensor) -> None:
        """Return `tensors` from the graph, in this order, behind those named before."""
        self._outputs.extend(each.name for each in tensors)

    def build(self) -> dict[str, object]:
        """The graph as the compiler takes it; the builder can go on afterwards."""
        found: dict[str, object] = {"format": "sqemu-graph", "version": 1, "name": self.name}
        if self._options:
            found["options"] = dict(self._options)
        listed = {
            "inputs": self._inputs,
            "constants": self._constants,
            "nodes": self._nodes,
        }
        found |= {key: [dict(each) for each in values] for key, values in listed.items()}
        return {**found, "outputs": list(self._outputs)}

    def _free_name(self, op_type: str) -> str:
        number = self._count.get(op_type, 0)
        self._count[op_type] = number + 1
        return f"{op_type.lower()}{number}"


def _entry(given: Tensor | Sequence[Tensor] | None, node: str) -> str | list[str] | None:
    """The entry of a node's inputs; refuses what is no tensor (`graph.builder`)."""
    if given is None or isinstance(given, Tensor):
        return None if given is None else given.name
    listed = given if isinstance(given, (list, tuple)) else (given,)
    wrong = [type(each).__name__ for each in listed if not isinstance(each, Tensor)]
    if wrong:
        raise InputError(
            f"an input is of type {wrong[0]}, not a Tensor",
            id="graph.builder",
            where=f"node {node}",
            remedy="give what input(), constant() or node() returned, a list of these, or None",
        )
    return [each.name for each in listed]


def _array_bytes(array: object) -> bytes:
    import numpy as np  # noqa: PLC0415 - only constants from arrays need it

    found = np.ascontiguousarray(array)
    return found.astype(found.dtype.newbyteorder("<"), copy=False).tobytes()
