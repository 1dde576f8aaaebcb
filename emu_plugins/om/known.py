"""Whether an operator of an offline model can run here as it is, and what a blob says of it then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from posixpath import basename
from typing import TYPE_CHECKING, Any

from emu_plugins.compiler.args_format import parse_args_format
from emu_plugins.om.chosen import CUSTOM_AICPU, Way, way_of
from emu_plugins.om.tilings import AI_CORE, KIND_SHIFT
from emu_plugins.tiling.instances import IR_COUNTS
from formats.blob import BlobKernel
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from emu_core.chips import Chip
    from emu_core.operators import AttrValue, OperatorSpec
    from emu_core.plugins import PluginHost
    from emu_plugins.om.attributes import Value
    from emu_plugins.om.reader import OmModel
    from emu_plugins.om.tasks import Task
    from emu_plugins.om.tilings import Tiling
    from emu_plugins.om.values import Op
    from formats.blob import BlobOp

TILING_IDS = "_op_tiling_ids"
_CAPACITY, _COMPILE_INFO = "op_para_size", "compile_info_json"
_MOST_CAPACITY = 16 << 20
_NONE = BlobKernel("", 0, ())


@dataclass(frozen=True)
class Known:
    """An operator as plugins know it.

    Attributes:
        why_not: why it cannot run as it is; empty when it can.
        kernel: its kernel with all tiling keys.
        spec, tiling, sinks, custom, attrs, counts: what a blob says of it.
    """

    why_not: str = ""
    kernel: BlobKernel = _NONE
    spec: OperatorSpec | None = None
    tiling: Tiling | None = None
    sinks: bool = False
    custom: bool = False
    attrs: Mapping[str, Value] | None = None
    slots: int = 0

    def describe(self, op: BlobOp) -> BlobOp:
        """`op` with everything a loader needs to tile and launch it; `op` itself when it cannot run."""
        if self.why_not or self.spec is None:
            return op
        spec, attrs, tiling = self.spec, self.attrs or {}, self.tiling
        inputs = (*op.inputs, *(None,) * (self.slots - len(op.inputs)))
        counts = _counts(spec, len(inputs))
        told: dict[str, AttrValue] = dict(_attributes(spec, attrs))
        if any(each.dynamic for each in spec.inputs):
            told[IR_COUNTS] = counts
        capacity, info = attrs.get(_CAPACITY), attrs.get(_COMPILE_INFO)
        return replace(
            op,
            inputs=inputs,
            attrs=told,
            depends=spec.depends if self.sinks else (),
            sink=self.sinks,
            custom=self.custom,
            tiling_key=tiling.key if tiling else self.kernel.tiling_keys[0],
            tiling_block_dim=tiling.block_dim if tiling else 0,
            tiling_data=tiling.data if tiling else b"",
            tiling_capacity=_capacity(capacity, spec),
            compile_info=info if isinstance(info, str) else "",
        )


def known_operator(op: Op, tasks: Sequence[Task], model: OmModel, chip: Chip, host: PluginHost) -> Known:
    """What plugins know of `op`, which has the tasks `tasks`."""
    spec = host.operators.get(op.type)
    if spec is None:
        return Known(f"no plugin has the operator {op.type}")
    kernel = host.kernels.get(spec.kernel)
    if kernel is None:
        return Known(f"no plugin has the kernel {spec.kernel}")
    if kernel.products and chip.product not in kernel.products:
        return Known(f"kernel {spec.kernel} has no binary for {chip.name}")
    if not _fits(spec, op):
        return Known(f"it has {len(op.data_inputs)} inputs and {len(op.output_descs)} outputs, {op.type} has others")
    tilings = [task for task in tasks if way_of(task)[0] is Way.PREPROCESS]
    kernels = [task for task in tasks if way_of(task)[0] is Way.KERNEL]
    sinks = bool(tilings) and any(way_of(task)[0] is Way.UPDATE for task in tasks)
    tiling = stored_tiling(op, model)
    why = _unreadable(kernels) or _unserved(tilings, host)
    if not why and tiling is None and not sinks:
        why = "its tiling is not stored in the file"
    if not why and tiling is not None and tiling.key not in kernel.tiling_keys:
        why = f"kernel {spec.kernel} has no tiling key {tiling.key}"
    return Known(
        why,
        BlobKernel(kernel.name, int(kernel.core_type), kernel.tiling_keys),
        spec,
        tiling,
        sinks,
        any(task.kernel_type == CUSTOM_AICPU for task in tilings),
        op.attrs,
        max(len(op.data_inputs), len(spec.inputs)),
    )


def _fits(spec: OperatorSpec, op: Op) -> bool:
    """Whether the numbers of inputs and outputs are possible; optional inputs at the end may be missing."""
    given, dynamic = len(op.data_inputs), sum(each.dynamic for each in spec.inputs)
    needed = max((i for i, each in enumerate(spec.inputs, 1) if not each.optional), default=0)
    most = len(spec.inputs)
    inputs = given >= needed and (given <= most or dynamic == 1) and dynamic <= 1
    return inputs and len(op.output_descs) == len(spec.outputs)


def _counts(spec: OperatorSpec, slots: int) -> tuple[int, ...]:
    """Slots per IR input: a dynamic one takes what the others leave."""
    others = sum(not each.dynamic for each in spec.inputs)
    return tuple(slots - others if each.dynamic else 1 for each in spec.inputs)


def stored_tiling(op: Op, model: OmModel) -> Tiling | None:
    """The stored answer of the operator's tiling, or None."""
    ids = op.attrs.get(TILING_IDS)
    wanted = [i for i in ids if isinstance(i, int) and _kind(i) == AI_CORE] if isinstance(ids, tuple) else []
    return next((model.tiling_of[i] for i in wanted if i in model.tiling_of), None)


