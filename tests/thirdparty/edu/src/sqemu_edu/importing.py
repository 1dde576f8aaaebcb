"""An importer: the line `edu-stripe,NAME,ELEMENTS` is a graph of one EduStripe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu_core import GraphError, ImporterSpec, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import OperatorSpec

START = b"edu-stripe,"


def _recognise(head: bytes) -> bool:
    return head.startswith(START)


def _read(data: bytes, operators: Mapping[str, OperatorSpec], source: str) -> Mapping[str, Any]:
    del operators
    words = data.decode("utf-8", "replace").strip().split(",")
    if len(words) != 3 or not words[2].isdecimal():
        problem = Problem("edu.line", "is not edu-stripe,NAME,ELEMENTS", "line 1", "for example edu-stripe,a,10")
        raise GraphError([problem], source=source)
    return {
        "format": "sqemu-graph",
        "version": 1,
        "name": words[1],
        "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [
            {"name": "x", "dtype": "float32", "shape": [int(words[2])]},
            {"name": "n", "dtype": "int32", "shape": [1]},
        ],
        "nodes": [{"name": words[1], "type": "EduStripe", "inputs": ["x", "n"], "outputs": ["y"]}],
        "outputs": ["y"],
    }


SPECS = (ImporterSpec("edu line", _recognise, _read, "edu-stripe,NAME,ELEMENTS"),)
