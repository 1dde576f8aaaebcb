"""What `sqemu diff` does, once its options are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from emu_core.errors import OptionError
from tools.diff import blobs, entries, ignored
from tools.diff.side import Program, Ring, side
from tools.dump.known import known_names
from tools.dump.request import Request as Dump
from tools.dump.sqes import head_of
from tools.files import STDIN
from tools.given_plugins import make_host
from tools.show import cut, json_line, lines, safe, width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats import Registry
    from tools.dump.known import Known
    from tools.dump.selection import Selection

DIFFERENT = 1


@dataclass(frozen=True)
class Request:
    """The command line; `families` holds none, one for both sides, or one for each."""

    a: str
    b: str
    families: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    where: str | None = None
    ignored: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    as_json: bool = False

    def family(self, which: int) -> str | None:
        """The family of side 0 or 1, None when it is guessed."""
        return self.families[min(which, len(self.families) - 1)] if self.families else None


def diff(request: Request) -> int:
    """Compare the two inputs; 0 when they are equal, 1 when they differ.

    Raises:
        OptionError: options that do not fit (`diff.options`), inputs of different kinds (`diff.kinds`).
        InputError, FormatError: inputs that cannot be read.
    """
    if request.a == STDIN and request.b == STDIN:
        raise OptionError("only one side can be standard input", id="diff.options", where="diff", remedy="name a file")
    if len(request.families) > 2:
        raise OptionError(
            f"--family is given {len(request.families)} times", id="diff.options", where="--family",
            remedy="give it once for both sides, or twice",
        )  # fmt: skip
    registry = make_host(request.without).registry
    with side(request.a, request.family(0), registry) as a, side(request.b, request.family(1), registry) as b:
        if isinstance(a, Ring) and isinstance(b, Ring):
            return _rings(request, a, b, registry)
        if isinstance(a, Program) and isinstance(b, Program):
            return _blobs(request, a, b)
    raise OptionError(
        "a task blob and a ring cannot be compared", id="diff.kinds", where=f"{request.a}, {request.b}",
        remedy="sqemu run --dump-rings writes the rings of a blob",
    )  # fmt: skip


# ---- rings -------------------------------------------------------------------------------------------------------


def _rings(request: Request, a: Ring, b: Ring, registry: Registry) -> int:
    known = known_names(registry, a.reader.family, b.reader.family)
    ignored.check_fields(request.ignored, known)
    found = entries.Comparison(a, b, _selection(request, known), frozenset(request.ignored))
    tails = a.trailing != b.trailing
    if request.as_json:
        _rings_json(found, a, b, tails=tails)
    else:
        limit = width()
        lines(cut(line, limit) for line in _rings_text(found, a, b, tails=tails))
    return DIFFERENT if found.different or tails else 0


def _selection(request: Request, known: Known) -> Selection:
    """The choice of entries, read as `sqemu dump` reads it."""
    chosen = Dump(request.a, streams=request.streams, tasks=request.tasks, kinds=request.kinds, where=request.where)
    return chosen.selection(lambda: known)


def _rings_text(found: entries.Comparison, a: Ring, b: Ring, *, tails: bool) -> Iterator[str]:
    for sign, ring in (("-", a), ("+", b)):
        yield click.style(f"{sign} {ring.name}: {ring.slots} SQEs, family {ring.reader.family}", bold=True)
    if found.by_order:
        yield "aligned by position: one of the families has no stream in its entries"
    for pair in found.pairs():
        yield from _pair_text(pair)
    if tails:
        yield f"bytes behind the last entry: {a.trailing.hex() or 'none'} -> {b.trailing.hex() or 'none'}"
    yield (
        f"{found.equal} equal, {found.changed} changed, "
        f"{found.only_a} only in {a.name}, {found.only_b} only in {b.name}"
    )


def _pair_text(pair: entries.Pair) -> Iterator[str]:
    if pair.a is None or pair.b is None:
        sign, colour = ("-", "red") if pair.b is None else ("+", "green")
        yield click.style(f"{sign} {head_of(pair.one)}", fg=colour)
        return
    moved = f" -> slot {pair.b.slot}" if pair.a.slot != pair.b.slot else ""
    kind = f" -> {pair.b.kind.name}" if pair.a.kind.name != pair.b.kind.name else ""
    yield click.style(f"  {head_of(pair.a)}{kind}{moved}", bold=True)
    size = max(len(d.name) for d in pair.differences)
    for each in pair.differences:
        yield f"      {each.name:<{size}}  {each.text_a} -> {each.text_b}"


def _rings_json(found: entries.Comparison, a: Ring, b: Ring, *, tails: bool) -> None:
    json_line({"section": "inputs", "a": a.name, "b": b.name, "families": [a.reader.family, b.reader.family]})
    for pair in found.pairs():
        json_line(
            {
                "section": "changed" if pair.a and pair.b else "only",
                "side": None if pair.a and pair.b else ("a" if pair.a else "b"),
                "stream_id": pair.one.stream_id,
                "task_id": pair.one.task_id,
                "kind": pair.one.kind.name,
                "slot_a": pair.a.slot if pair.a else None,
                "slot_b": pair.b.slot if pair.b else None,
                "fields": {d.name: d.both for d in pair.differences},
            }
        )
    counts = {"equal": found.equal, "changed": found.changed, "only_a": found.only_a, "only_b": found.only_b}
    json_line({"section": "diff", **counts, "trailing": tails, "by_order": found.by_order})


# ---- blobs -------------------------------------------------------------------------------------------------------


def _blobs(request: Request, a: Program, b: Program) -> int:
    if request.streams or request.tasks or request.kinds or request.where is not None or request.families:
        raise OptionError(
            "choices of entries count for rings, not for blobs", id="diff.options", where="diff",
            remedy="drop them; --ignore FIELD works for blobs too",
        )  # fmt: skip
    ignored.check_keys(request.ignored, blobs.names())
    changes = list(blobs.compare(a.blob, b.blob, frozenset(request.ignored)))
    if request.as_json:
        json_line({"section": "inputs", "a": a.name, "b": b.name, "chips": [a.blob.chip, b.blob.chip]})
        for change in changes:
            fields = {k: list(v) for k, v in change.fields.items()}
            side_of = "b" if change.a is None else "a" if change.b is None else None
            what = {"section": "changed" if side_of is None else "only", "side": side_of}
            json_line({**what, "part": change.section, "name": change.name, "fields": fields})
        json_line({"section": "diff", "changed": len(changes)})
    else:
        limit = width()
        lines(cut(line, limit) for line in _blobs_text(changes, a, b))
    return DIFFERENT if changes else 0


def _blobs_text(changes: list[blobs.Change], a: Program, b: Program) -> Iterator[str]:
    for sign, program in (("-", a), ("+", b)):
        yield click.style(f"{sign} {program.name}: {safe(program.blob.name)} for {program.blob.chip}", bold=True)
    for change in changes:
        name = safe(f"{change.section} {change.name}")
        if change.a is None or change.b is None:
            sign, colour = ("-", "red") if change.b is None else ("+", "green")
            yield click.style(f"{sign} {name}", fg=colour)
            continue
        yield click.style(f"  {name}", bold=True)
        size = max(map(len, change.fields))
        for key, (mine, theirs) in change.fields.items():
            yield f"      {key:<{size}}  {safe(str(mine))} -> {safe(str(theirs))}"
    yield f"{len(changes)} differences" if changes else "equal"
