"""The blob: tensors, operators, kernels, streams, events, tasks, and the policies they were made under.

Mirrors the vendor's `ModelBuilder::SaveDataToModel` (`ModelTaskDef`, weights, kernel store of an `.om`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.policies import Scope
from emu_plugins.compiler.options import DETERMINISTIC, DETERMINISTIC_LEVEL
from emu_plugins.compiler.shapes import tensor_bytes
from emu_plugins.compiler.sink import Tiling
from emu_plugins.tiling.instances import IR_COUNTS
from formats.blob.model import Blob, BlobKernel, BlobOp, BlobTensor, TensorRole
from formats.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emu_core.kernels import KernelSpec
    from emu_core.operators import AttrValue, TensorInfo
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.program import Program
    from emu_plugins.compiler.stream_ends import TaskList
    from emu_plugins.compiler.tasks import NodePlan

STAGE = "emit"


def number_kernels(nodes: Iterable[BoundNode]) -> dict[str, int]:
    """Index of each kernel by name, in order of first use."""
    return {name: i for i, name in enumerate(dict.fromkeys(bound.kernel.name for bound in nodes))}


def build_tensors(
    graph: Graph, nodes: Sequence[BoundNode], infos: Mapping[str, TensorInfo]
) -> tuple[tuple[BlobTensor, ...], dict[str, int]]:
    """All tensors and their index by name: inputs, constants in use, then intermediates in execution order."""
    used = {name for bound in nodes for name in bound.node.inputs} | set(graph.outputs)
    found = [_tensor(each.name, each.info, TensorRole.INPUT) for each in graph.inputs]
    found.extend(
        _tensor(each.name, each.info, TensorRole.CONSTANT, each.data) for each in graph.constants if each.name in used
    )
    for bound in nodes:
        found.extend(_tensor(name, infos[name], TensorRole.INTERMEDIATE) for name in bound.node.outputs)
    return tuple(found), {tensor.name: i for i, tensor in enumerate(found)}


def _tensor(name: str, info: TensorInfo, role: TensorRole, data: bytes = b"") -> BlobTensor:
    return BlobTensor(name, BY_NAME[info.dtype].code, info.shape, role, tensor_bytes(info), data)


def build_op(plan: NodePlan, marks: Marks, index: Mapping[str, int], flags: tuple[int, int] = (0, 0)) -> BlobOp:
    """The operator of `plan`: IR attributes first in IR order, then the GE attributes that are set.

    `flags`: deterministic and its level; the loader puts them into the tiling context.
    """
    told: dict[str, AttrValue] = {
        name: flag for name, flag in zip((DETERMINISTIC, DETERMINISTIC_LEVEL), flags, strict=True) if flag
    }
    if plan.bound.counts:
        told[IR_COUNTS] = plan.bound.counts
    bound, tiling, ffts = plan.bound, plan.params.tiling, plan.params.ffts_plus
    return BlobOp(
        name=bound.node.name,
        type=bound.spec.type,
        inputs=tuple(None if name is None else index[name] for name in bound.node.inputs),
        outputs=tuple(index[name] for name in bound.node.outputs),
        workspaces=plan.params.workspaces,
        attrs={**bound.attrs, **bound.ge_attrs, **marks.attributes(), **(ffts.attributes() if ffts else {}), **told},
        depends=marks.depends,
        sink=plan.way is Tiling.DEVICE,
        host_tiling=plan.way is Tiling.HOST,
        custom=bound.own_library,
        tiling_key=tiling.tiling_key,
        tiling_block_dim=tiling.block_dim,
        tiling_data=tiling.data,
        tiling_capacity=bound.tiling_capacity,
        compile_info=bound.compile_info,
    )


def policies_in_force(policies: PolicySet) -> dict[str, str]:
    """Name and value of every policy of scope *compile*, sorted by name."""
    names = sorted(spec.name for spec in policies if spec.scope is Scope.COMPILE)
    return {name: policies[name] for name in names}


def build_blob(program: Program, plans: Sequence[NodePlan], listed: TaskList, flags: tuple[int, int] = (0, 0)) -> Blob:
    """The blob of a program whose every node has a plan."""
    graph = program.graph
    tensors, index = build_tensors(graph, program.nodes, program.infos)
    return Blob(
        chip=program.chip.name,
        name=graph.name,
        unknown_shape=program.unknown_shape,
        streams=listed.streams,
        events=listed.events,
        tasks=listed.tasks,
        ops=tuple(build_op(plan, program.marks[plan.bound.node.name], index, flags) for plan in plans),
        tensors=tensors,
        kernels=_kernels(plan.bound.kernel for plan in plans),
        inputs=tuple(index[each.name] for each in graph.inputs),
        outputs=tuple(index[name] for name in graph.outputs),
        policies=policies_in_force(program.policies),
    )


def _kernels(specs: Iterable[KernelSpec]) -> tuple[BlobKernel, ...]:
    unique = {spec.name: spec for spec in specs}
    return tuple(BlobKernel(spec.name, int(spec.core_type), tuple(spec.tiling_keys)) for spec in unique.values())
