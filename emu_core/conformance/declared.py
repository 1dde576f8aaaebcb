"""What a plugin declares: hooks with their docstrings, policies, explanations."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from emu_core.conformance.records import said
from emu_core.errors import SqemuError
from emu_core.hook_calls import RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.conformance.records import Subject

COLLECTED = {
    "sqemu_chips": "chips", "sqemu_structs": "registry", "sqemu_policies": "policy_specs",
    "sqemu_operators": "operators", "sqemu_kernels": "kernels", "sqemu_aicpu_kernels": "aicpu_kernels",
    "sqemu_checks": "checks", "sqemu_explanations": "explanations", "sqemu_passes": "passes",
    "sqemu_importers": "importers", "sqemu_dump_views": "dump_views", "sqemu_observers": "observers",
    "sqemu_commands": "commands",
}  # fmt: skip
"""Collecting hooks, and the attribute of the host that has what all plugins gave; engines belong to a device."""

SUMMARISED = ("sqemu_checks", "sqemu_passes", "sqemu_importers", "sqemu_dump_views", "sqemu_observers",
              "sqemu_commands", "sqemu_policies")  # fmt: skip
"""Hooks whose records have a summary, which people read in lists."""


def hooks(subject: Subject) -> Iterator[list[str]]:
    """What is wrong with each hook: no docstring, or records that cannot be collected."""
    if subject.info.broken:
        yield [f"the plugin is broken: {subject.info.broken}"]
        return
    for hook in subject.info.hooks:
        yield [*_documented(subject, hook), *_collected(subject, hook)]


def _documented(subject: Subject, hook: str) -> Iterator[str]:
    function = getattr(subject.plugin, hook, None)  # one with another name (`specname`) is not looked for
    if function is not None and not inspect.getdoc(function):
        yield f"{hook} has no docstring: say what it supplies"
    if hook in SUMMARISED:
        for record in subject.given(hook):
            if not record.summary:
                yield f"{hook}: {getattr(record, RECORDS[hook][1])} has no summary"


def _collected(subject: Subject, hook: str) -> Iterator[str]:
    """Collect the records of everybody: a clash is seen only there."""
    if hook not in COLLECTED:
        return
    try:
        getattr(subject.host, COLLECTED[hook])
    except SqemuError as error:
        yield f"{hook}: {said(error)}"
    broken = next((p.broken for p in subject.host.plugins if p.name == subject.info.name), "")
    if broken:
        yield broken


def policies(subject: Subject) -> Iterator[list[str]]:
    """What is wrong with each policy."""
    own = subject.info.name.replace("-", "_").split("_")
    for spec in subject.given("sqemu_policies"):
        wrong = []
        if not subject.info.ours and re.split(r"[._]", spec.name)[0] not in own:
            wrong.append(f"policy {spec.name}: its first word must be of the plugin's name ({', '.join(own)})")
        if spec.default not in spec.values and not (spec.number and spec.default.isdecimal()):
            wrong.append(f"policy {spec.name}: the default {spec.default!r} is none of its values")
        yield wrong


def explanations(subject: Subject) -> Iterator[list[str]]:
    """What is wrong with each text for `sqemu explain`."""
    if "sqemu_explanations" not in subject.info.hooks:
        return
    for name, texts in subject.host.each("sqemu_explanations"):
        for key, text in texts.items() if name == subject.info.name else ():
            does = any(line.strip().startswith("do:") for line in text.splitlines())
            yield [] if does else [f"explanation of {key}: no line begins with do:"]
