"""What kernel entries of every family have in common: where code and arguments are, blocks, credit, kind of core."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from formats import BUILTIN

if TYPE_CHECKING:
    from collections.abc import Mapping

CORES_V100 = {0: "AI Core", 1: "AI Vector core"}
"""By `ffts_type` (`sqe_formats.md` 4.1)."""
_HALVES = {"AicKernelSqe": ("aic", "aiv", "AI Core"), "AivKernelSqe": ("aiv", "aic", "AI Vector core")}
"""v200: the half that leads, the other one, the core (`sqe_formats.md` 6.1)."""
_ADDRESS = (1 << 48) - 1


class KernelFields(NamedTuple):
    """Addresses have 48 bits; `core` is empty when the entry does not say."""

    start: int
    args: int
    blocks: int
    credit: int
    core: str


def kernel_fields(family: str, raw: bytes) -> KernelFields | None:
    """The fields of a kernel entry of 64 bytes; None for another kind.

    Raises:
        FormatError: a family without SQEs.
    """
    decoded = BUILTIN.decode(family, raw)
    values = decoded.struct.join(decoded.values)
    if "pc_addr" in values:
        core = CORES_V100.get(values.get("ffts_type", -1), "")
        return _fields(values, "pc_addr", "param_addr", core)
    halves = _HALVES.get(decoded.struct.struct_name)
    if halves is None or "aic_start_pc" not in values:
        return None
    lead, other, core = halves
    half = lead if values[f"{lead}_start_pc"] else other
    return _fields(values, f"{half}_start_pc", f"{half}_task_param_ptr", core)


def _fields(values: Mapping[str, int], start: str, args: str, core: str) -> KernelFields:
    return KernelFields(
        values[start] & _ADDRESS, values[args] & _ADDRESS, values["block_dim"], values["kernel_credit"], core
    )
