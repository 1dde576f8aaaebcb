"""Instruction words of condition SQEs (`reference/sqe_formats.md` 7); tables: :mod:`formats.cond_isa.forms`."""

from formats.cond_isa.structs import cond_ops

STRUCTS = cond_ops("v100")
