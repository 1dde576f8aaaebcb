"""`sqemu compile --explain` and `--dump-passes`: what the passes made of each node."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from tools.show import json_line, safe, table

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
    table("decisions", ("node", "pass", "what"), [(n or "(graph)", p, t) for n, p, t in compiled.decisions])
    for account in _nodes(compiled):
        click.echo("")
        click.echo(f"node {safe(str(account['node']))}: {safe(str(account['type']))}, tiled {_when(account)}")
        for words in _sentences(account):
            click.echo(f"  {safe(words)}")
        table("", _HEAD, list(_rows(_listed(account, "tasks"))), right=_RIGHT)
    click.echo("")
    table("tasks of no single node", _HEAD, list(_rows(_listed(compiled.explanation, "other tasks"))), right=_RIGHT)


def write_passes(compiled: Compiled, folder: str, outputs: Outputs) -> None:
    """The snapshots as files `NN_pass.json` of `folder`, the same bytes for the same compilation."""
    for number, (name, snapshot) in enumerate(compiled.snapshots):
        text = json.dumps(snapshot, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        outputs.write(str(Path(folder) / f"{number:02}_{name}.json"), text.encode())


_HEAD = ("#", "task", "stream", "event", "args format before", "args format")
_KEYS = ("index", *_HEAD[1:])
_RIGHT = ("#", "stream", "event")


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
    lines.extend(f"attribute {name} = {_short(value)}" for name, value in _pairs(account, "attributes"))
    lines.append("tiling: " + ", ".join(f"{name} {_short(value)}" for name, value in _pairs(account, "tiling")))
    attached = account["attached stream"]
    shared = "" if attached is None else f", attached stream {attached}, event {account['event']}"
    return [*lines, f"resources: stream {account['stream']}{shared}; engine {account['engine']}"]


def _pairs(account: Account, key: str) -> list[tuple[str, object]]:
    return list(cast("Account", account[key]).items())


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rows(tasks: Sequence[Account]) -> Iterator[tuple[str, ...]]:
    """A row per task, one for a run of NOPs."""
    for kind, members in groupby(tasks, key=lambda task: task["task"] if task["task"] == "NOP" else task["index"]):
        run = list(members)
        found = {**run[0], "task": f"NOP x {len(run)}"} if kind == "NOP" and len(run) > 1 else run[0]
        yield tuple(str(found.get(key, "")) for key in _KEYS)
