"""The whole page: its parts in order, its data, style and script, and the policy that keeps it off the network."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from tools.report.against import against
from tools.report.columns import Strings, as_script
from tools.report.entries import entry_table
from tools.report.markup import Html, el, join
from tools.report.problems import count, problems
from tools.report.summary import badge, executions, facts, figures, outcome
from tools.report.timeline import timeline
from tools.report.ub_maps import ub_maps
from tools.report.writes import write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tools.report.subject import Subject

FORMAT, VERSION = "sqemu-report", 1
STYLES, SCRIPTS = (("page", "css"),), tuple((name, "js") for name in ("basics", "timeline", "tables", "page"))
"""Files of this package that are embedded, in order."""


@dataclass(frozen=True)
class Page:
    """The bytes of a page, and how many slices, entries and writes its data has."""

    data: bytes
    slices: int
    entries: int
    writes: int


@dataclass(frozen=True)
class _Section:
    """A part of the page: its id, title, what is in it, and a number that its link shows."""

    id: str
    title: str
    inside: Html
    badge: str = ""


def page(subject: Subject, host: Subject | None = None) -> Page:
    """The page of a record; `host` is the record of the same program with tiling on the host.

    Raises:
        InputError: `report.other`: the two records do not belong together.
        FormatError: a record that is damaged.
    """
    strings = Strings()
    data = {
        "format": FORMAT,
        "version": VERSION,
        "runs": [[run.index, run.kept.outcome.started, run.kept.outcome.ended] for run in subject.runs],
        "streams": [n for sq, name in subject.stream_names.items() for n in (sq, strings.number(name))],
        "timeline": (times := timeline(subject, strings)),
        "entries": (entries := entry_table(subject, strings)),
        "writes": (writes := write_table(subject, strings)),
        "strings": strings.all(),
    }
    text = _document(subject, _sections(subject, host), as_script(data))
    tracks = times["tracks"]
    slices = sum(len(track["start"]) for track in tracks) if isinstance(tracks, list) else 0
    return Page(text.encode("utf-8"), slices, _rows(entries, "raw"), len(writes["time"]))


def _rows(columns: Mapping[str, object], name: str) -> int:
    column = columns[name]
    return len(column) if isinstance(column, list) else 0


def _sections(subject: Subject, host: Subject | None) -> list[_Section]:
    found = count(subject)
    sections = [
        _Section("summary", "Summary", join([figures(subject), executions(subject), facts(subject)])),
        _Section("problems", "Hazards and faults", problems(subject), f"{found:,}" if found else ""),
        _Section("timeline", "Timeline", _holder("timeline-view")),
        _Section("entries", "Entries", _holder("entries-view")),
        _Section("patches", "Patches", _holder("patches-view")),
    ]
    if maps := ub_maps(subject):
        sections.append(_Section("ub", "UB and workspace", maps))
    if host is not None:
        sections.append(_Section("host", "Sink and host", against(subject, host)))
    return sections


def _holder(name: str) -> Html:
    """Where the script draws."""
    return join([el("noscript", el("p", "This part is drawn by the script of the page.")), el("div", id_=name)])


def _document(subject: Subject, sections: list[_Section], data: str) -> str:
    style, script = _source(STYLES), _source(SCRIPTS)
    name = subject.record.about.program.file.rpartition("/")[2] or subject.record.blob.name or "run"
    policy = "; ".join([
        "default-src 'none'", f"style-src {_hash(style)}", f"script-src {_hash(script)}", "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{name}: {outcome(subject)} — sqemu report"),
        el("style", style),
    )
    body = el(
        "body",
        el("a", "Skip to the summary", href="#summary", class_="skip"),
        _header(subject, name, sections),
        el("main", *(_section(each) for each in sections)),
        el("footer", el("p", "Times are virtual. Made by sqemu report; nothing on this page comes from elsewhere.")),
        el("script", Html(data), type="application/json", id_="data"),
        el("script", script),
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n{body}\n</html>\n'


def _header(subject: Subject, name: str, sections: list[_Section]) -> Html:
    links = (
        el("a", each.title, el("span", each.badge, class_="count") if each.badge else "", href=f"#{each.id}")
        for each in sections
    )
    theme = el("button", "Theme: system", type="button", id_="theme", hidden=True)
    return el(
        "header",
        el("div", el("h1", name), badge(outcome(subject)), el("span", subject.chip.name, class_="quiet"), theme),
        el("nav", *links, aria_label="Parts of the page"),
    )


def _section(each: _Section) -> Html:
    return el("section", el("h2", each.title, id_=f"{each.id}-title"), each.inside, id_=each.id,
              aria_labelledby=f"{each.id}-title")  # fmt: skip


def _source(names: Iterable[tuple[str, str]]) -> Html:
    """Files of this package one after the other."""
    return Html("".join(files("tools.report").joinpath(f"{name}.{kind}").read_text("utf-8") for name, kind in names))


def _hash(text: str) -> str:
    """The source expression that allows exactly this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
