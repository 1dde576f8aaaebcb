"""Which features a device has: what the chip can, and what its firmware knows (`device_semantics.md` 5.3).

| device id | *model task update* of module *task scheduler CPU* is supported when |
|---|---|
| that of the device | the chip has the feature and the firmware has feature 27 |
| `STUB_DEVICE`, for compiling without a card | the chip has the feature and `Firmware.offline` says so |
| any other | refused: 107001 |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

TILING_KEY_SINK = 27
"""Number of the firmware feature that an update needs."""
STUB_DEVICE = 64
"""Device id that stands for no device: the largest number of devices."""
DSA_UPDATE_PRODUCTS = frozenset({"A2", "A3"})
"""Products whose runtime updates random-number tasks."""


class Module(IntEnum):
    """Module of a capability query; the vendor's numbers."""

    SYSTEM = 0
    AICPU = 1
    CCPU = 2
    DCPU = 3
    AICORE = 4
    TSCPU = 5


class Feature(IntEnum):
    """Feature of a capability query; the vendor's numbers."""

    SCHE = 0
    BLOCKING_OPERATOR = 1
    FFTS_MODE = 2
    MEMQ_EVENT_CROSS_DEV = 3
    MODEL_TASK_UPDATE = 4


class Capability(IntEnum):
    """Answer of a capability query."""

    NOT_SUPPORT = 0
    SUPPORT = 1


@dataclass(frozen=True)
class Firmware:
    """What the firmware of a device can do.

    Attributes:
        features: numbers of its features; `frozenset()` is a firmware that is too old for task updates.
        offline: what a build without a device was configured to answer for `STUB_DEVICE`.
    """

    features: frozenset[int] = frozenset({TILING_KEY_SINK})
    offline: bool = False
