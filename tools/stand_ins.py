"""The warning about tasks that are timed stand-ins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.runtime.stand_in import POLICY, grouped, stand_ins_of
from tools.say import say

if TYPE_CHECKING:
    from formats.blob import Blob


def say_stand_ins(blob: Blob) -> None:
    """A warning that lists the tasks of `blob` that are timed stand-ins; nothing when there is none."""
    found = stand_ins_of(blob)
    if not found:
        return
    many = f"{len(found)} of {len(blob.tasks)} tasks are timed stand-ins, which compute nothing"
    say(f"warning: {many}; policy {POLICY} says how long they take:")
    for group in grouped(found):
        say(f"  {group.text()}")
