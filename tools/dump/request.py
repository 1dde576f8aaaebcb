"""The command line of `sqemu dump` as a value, and which options go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import OptionError
from tools.dump.selection import Selection, numbers, where
from tools.files import STDIN
from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emu_core.extensions import DumpView
    from tools.dump.known import Known

VIEWS = ("table", "fields", "compact", "summary", "c", "asm", "query", "view")
"""Ways to show entries; `table` when nothing is asked for, `view` for one of a plugin."""

SKIPPED = 1
"""Exit code when something was not shown."""


@dataclass(frozen=True)
class Request:
    """The command line: file, options, output form.

    Attributes:
        view: one of `VIEWS`.
        query: field of the view `query`; `changes` leaves out lines whose value is that of the line before.
        streams, tasks, kinds, where, slots: what is shown, as given.
        words: groups of hex text are little-endian words, bytes in address order, or (None) what is found out.
        run: execution of a run record, from 0; None for the last one.
        foreign: the view of a plugin, when `view` is `view`.
    """

    file: str
    sqes: bool = False
    cqes: bool = False
    hex_text: bool = False
    words: bool | None = None
    struct: str | None = None
    family: str | None = None
    chip: str | None = None
    policies: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    as_json: bool = False
    view: str = "table"
    query: str | None = None
    changes: bool = False
    streams: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    where: str | None = None
    slots: str | None = None
    run: int | None = None
    foreign: DumpView | None = None

    @property
    def source(self) -> str:
        """The file as messages name it."""
        return "standard input" if self.file == STDIN else safe(self.file)

    @property
    def first_choice(self) -> str:
        """The first option that chooses entries; empty when all are shown."""
        choices = (
            ("--stream", self.streams), ("--task", self.tasks), ("--kind", self.kinds),
            ("--where", self.where is not None), ("--range", self.slots is not None),
        )  # fmt: skip
        return next((name for name, given in choices if given), "")

    def selection(self, known: Callable[[], Known]) -> Selection:
        """The filters, names checked against what `known` gives; `OptionError` for what cannot be read."""
        if self.query is not None:
            known().check_field(self.query, "--query")
        return Selection(
            numbers(self.streams, "--stream"),
            numbers(self.tasks, "--task"),
            frozenset(known().kind(each) for each in self.kinds),
            None if self.where is None else where(self.where, known()),
        )


def view_of(flags: Sequence[tuple[str, bool]], query: str | None) -> str:
    """The view that the flags name; `OptionError` (`dump.options`) when they name several."""
    given = [name for name, on in flags if on]
    if query is not None:
        given.append("query")
    if set(given) == {"fields", "compact"}:
        given = ["compact"]
    if len(given) > 1:
        raise _senseless(" and ".join(f"--{name}" for name in given), "give one view", "dump")
    return given[0] if given else "table"


def check(request: Request, *, blob: bool, record: bool = False, model: bool = False) -> None:
    """`OptionError` (`dump.options`) for options that do not belong together, or to this kind of file."""
    blob = blob or record or model
    kind = "a run record" if record else "an offline model" if model else "a task blob"
    choice = "--where" if request.where is not None else ""
    choice = choice if model else request.first_choice
    entries = f"--{request.view}" if request.view in {"fields", "compact", "c", "query", "view"} else choice
    tests = (
        (request.family and request.chip, "--family and --chip", "a chip has one family; give one of them"),
        (request.cqes and request.struct, "--cqes and --struct", "give one of them"),
        (request.as_json and request.view in {"c", "asm"}, f"--json with --{request.view}", "give one of them"),
        (request.changes and request.query is None, "--changes without --query", "it is about the value of one field"),
        (blob and request.family, f"--family with {kind}", "it says its chip; drop --family"),
        (blob and request.cqes, f"--cqes with {kind}", "drop it"),
        (blob and request.struct, f"--struct with {kind}", "drop it"),
        (blob and entries and not request.sqes, f"{entries} of {kind}", "add --sqes to see its entries"),
        (not blob and request.sqes, "--sqes with a raw file", "raw files are shown as SQEs anyway; drop --sqes"),
        (
            request.run is not None and not (record and request.sqes),
            "--run",
            "it chooses an execution of a record; add --sqes",
        ),
        (record and request.policies, "--policy with a run record", "the run is over; drop it"),
        (record and request.view == "asm" and not request.sqes, "--asm of a run record", "add --sqes"),
        (request.policies and not request.sqes, "--policy without --sqes", "policies count when a blob is loaded"),
    )
    for failed, what, remedy in tests:
        if failed:
            raise _senseless(what, remedy, f"dump {request.source}")


def _senseless(what: str, remedy: str, where_from: str) -> OptionError:
    return OptionError(f"{what} makes no sense", id="dump.options", where=where_from, remedy=remedy)
