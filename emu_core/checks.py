"""Checks of a program before it runs: what a plugin declares, and how all of them are run.

A check reads a blob, a chip and the policies in force; nothing is loaded and nothing executes. Findings are values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from emu_core.engine_guard import at_line
from emu_core.errors import PluginError, SqemuError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob


class Level(StrEnum):
    """How bad a finding is: some run of the program cannot be right (or it does not load); it is risky; a remark."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Finding:
    """One thing a check found: level, stable id (`sqemu explain` knows it), place, sentence, and what to do."""

    level: Level
    id: str
    where: str
    what: str
    remedy: str = ""

    def text(self) -> str:
        """The finding on one line."""
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True)
class CheckSpec:
    """A check of a program.

    Attributes:
        name: one word, unique among all plugins.
        summary: what it makes sure of, half a sentence.
        run: gives the findings for (blob, chip, policies, host). Every index, stream id and event id of the blob
            points at something. `policies` holds the blob's own values of scope *compile* and what the user gave;
            `chip` may differ from the chip the blob was compiled for.
    """

    name: str
    summary: str
    run: Callable[[Blob, Chip, PolicySet, PluginHost], Iterable[Finding]]


REFERENCES = "references"
"""Name of the check that comes before all others: with a bad reference no other check is run."""


def run_checks(
    blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost
) -> Iterator[tuple[str, tuple[Finding, ...]]]:
    """(name, findings) of each check of the host's plugins, in their order.

    Raises:
        PluginError: a check raised (`plugin.check-raised`), or gave something that is no finding.
    """
    bad = tuple(references(blob))
    yield REFERENCES, bad
    if not bad:
        for spec in host.checks.values():
            yield spec.name, _findings(spec, blob, chip, policies, host)


def references(blob: Blob) -> Iterator[Finding]:
    """An error for every index or id of `blob` that points at nothing."""
    from formats.blob.references import bad_references  # noqa: PLC0415 - the plugin host imports this module

    remedy = "compile the graph again"
    for bad in bad_references(blob):
        what = f"names the {bad.what} {bad.value}, of which there are {bad.limit}"
        yield Finding(Level.ERROR, "blob.reference", f"{bad.section}[{bad.record}]", what, remedy)
    streams, events = {stream.id for stream in blob.streams}, {event.id for event in blob.events}
    for index, task in enumerate(blob.tasks):
        if task.stream_id not in streams and not blob.unknown_shape:
            what = f"names the stream {task.stream_id}, which does not exist"
            yield Finding(Level.ERROR, "blob.task", f"task #{index}", what, remedy)
        if task.event_id is not None and task.event_id not in events:
            what = f"names the event {task.event_id}, which does not exist"
            yield Finding(Level.ERROR, "blob.task", f"task #{index}", what, remedy)


def _findings(spec: CheckSpec, blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> tuple[Finding, ...]:
    try:
        found = tuple(spec.run(blob, chip, policies, host))
    except SqemuError:
        raise
    except Exception as error:
        raise _raised(spec, f"raised {type(error).__name__}: {error}{at_line(error)}") from error
    if wrong := [each for each in found if not isinstance(each, Finding)]:
        raise _raised(spec, f"gave a {type(wrong[0]).__name__} where a Finding is expected")
    return found


def _raised(spec: CheckSpec, what: str) -> PluginError:
    remedy = "report it to the author of its plugin, or leave the plugin out with --no-plugin"
    return PluginError(what, id="plugin.check-raised", where=f"check {spec.name}", remedy=remedy)
