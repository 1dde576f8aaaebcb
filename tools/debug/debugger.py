"""The commands of the debugger; each is a row of `COMMANDS`.

A step is one planned action of the device, or one thing the host does; position *k* is the state after *k* steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError, SqemuError
from emu_core.snapshot.image import load
from emu_core.snapshot.stops import OfFault, OfField
from tools.debug import views
from tools.debug.words import STOPS, MissingWordError, Words, number, place, refuse, stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from emu_core.snapshot.session import Session
    from emu_core.snapshot.stops import Stop
    from emu_core.snapshot.travel import Hit, TimeTravel

FAULT = OfFault()
"""`continue` stops at a fault, whatever else is asked for."""


@dataclass(frozen=True)
class Command:
    """How a command is written, what it does, and the method that does it, with the words behind its name."""

    form: str
    help: str
    run: Callable[[Debugger, Sequence[str]], None]


class Debugger:
    """One program under the debugger.

    Attributes:
        travel: where it is. stops: breakpoints and watchpoints by number. over: `quit` was given.
    """

    def __init__(self, travel: TimeTravel, session: Session) -> None:
        self.travel = travel
        self.session = session
        self.stops: dict[int, Stop] = {}
        self.over = False
        self._next = 1
        self._loaded = ""

    @property
    def failed(self) -> bool:
        """Whether an execution that ended before this position failed, or an entry has."""
        return self.session.failed or bool(self.travel.device.scheduler.faults)

    def do(self, line: str) -> None:
        """One line; nothing for an empty one or a comment.

        Raises:
            SqemuError: it cannot be done (`debug.command` when it is no command).
        """
        words = line.partition("#")[0].split()
        if not words:
            return
        name = ALIASES.get(words[0], words[0])
        if name not in COMMANDS:
            refuse(f"there is no command {words[0][:40]!r}", "help lists them")
        try:
            COMMANDS[name].run(self, Words(words[1:]))
        except MissingWordError:
            refuse(f"{name} needs more words", f"write {COMMANDS[name].form}")
        except SqemuError:
            raise
        except Exception as error:
            if not self._loaded:
                raise
            raise InputError(
                f"the state in it cannot run ({type(error).__name__})",
                id="snapshot.damaged",
                where=self._loaded,
                remedy="save the snapshot again",
            ) from error

    # ---- going -----------------------------------------------------------------------------------------------

    def step(self, words: Sequence[str]) -> None:
        """`step [N]`."""
        count = number(words[0], "number of steps") if words else 1
        hit = self.travel.proceed((), self.travel.position + count)
        self._stand(hit)

    def back(self, words: Sequence[str]) -> None:
        """`back [N]`."""
        self.travel.back(number(words[0], "number of steps") if words else 1)
        self._stand(None)

    def goto(self, words: Sequence[str]) -> None:
        """`goto K`."""
        self.travel.run_to(number(words[0], "position"))
        self._stand(None)

    def proceed(self, _words: Sequence[str]) -> None:
        """`continue`."""
        self._stand(self.travel.proceed((*self.stops.values(), FAULT)))

    def proceed_back(self, _words: Sequence[str]) -> None:
        """`reverse-continue`."""
        self._stand(self.travel.proceed_back((*self.stops.values(), FAULT)))

    def _stand(self, hit: Hit | None) -> None:
        travel = self.travel
        if hit is not None:
            numbers = [f"stop {n} ({s}): " for n, s in self.stops.items() if s == hit.stop]
            _say(views.fitted(f"{numbers[0] if numbers else ''}{hit.why}"))
        elif not travel.position:
            _say(["the start"])
        elif travel.position == travel.end:
            _say(views.fitted(f"the end: {self.session.summary()}"))
        _say([f"step {travel.position}, {travel.device.clock.now} ns"])

    # ---- stops -----------------------------------------------------------------------------------------------

    def set_break(self, words: Sequence[str]) -> None:
        """`break …`."""
        self._add(stop(words))

    def watch(self, words: Sequence[str]) -> None:
        """`watch STREAM:TASK.field`."""
        self._add(place(_joined(words)))

    def _add(self, found: Stop) -> None:
        self.stops[self._next] = found
        _say(views.fitted(f"stop {self._next}: {found}"))
        self._next += 1

    def delete(self, words: Sequence[str]) -> None:
        """`delete N`."""
        which = number(words[0], "number of a stop")
        if which not in self.stops:
            refuse(f"there is no stop {which}", "show stops lists them")
        del self.stops[which]

    # ---- looking ---------------------------------------------------------------------------------------------

    def where(self, _words: Sequence[str]) -> None:
        """`where`."""
        _say(views.where(self.travel))

    def show(self, words: Sequence[str]) -> None:
        """`show …`."""
        device, what, rest = self.travel.device, words[0], words[1:]
        if what == "ring":
            _say(views.ring(device, number(rest[0], "stream")))
        elif what == "task":
            _say(views.task(device, place(_joined(rest), field=False)))
        elif what == "memory":
            _say(views.memory(device, number(rest[0], "address"), number(rest[1], "number of bytes")))
        elif what == "stops":
            _say([f"stop {n}: {s}" for n, s in self.stops.items()] or ["no stops"])
        else:
            refuse(f"show cannot show {what[:40]!r}", f"write {COMMANDS['show'].form}")

    def who(self, words: Sequence[str]) -> None:
        """`who wrote STREAM:TASK.field`."""
        if words[0] != "wrote":
            refuse(f"who {words[0][:40]} is no question", f"write {COMMANDS['who'].form}")
        at = place(_joined(words[1:]))
        _say(views.written(self.travel.last_write(self._there(at)), at))

    def back_to(self, words: Sequence[str]) -> None:
        """`back-to-write STREAM:TASK.field`."""
        at = place(_joined(words))
        _say(views.written(self.travel.back_to_write(self._there(at)), at))
        self._stand(None)

    def _there(self, at: OfField) -> OfField:
        views.slot_of(self.travel.device, at)
        return at

    # ---- snapshots and the rest ------------------------------------------------------------------------------

    def snapshot(self, words: Sequence[str]) -> None:
        """`snapshot save FILE`, `snapshot load FILE`."""
        what, path = words[0], words[1]
        if what == "save":
            self.travel.device.snapshot((self.session,)).save(path)
            _say(views.fitted(f"saved {path}"))
        elif what == "load":
            found = load(path, self.travel.device.host)
            self._loaded = path
            self.travel.enter(found)
            self._stand(None)
        else:
            refuse(f"snapshot {what[:40]} is nothing to do", f"write {COMMANDS['snapshot'].form}")

    def help(self, _words: Sequence[str]) -> None:
        """`help`."""
        for command in COMMANDS.values():
            _say([command.form])
            _say(views.fitted(command.help, "    "))

    def quit(self, _words: Sequence[str]) -> None:
        """`quit`."""
        self.over = True


def _joined(words: Sequence[str]) -> str:
    """A place, which may have a space in it."""
    if not words:
        raise MissingWordError
    return " ".join(words)


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


COMMANDS: dict[str, Command] = {
    "step": Command("step [N]", "Go N steps forward, 1 if none is given.", Debugger.step),
    "back": Command("back [N]", "Go N steps back.", Debugger.back),
    "goto": Command("goto K", "Go to position K, forward or back.", Debugger.goto),
    "continue": Command("continue", "Go on to the next stop, fault or the end.", Debugger.proceed),
    "reverse-continue": Command(
        "reverse-continue", "Go back to the last stop or fault before, or the start.", Debugger.proceed_back
    ),
    "break": Command("break WHAT", f"Stop at: {', '.join(form for form, _ in STOPS.values())}.", Debugger.set_break),
    "watch": Command("watch STREAM:TASK[.field]", "Stop when the entry, or a field of it, is written.", Debugger.watch),
    "delete": Command("delete N", "Forget stop N.", Debugger.delete),
    "where": Command("where", "Say where each stream stands.", Debugger.where),
    "show": Command("show ring S | task S:T | memory ADDRESS BYTES | stops", "Show part of the device.", Debugger.show),
    "who": Command("who wrote STREAM:TASK[.field]", "Say who wrote it last, and when.", Debugger.who),
    "back-to-write": Command(
        "back-to-write STREAM:TASK[.field]", "Go back to right after its last write.", Debugger.back_to
    ),
    "snapshot": Command(
        "snapshot save FILE | load FILE", "Write the state to a file, or go to that of one.", Debugger.snapshot
    ),
    "help": Command("help", "List the commands.", Debugger.help),
    "quit": Command("quit", "End.", Debugger.quit),
}
ALIASES = {
    "s": "step", "b": "break", "c": "continue", "rc": "reverse-continue", "w": "where", "q": "quit", "exit": "quit",
    "bt": "where",
}  # fmt: skip


def script(debugger: Debugger, lines: Sequence[str], source: str) -> None:
    """Do each line of a file.

    Raises:
        InputError: with name and number of the line that cannot be done (`debug.command`, or the id of the reason).
    """
    for index, line in enumerate(lines, 1):
        try:
            debugger.do(line)
        except SqemuError as error:
            raise InputError(
                error.what, id=error.id, where=f"{source}:{index}", remedy=error.remedy or "see help"
            ) from None
        if debugger.over:
            return
