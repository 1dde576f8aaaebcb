"""The built-in checks, in the order in which they are run."""

from __future__ import annotations

from emu_core.checks import CheckSpec
from emu_plugins.checks.distance import prefetch_distance
from emu_plugins.checks.events import events
from emu_plugins.checks.fit import fits
from emu_plugins.checks.races import races
from emu_plugins.checks.sink import sink_sequences
from emu_plugins.checks.super_kernels import super_kernels
from emu_plugins.checks.supplied import supplied
from emu_plugins.checks.ub_layout import ub_layouts

SPECS = (
    CheckSpec("fit", "the program fits the limits of the chip", fits),
    CheckSpec("supplied", "plugins supply its operators, kernels, keys and engines", supplied),
    CheckSpec("sink", "each sink sequence is complete and in order", sink_sequences),
    CheckSpec("super", "each super kernel is told what it polls for", super_kernels),
    CheckSpec("distance", "each kernel runs with its patch", prefetch_distance),
    CheckSpec("events", "every wait can pass, and the end is the end", events),
    CheckSpec("races", "nothing is read before it is written", races),
    CheckSpec("ub", "the buffers of ChunkGatedDeltaRule keep apart in UB", ub_layouts),
)
