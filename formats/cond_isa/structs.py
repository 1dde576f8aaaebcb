"""Instruction words as layouts of the registry: `CondOpLoad`, `CondOpImm` and the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.cond_isa.forms import FORMS, REGISTER_BITS, form
from formats.cstruct import define

if TYPE_CHECKING:
    from formats.cstruct import CStruct


def cond_ops(family: str) -> tuple[CStruct, ...]:
    """The instruction forms of a family, in the order of :data:`formats.cond_isa.forms.FORMS`."""
    bits = REGISTER_BITS[family]
    return tuple(
        define(family, f"CondOp{name}", 8 if "/" in table else 4, form(name, bits), note="instruction word")
        for name, table in FORMS.items()
    )
