"""A graph of one operator, made from the arrays of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from emu_core.errors import InputError
from formats.dtypes import BY_NAME
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from emu_core.operators import Case, InputSpec, OperatorSpec
    from emu_core.plugins import PluginHost

    Array = npt.NDArray[np.generic]


def find_operator(host: PluginHost, name: str) -> OperatorSpec:
    """The operator with this alias or type; `InputError` lists the known ones."""
    for spec in host.operators.values():
        if name in (spec.alias, spec.type):
            return spec
    known = ", ".join(sorted(f"{s.alias} ({s.type})" if s.alias else s.type for s in host.operators.values()))
    close = nearest(name, [each for s in host.operators.values() for each in (s.type, s.alias) if each])
    remedy = f"did you mean {' or '.join(close)}?" if close else f"known: {known}"
    raise InputError(
        f"there is no operator {name!r}",
        id="operator.unknown",
        remedy=f"{remedy}; --plugin loads a plugin that brings others",
    )


def make_case(spec: OperatorSpec, arrays: Mapping[str, Array], path: str) -> Case:
    """The case in `arrays`; `InputError` (`case.missing-key`) lists what is missing and what was found."""
    if spec.case is None:
        raise InputError(
            f"operator {spec.type} does not say how to read a case", id="case.unsupported", remedy="put it in a graph"
        )
    missing = [i.name for i in spec.inputs if not i.optional and i.name not in arrays]
    if not missing:
        try:
            return spec.case(arrays)
        except KeyError as error:
            missing = [str(error.args[0])]
        except (TypeError, ValueError) as error:
            raise InputError(f"holds no case of {spec.type}: {error}", id="case.value", where=path) from None
    wanted = ", ".join(f"{i.name} (optional)" if i.optional else i.name for i in spec.inputs)
    raise InputError(
        f"lacks the array{'s' if len(missing) > 1 else ''} {', '.join(map(repr, missing))}",
        id="case.missing-key",
        where=path,
        remedy=f"a case of {spec.type} has {wanted}; keys found: {', '.join(sorted(arrays)) or 'none'}",
    )


class _Watched(Mapping[str, "Array"]):
    """Arrays that remember which of them were asked for."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Array:
        self.asked.add(name)
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def read_case(spec: OperatorSpec, arrays: Mapping[str, Array], path: str) -> tuple[Case, list[str]]:
    """The case, and the keys of the file that it did not look at."""
    watched = _Watched(arrays)
    case = make_case(spec, watched, path)
    known = {i.name for i in spec.inputs} | {o.name for o in spec.outputs}
    return case, sorted(set(arrays) - watched.asked - known)


def case_graph(spec: OperatorSpec, case: Case) -> dict[str, object]:
    """The JSON graph: every array an input of the graph, tiling sink asked for."""
    given = list(zip(spec.inputs, case.inputs, strict=True))
    return {
        "format": "sqemu-graph",
        "version": 1,
        "name": spec.alias or spec.type,
        "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [
            {"name": i.name, "dtype": _dtype(i, array), "shape": list(array.shape)}
            for i, array in given
            if array is not None
        ],
        "nodes": [
            {
                "name": f"{spec.alias or spec.type}0",
                "type": spec.type,
                "inputs": [None if array is None else i.name for i, array in given],
                "outputs": [o.name for o in spec.outputs],
                "attrs": dict(case.attrs),
            }
        ],
        "outputs": [o.name for o in spec.outputs],
    }


def case_arrays(spec: OperatorSpec, case: Case) -> dict[str, Array]:
    """The arrays that are there, by IR input name."""
    return {i.name: array for i, array in zip(spec.inputs, case.inputs, strict=True) if array is not None}


def _dtype(spec: InputSpec, array: Array) -> str:
    """Element type name of an array: the one of the input's types it can carry, else the numpy type's own."""
    allowed = [BY_NAME[name] for name in spec.dtypes] or list(BY_NAME.values())
    for dtype in (*allowed, *BY_NAME.values()):
        if np.dtype(dtype.carrier) == array.dtype:
            return dtype.name
    raise InputError(
        f"has the numpy type {array.dtype}, which no tensor holds",
        id="input.dtype",
        where=f"input {spec.name}",
        remedy=f"use one of {', '.join(BY_NAME)}",
    )
