"""What `sqemu postmortem` does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from tools.capture.build import capture_of, family_of
from tools.capture.source import files_of
from tools.given_plugins import Layouts
from tools.postmortem.analyse import report_on
from tools.postmortem.write import as_json, as_text
from tools.progress import Progress

if TYPE_CHECKING:
    from tools.capture.model import Capture


@dataclass(frozen=True)
class Asked:
    """The command line: logs or folders, and what to do."""

    logs: tuple[str, ...]
    replay: str | None = None
    chip: str | None = None
    family: str | None = None
    as_json: bool = False
    without: tuple[str, ...] = ()


def postmortem(asked: Asked) -> int:
    """Report on logs; returns the exit code.

    Raises:
        InputError: a log cannot be read (`input.file`), none was found in a folder (`capture.empty`), unknown chip.
        FormatError: unknown family.
    """
    layouts = Layouts(asked.without)
    if asked.family:
        layouts.registry.generic(asked.family)
    chip = layouts.chip(asked.chip) if asked.chip else None
    with Progress("reading file", len(files_of(asked.logs).files)) as progress:
        capture = capture_of(asked.logs, step=progress.step)
    if not capture.files:
        raise InputError(
            "holds no file", id="capture.empty", where=", ".join(asked.logs),
            remedy="give a log, or a folder with logs; symbolic links in a folder are not followed",
        )  # fmt: skip
    family = asked.family or (chip.family if chip is not None else family_of(capture.sqes, capture.dialect))
    report = report_on(capture, family)
    if asked.as_json:
        as_json(report, capture, layouts.registry, family)
    else:
        as_text(report, capture)
    if asked.replay:
        _replay(asked, capture, family)
    return 0


def _replay(asked: Asked, capture: Capture, family: str) -> None:
    from tools.postmortem.replay import replay  # noqa: PLC0415 - only reports do without a device

    replay(capture, asked.replay or "", family, asked.chip, quiet=asked.as_json)
