"""`sqemu compile --explain` and `--dump-passes`: what the passes made of each node."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from tools.fitted import fitted, packed, tokens
from tools.show import columns, json_line, rows_as_text, safe
from tools.show import lines as show_lines
from tools.stacked import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emu_core.graph import Compiled
    from tools.files import Outputs

    Account = Mapping[str, object]


def explain_as_json(compiled: Compiled) -> None:
    """One object per decision, then one per node with everything that is known about it, then one for the graph."""
    for node, made_by, text in compiled.decisions:
        json_line({"node": node, "pass": made_by, "text": text})
    for account in _nodes(compiled):
        json_line({"explain": "node", **account})
    json_line({"explain": "graph", **{k: v for k, v in compiled.explanation.items() if k != "nodes"}})


def explain_as_text(compiled: Compiled) -> None:
    """A table of decisions, then per node its gates, attributes, resources and tasks."""
    fitted("decisions", ("node", "pass", "what"), _decided(compiled))
    for account in _nodes(compiled):
        click.echo("")
        paragraph(f"node {account['node']}: {account['type']}, tiled {_when(account)}", others=_INDENT)
        for words in _sentences(account):
            paragraph(words, indent=_INDENT, others=_INDENT * 2)
        _tasks(_listed(account, "tasks"))
    click.echo("")
    click.echo(click.style("tasks of no single node", bold=True))
    _tasks(_listed(compiled.explanation, "other tasks"))


def _decided(compiled: Compiled) -> list[tuple[str, str, str]]:
    """The decisions; one that was made for several nodes has a row where it is first made, with all their names."""
    nodes: dict[tuple[str, str], list[str]] = {}
    for node, made_by, text in compiled.decisions:
        nodes.setdefault((made_by, text), []).append(node or "(graph)")
    return [(", ".join(names), made_by, text) for (made_by, text), names in nodes.items()]


def write_passes(compiled: Compiled, folder: str, outputs: Outputs) -> None:
    """The snapshots as files `NN_pass.json` of `folder`, the same bytes for the same compilation."""
    for number, (name, snapshot) in enumerate(compiled.snapshots):
        text = json.dumps(snapshot, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        outputs.write(str(Path(folder) / f"{number:02}_{name}.json"), text.encode(), within=folder)


_INDENT = "  "
_HEAD = ("#", "task", "stream", "event")
_KEYS = ("index", *_HEAD[1:])
_RIGHT = ("#", "stream", "event")
_BEFORE, _ARGS = "args format before", "args format"


def _nodes(compiled: Compiled) -> Sequence[Account]:
    return cast("Sequence[Account]", compiled.explanation.get("nodes", ()))


def _listed(account: Account, key: str) -> Sequence[Account]:
    return cast("Sequence[Account]", account.get(key, ()))


def _when(account: Account) -> str:
    tiled = str(account["tiled"])
    return f"at {tiled}" if tiled.startswith("compile") else tiled


def _sentences(account: Account) -> list[str]:
    """Everything but the tasks, a line each; what says nothing is left out."""
    lines = [f"gate {g['gate']}: {g['state']} ({g['reason']})" for g in _listed(account, "gates")]
    if not lines:
        lines.append("gates: not asked")
    condition = cast("Mapping[str, bool]", account["condition"])
    lines.append(
        "sink condition: " + ", ".join(f"{what}: {'yes' if holds else 'no'}" for what, holds in condition.items())
    )
    if "super kernel" in account:
        lines.append(f"super kernel: {account['super kernel']}")
    if account["unknown shape because"]:
        lines.append(f"unknown shape: {account['unknown shape because']}")
    lines.extend(line for name, value in _pairs(account, "attributes") for line in _attribute(name, value))
    lines.append("tiling: " + ", ".join(f"{name} {_short(value)}" for name, value in _pairs(account, "tiling")))
    attached = account["attached stream"]
    shared = "" if attached is None else f", attached stream {attached}, event {account['event']}"
    return [*lines, f"resources: stream {account['stream']}{shared}; engine {account['engine']}"]


def _pairs(account: Account, key: str) -> list[tuple[str, object]]:
    return list(cast("Account", account[key]).items())


def _attribute(name: str, value: object) -> Iterator[str]:
    """An attribute as a line, a list of mappings as one per mapping, with what they hold as words."""
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        for number, each in enumerate(value):
            held = "; ".join(f"{key} {_short(part)}" for key, part in each.items())
            yield f"attribute {name}[{number}]: {held}"
    else:
        yield f"attribute {name} = {_short(value)}"


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _tasks(tasks: Sequence[Account]) -> None:
    """A row per task, one for a run of NOPs; below it what it is passed, and what that was before the sink."""
    found = list(_runs(tasks))
    head, rule, *rows = rows_as_text(_HEAD, [[run.get(key, "") for key in _KEYS] for run in found], right=_RIGHT)
    show_lines((head, rule))
    for row, run in zip(rows, found, strict=True):
        show_lines((row,))
        before, after = str(run.get(_BEFORE, "")), str(run.get(_ARGS, ""))
        for label, text in ((f"{_BEFORE}: ", before if before != after else ""), (f"{_ARGS}: ", after)):
            if text:
                show_lines(packed(tokens(safe(text)), columns(), first=_INDENT * 4 + label, others=_INDENT * 6))


def _runs(tasks: Sequence[Account]) -> Iterator[Account]:
    for kind, members in groupby(tasks, key=lambda task: task["task"] if task["task"] == "NOP" else task["index"]):
        run = list(members)
        yield {**run[0], "task": f"NOP x {len(run)}"} if kind == "NOP" and len(run) > 1 else run[0]
