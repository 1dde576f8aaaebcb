"""From the options to what a tiling is asked for, and a refused shape as an error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import click

from emu_core.errors import SqemuError
from emu_core.tiling import TilingError
from emu_plugins.cgdr.items import key_head
from emu_plugins.cgdr.tiling import CgdrTiling, ShapeDims
from emu_plugins.cgdr.tiling_variants import ALIASES, VARIANTS, TilingRequest, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_plugins.cgdr.tiling_variants import Tiling

SHAPE_OPTIONS = ("t", "b", "hqk", "hv", "dk", "dv")
"""Options that are dimensions; B is 1 and Hqk is Hv when they are not given."""
PLATFORM_OPTIONS = ("ub", "cores")
"""Options that replace a figure of the chip."""
_REQUIRED = ("t", "hv", "dk", "dv")


@dataclass(frozen=True)
class Asked:
    """The options as given.

    Attributes:
        variant: a name of `VARIANTS`, or another spelling of one.
        numbers: dimensions and platform figures by option name; what was not given is absent.
        has_gamma: `--g`. `scale`: `--scale`, None when not given. `chunk_size`: `--chunk-size`, likewise.
    """

    variant: str
    numbers: dict[str, int]
    has_gamma: bool
    scale: float | None
    chunk_size: int | None

    def with_number(self, name: str, value: int) -> Asked:
        """The same with one number changed."""
        return replace(self, numbers={**self.numbers, name: value})


class TilingRefusedError(SqemuError):
    """The tiling refuses the shape: it does not fit, or it is outside what the version takes."""

    exit_code = 1

    def __init__(self, error: TilingError, where: str) -> None:
        what, _, remedy = error.what.partition("; ")
        self.detail = error.detail
        name = "tiling.does-not-fit" if error.detail.get("over_bytes", 0) > 0 else "tiling.refused"
        super().__init__(what, id=name, where=where, remedy=remedy)

    def as_json(self) -> dict[str, object]:
        """The error with the numbers behind it."""
        budget = {"budget": "UB"} if "over_bytes" in self.detail else {}
        return {**super().as_json(), **budget, **self.detail}


def variant_of(asked: Asked) -> Variant:
    """The version that is asked for; usage errors for options that it does not have or needs."""
    variant = VARIANTS[ALIASES.get(asked.variant, asked.variant)]
    if asked.chunk_size is not None and not variant.chunk_attribute:
        raise click.UsageError(f"--chunk-size: the chunk size of variant {variant.name} is always 64")
    if asked.scale is None and variant.scale_required:
        raise click.UsageError(f"give --scale: variant {variant.name} has no default for it")
    return variant


def check_given(asked: Asked, swept: str | None) -> None:
    """Usage errors for dimensions that are missing or given twice."""
    if swept in asked.numbers:
        raise click.UsageError(f"--{swept} and --sweep {swept}=… contradict each other; give one of them")
    missing = [f"--{name}" for name in _REQUIRED if name not in asked.numbers and name != swept]
    if missing:
        raise click.UsageError(f"give {', '.join(missing)}")


def request_of(asked: Asked, variant: Variant, chip: Chip) -> TilingRequest:
    """What the tiling is asked for on `chip`."""
    n = asked.numbers
    dims = ShapeDims(n["t"], n.get("hqk", n["hv"]), n["dk"], n["hv"], n["dv"], n.get("b", 1))
    platform_cores = chip.core_num_aic if variant.cube_cores else chip.core_num_aiv or chip.core_num
    chunk = {} if asked.chunk_size is None else {"chunk_size": asked.chunk_size}
    return TilingRequest(
        dims=dims,
        has_gamma=asked.has_gamma,
        scale_value=asked.scale,
        cores=n.get("cores", platform_cores),
        ub_bytes=n.get("ub", chip.ub_bytes),
        **chunk,
    )


def tiled(variant: Variant, request: TilingRequest, chip: Chip) -> Tiling:
    """The tiling; `TilingRefusedError` when there is none."""
    try:
        return variant.run(request)
    except TilingError as error:
        d = request.dims
        where = f"cgdr {variant.name} on {chip.name}, Hv {d.hv}, dk {d.dk}, dv {d.dv}"
        raise TilingRefusedError(error, where) from None


def scale_notes(asked: Asked) -> Iterator[str]:
    """What an attribute that is no finite number does: the tiling only passes it on."""
    if asked.scale is not None and not isfinite(asked.scale):
        yield (
            f"--scale {asked.scale}: the operator takes any float, and every output that is multiplied with this one "
            "is no number"
        )


def chip_notes(variant: Variant, chip: Chip) -> Iterator[str]:
    """What a user should know about the version on this chip."""
    if variant.cube_cores and chip.fused_cores:
        yield f"the 910B operator is not made for {chip.name} (fused cores); give --chip ascend910b3, for example"
    if not variant.cube_cores and not chip.fused_cores:
        yield f"as ported: {chip.name} with the 310P tiling; the vendor's own operator there is --variant 910b"


def shape_notes(variant: Variant, request: TilingRequest, tiling: Tiling) -> Iterator[str]:
    """What the numbers of one shape do not say."""
    d = request.dims
    if isinstance(tiling, CgdrTiling):
        if tiling.plan.wraps:
            yield "the 32-bit sums of this shape wrap, as on the host: it seems to fit, and the device would overrun UB"
        if (over := tiling.plan.needed - tiling.ub_bytes) > 0:
            yield f"variant {variant.name} refuses nothing: the buffers pass the end of UB by {over} bytes"
        if variant.chunk_attribute and d.batch != 1:
            yield f"variant {variant.name} knows one sequence only; B {d.batch} does not count"
        last = key_head(d.hv - 1, d.hv, d.hqk)
        if last >= d.hqk:
            yield (
                f"value head {d.hv - 1} would read key head {last} of {d.hqk}: the tiling does not look at that, "
                "`sqemu compile` and `sqemu op` refuse it"
            )
