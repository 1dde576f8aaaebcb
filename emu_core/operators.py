"""How a plugin declares an operator: its IR, shapes, tiling and placements.

The compiler, the loader and the tiling server read these records; the core only carries them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import numpy.typing as npt

    from emu_core.chips import Chip
    from emu_core.tiling import TilingFunction

AttrValue: TypeAlias = bool | int | float | str | tuple[int, ...] | tuple[float, ...]
Arrays: TypeAlias = "Mapping[str, npt.NDArray[np.generic]]"


class Placement(IntFlag):
    """Where a tiling function may run (`reference/tiling_sink_compiler.md` 15.3, as mask bits)."""

    HOST = 1
    AICPU = 2


@dataclass(frozen=True)
class TensorInfo:
    """Element type name and shape; -1 is an unknown dimension, (-2,) an unknown rank."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class InputSpec:
    """An IR input. `dtypes`: names it accepts, or empty for any.

    A `dynamic` input takes one or more tensors, its instances `name0`, `name1`, …; functions of the operator are given
    one value per instance in its place.
    """

    name: str
    dtypes: tuple[str, ...] = ()
    optional: bool = False
    dynamic: bool = False


@dataclass(frozen=True)
class OutputSpec:
    """An IR output."""

    name: str


@dataclass(frozen=True)
class AttrSpec:
    """An IR attribute; `kind` is one of `float int bool str list_int list_float`, `default` None means required."""

    name: str
    kind: str
    default: AttrValue | None


class ShapeError(Exception):
    """Raised by an `infer` function: `what` is wrong with IR input `input` (name), `remedy` what to do."""

    def __init__(self, what: str, *, input: str = "", remedy: str = "") -> None:  # noqa: A002 - the IR's own word
        self.what = what
        self.input = input
        self.remedy = remedy
        super().__init__(what)


HiddenInputs: TypeAlias = "Callable[[str], tuple[bytes, ...]]"
Reference: TypeAlias = "Callable[[Arrays, Mapping[str, AttrValue], Chip], Arrays]"
Infer: TypeAlias = "Callable[[tuple[TensorInfo | None, ...], Mapping[str, AttrValue]], tuple[TensorInfo, ...]]"


@dataclass(frozen=True)
class Case:
    """Arrays of one `sqemu op` run: per IR input an array or None, attributes, and references by output name."""

    inputs: tuple[npt.NDArray[np.generic] | None, ...]
    attrs: Mapping[str, AttrValue]
    references: Arrays


@dataclass(frozen=True)
class OperatorSpec:
    """An operator.

    Attributes:
        type: public operator type, for example `ChunkGatedDeltaRule`.
        inputs, outputs, attrs: the IR definition, in IR order.
        infer: output element types and shapes from the inputs'; raises `ShapeError`.
        tiling: the tiling function, the same on host and device.
        kernel: name of the AI Core kernel.
        depends: IR inputs whose value the tiling reads (index < 64).
        placements: where the tiling may run.
        custom: a custom operator (own tiling library, log workspace).
        package: path name prefix of the operator package, for example `ops_attention`; the part behind its first
            `_` names the tiling library. Empty for an operator of no package of its own.
        tiling_capacity: `op_para_size`, bytes of tiling data; None means 16384.
        compile_info: `compile_info_json`; empty means no dynamic-shape binary, so no sink.
        depends_policy: name of a policy whose value `none` removes `depends`, or empty.
        alias: short name for `sqemu op`, or empty.
        case: turns the arrays of an npz into a `Case` for `sqemu op`; raises `KeyError` with the missing key.
        reference: expected outputs by name, from input arrays by IR name, attributes and the chip; in float64 or exact.
        hidden_inputs: what `{hi.KINDn*}` entries of an args format point at: from a kind (`hcom`, `tilefwk`, `hcclsk`)
            to the bytes of each, copied to the device once per load (`reference/tiling_sink_compiler.md` 11.4).
        tolerance: largest normalised RMS error that `sqemu op --verify` and the demo accept, after the output cast.
    """

    type: str
    inputs: tuple[InputSpec, ...]
    outputs: tuple[OutputSpec, ...]
    infer: Infer
    tiling: TilingFunction
    kernel: str
    attrs: tuple[AttrSpec, ...] = ()
    depends: tuple[int, ...] = ()
    placements: Placement = Placement.HOST
    custom: bool = False
    package: str = ""
    tiling_capacity: int | None = None
    compile_info: str = "{}"
    depends_policy: str = ""
    alias: str = ""
    case: Callable[[Arrays], Case] | None = None
    reference: Reference | None = None
    tolerance: float = 0.0
    hidden_inputs: HiddenInputs | None = None
    notes: tuple[str, ...] = field(default=())
