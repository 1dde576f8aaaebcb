"""A graph file or text to its JSON mapping: the edge where the compiler meets the file system.

Mirrors the vendor's model file parsers in front of `aclgrphBuildModel`. Stricter than `json`: doubled keys,
NaN and Infinity are refused, since another reader would see another graph.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from emu_core.errors import GraphError, InputError, Problem

if TYPE_CHECKING:
    from pathlib import Path


class _RefusedError(ValueError):
    pass


def load_graph(path: Path) -> object:
    """The JSON value of graph file `path`, to be handed to the compiler together with `source=str(path)`.

    Raises:
        InputError: the file cannot be read (`input.file`) or is not UTF-8 text (`input.encoding`).
        GraphError: it is not JSON (`graph.json`).
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", id="input.file", where=str(path), remedy="check the path"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8", id="input.encoding", where=str(path), remedy="a graph is UTF-8 text"
        ) from None
    return load_graph_text(text, source=str(path))


def load_graph_text(text: str, *, source: str = "") -> object:
    """The JSON value of `text`.

    Raises:
        GraphError: not JSON, a key is given twice, NaN or Infinity, or nested too deeply (`graph.json`).
    """
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise _bad(error.msg, f"line {error.lineno} column {error.colno}", source) from None
    except _RefusedError as error:
        raise _bad(str(error), "graph", source) from None
    except RecursionError:
        raise _bad("lists or objects are nested too deeply", "graph", source) from None
    except ValueError:
        raise _bad("an integer has too many digits", "graph", source) from None


def _bad(what: str, where: str, source: str) -> GraphError:
    return GraphError(
        [Problem("graph.json", what, where, "a graph is one JSON object, see docs/graph.md")], source=source
    )


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _RefusedError(f"key {twice[:60]!a} is given twice in one object")
    return found


def _constant(text: str) -> object:
    raise _RefusedError(f"{text} is not a JSON number")
