"""What each field means, once per distinct name (facts of `reference/sqe_formats.md`); structs override.

One module per topic. A name that is not here reads `not documented`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.meanings.completions import COMPLETIONS
from formats.meanings.conditions import CONDITIONS, SLOTS
from formats.meanings.contexts import CONTEXTS
from formats.meanings.header import HEADER
from formats.meanings.kernels import KERNELS
from formats.meanings.place_holders import PLACE_HOLDERS
from formats.meanings.small import SMALL
from formats.meanings.transfers import TRANSFERS
from formats.meanings.units import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

TOPICS = (HEADER, KERNELS, PLACE_HOLDERS, TRANSFERS, CONTEXTS, CONDITIONS, COMPLETIONS, SMALL)
"""The tables of the topics; no name is in two of them."""

MEANINGS: Mapping[str, str] = MappingProxyType({name: text for topic in TOPICS for name, text in topic.items()})

__all__ = ["MEANINGS", "SLOTS", "TOPICS", "UNITS"]