def _kind(number: int) -> int:
    return number >> KIND_SHIFT & 0xFF


def _unreadable(kernels: Iterable[Task]) -> str:
    for task in kernels:
        if not task.args_format:
            return "its kernel task has no args format"
        try:
            parse_args_format(task.args_format)
        except FormatError as error:
            return f"its args format cannot be read: {error.what}"
    return ""


def _unserved(tilings: Iterable[Task], host: PluginHost) -> str:
    """Why no AI CPU function here answers a tiling task."""
    for task in tilings:
        library = basename(task.so_name)
        served = any(
            spec.function == task.kernel_name and fnmatchcase(library, spec.library) for spec in host.aicpu_kernels
        )
        if not served:
            return f"no AI CPU function {task.kernel_name} of library {library}"
    return ""


def _attributes(spec: OperatorSpec, attrs: Mapping[str, Value]) -> Iterable[tuple[str, AttrValue]]:
    """Values of the IR attributes that the file has and that are of the right kind."""
    for each in spec.attrs:
        value = attrs.get(each.name)
        converted = _CONVERTED[each.kind](value)
        if converted is not None:
            yield each.name, converted


def _numbers(value: object, kinds: type | tuple[type, ...]) -> tuple[int, ...] | None:
    fits = isinstance(value, tuple) and all(isinstance(each, kinds) for each in value)
    return value if fits else None  # type: ignore[return-value]  # looked at above


_CONVERTED: Mapping[str, Callable[[Any], Any]] = {
    "bool": lambda value: value if isinstance(value, bool) else None,
    "int": lambda value: value if isinstance(value, int) and not isinstance(value, bool) else None,
    "float": lambda value: float(value) if isinstance(value, float) else None,
    "str": lambda value: value if isinstance(value, str) else None,
    "list_int": lambda value: _numbers(value, int),
    "list_float": lambda value: _numbers(value, float),
}


def _capacity(given: Value, spec: OperatorSpec) -> int:
    if isinstance(given, int) and 0 < given <= _MOST_CAPACITY:
        return given
    return spec.tiling_capacity if spec.tiling_capacity is not None else 16384
