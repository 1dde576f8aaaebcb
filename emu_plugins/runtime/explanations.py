"""What the ids of the host API and the loader mean and what to do; vendor ids are explained by the command.

A text is the meaning, and on lines of their own `cause:` and `do:` (`docs/explain.md`).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "100000": "The public layer of the host API refuses a parameter before the runtime sees it.\n"
    "cause: The information of a task update is null.\n"
    "do: Give the parameter that the message names.",
    "107001": "There is no such device.\n"
    "cause: A capability query names an id that is neither the device's nor 64, which stands for builds without one.\n"
    "do: Ask about the id that the message names.",
    "107017": "A handle is none, or names an object that was destroyed.\n"
    "cause: A stream, event, notify, model or program is used after its destruction.\n"
    "do: Use an object that was created and not destroyed since.",
    "507006": "An event is not recorded yet, and nothing is left to do that could record it.\n"
    "cause: The record was never submitted, or an earlier task of its stream failed.\n"
    "do: Synchronise the stream that records it and look at its error.",
    "507027": "A kernel is not registered.\n"
    "cause: No plugin supplies it, it has no binary for this chip, or no entry for the tiling key.\n"
    "do: Load its plugin, or register the program with the key.",
    "kernel.stand-in": "An operator runs as a timed stand-in: no plugin has its kernel or function, so it takes its "
    "time on the right cores and computes nothing (docs/om.md).\n"
    "cause: A model of another compiler (.om), or a plugin that is not loaded.\n"
    "do: Read times and order, not outputs; load the plugin that has the operator. stand_in_time sets the duration.",
    "run.shape": "The shapes of the arrays of an execution do not go together; nothing has run.\n"
    "cause: An operator refuses the shapes that reach it, they lead to an output that does not fit what the compiler "
    "saw, or the tensors do not fit the memory of the chip.\n"
    "do: Give arrays whose shapes the operator or tensor that is named can take.",
})  # fmt: skip
"""Texts by code."""
