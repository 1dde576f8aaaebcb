"""A small laboratory for compiler tests: two chips, a dozen operators, and a tiler that writes down its requests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from emu_core.chips import Chip
from emu_core.graph import Compiled, CompileOptions
from emu_core.kernels import CoreType, Cost, KernelSpec
from emu_core.operators import AttrSpec, InputSpec, OperatorSpec, OutputSpec, Placement, ShapeError, TensorInfo
from emu_core.policies import CORE_POLICIES, PolicySpec, Scope
from emu_core.tiling import TilingError
from emu_plugins.compiler import POLICIES
from emu_plugins.compiler.pipeline import compile_graph
from emu_plugins.tiling.request import TilingResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_plugins.tiling.request import TilingRequest

A2 = Chip(
    name="ascend910b1", product="A2", family="v200", arch=2201, core_num=24, core_num_aic=24, core_num_aiv=48,
    tiling_cores=24, fused_cores=False, ai_cpus=6, ub_bytes=196608, l1_bytes=524288, l0a_bytes=65536, l0b_bytes=65536,
    l0c_bytes=131072, l2_bytes=1 << 27, memory_bytes=1 << 36, cube_mhz=1800, cube_flops_per_cycle=8192,
    ddr_bytes_per_cycle=32, prefetch_num=8, platform_prefetch_num=0, prefetch_depth=8, platform_prefetch_depth=8,
    model_task_update=True, sq_depth=2048, usable_tasks=2040, max_streams=1984, max_events=65536, max_notifies=8192,
    persistent_tasks=60000, cqe_bytes=16,
)  # fmt: skip
P310 = replace(
    A2, name="ascend310p3", product="310P", family="v100", arch=2002, fused_cores=True, vector_cores=7, prefetch_num=5,
    platform_prefetch_num=10,
    memory_bytes=24 << 30, max_events=1024, persistent_tasks=32760,
)  # fmt: skip

BOTH = Placement.HOST | Placement.AICPU


def same_as_first(inputs: tuple[TensorInfo | None, ...], _: object) -> tuple[TensorInfo, ...]:
    """Output 0 is like input 0, at most of rank 3."""
    first = inputs[0]
    assert first is not None
    if len(first.shape) > 3:
        raise ShapeError(f"rank {len(first.shape)}", input="x", remedy="use at most 3 dimensions")
    return (first,)


def one_int(_: object, __: object) -> tuple[TensorInfo, ...]:
    """Output 0 is one int32."""
    return (TensorInfo("int32", (1,)),)


def probe(type_: str, **changes: Any) -> OperatorSpec:
    """An operator with a depended input `lens` and an optional one, with `changes`."""
    base = OperatorSpec(
        type=type_,
        inputs=(InputSpec("x", ("float16",)), InputSpec("lens", ("int32",)), InputSpec("mask", optional=True)),
        outputs=(OutputSpec("y"),),
        infer=same_as_first,
        tiling=lambda _: None,
        kernel="Kernel",
        attrs=(AttrSpec("scale", "float", 1.0), AttrSpec("sizes", "list_int", (1, 2))),
        depends=(1,),
        placements=BOTH,
    )
    return replace(base, **changes)


OPERATORS = (
    probe("Probe"),
    probe("HostProbe", placements=Placement.HOST),
    probe("DeviceOnly", placements=Placement.AICPU),
    probe("CustomProbe", custom=True),
    probe("NoWorkspace"),
    probe("BadTiling"),
    probe("WrongKey", depends=()),
    probe("PolicyProbe", depends_policy="probe.depend"),
    probe("StaticBinary", compile_info=""),
    probe("LensInt", inputs=(InputSpec("x", ("float16",)),), infer=one_int, depends=(), attrs=()),
    probe("Relu", inputs=(InputSpec("x", ("float16",)),), depends=(), attrs=()),
    probe("Unknown", inputs=(InputSpec("x"),), depends=(), attrs=(), infer=lambda *_: (TensorInfo("int32", (-1, 2)),)),
    probe("Needs", inputs=(InputSpec("x"),), depends=(), attrs=(AttrSpec("axis", "int", None),)),
    probe("Elsewhere", kernel="OtherProduct"),
)


@dataclass
class FakeTiler:
    """Answers by operator type, and keeps the requests."""

    asked: list[TilingRequest] = field(default_factory=list)
    workspaces: tuple[int, ...] = (1024,)
    schedule_mode: int = 0

    def __call__(self, spec: OperatorSpec, request: TilingRequest, chip: Chip) -> TilingResult:
        """The answer for `spec`, the same for any request."""
        self.asked.append(request)
        if spec.type == "BadTiling":
            raise TilingError("the shape does not fit", detail={"ub_bytes": 5})
        key = 99 if spec.type == "WrongKey" else 3
        sizes = () if spec.type == "NoWorkspace" else self.workspaces
        return TilingResult(key, 7, sizes, b"\x01\x02", self.schedule_mode)


@dataclass
class FakeHost:
    """What the compiler asks of the plugin host."""

    operators: dict[str, OperatorSpec]
    kernels: dict[str, KernelSpec]
    policy_specs: tuple[PolicySpec, ...]


def kernel(name: str, products: tuple[str, ...] = ()) -> KernelSpec:
    """A kernel with tiling keys 3 and 4."""
    return KernelSpec(name, CoreType.MIX, (3, 4), lambda _: None, lambda _: Cost(), products)


@dataclass
class Lab:
    """Compiles made-up graphs."""

    chip: Chip = A2
    p310: Chip = P310
    tiler: FakeTiler = field(default_factory=FakeTiler)

    def __post_init__(self) -> None:
        own = PolicySpec("probe.depend", Scope.COMPILE, "lens", ("lens", "none"), "what PolicyProbe depends on")
        self.host = FakeHost(
            {spec.type: spec for spec in OPERATORS},
            {each.name: each for each in (kernel("Kernel"), kernel("OtherProduct", ("950",)))},
            (*CORE_POLICIES, *POLICIES, own),
        )

    def compile(
        self,
        graph: object,
        *,
        chip: Chip | None = None,
        sink: str | None = "1",
        policies: dict[str, str] | None = None,
        options: dict[str, str] | None = None,
        offline: bool | None = None,
        source: str = "",
        details: bool = False,
        progress: Callable[[], object] | None = None,
    ) -> Compiled:
        """Compile `graph`; by default offline for the A2 chip, with the sink option on."""
        given = CompileOptions(options or {}, sink, offline, policies or {}, source, details=details, progress=progress)
        return compile_graph(graph, chip or self.chip, given, self.host, tile=self.tiler)

    @staticmethod
    def node(name: str, type_: str, inputs: list[str | None], **attrs: object) -> dict[str, object]:
        """A node with one output, called after it."""
        found: dict[str, object] = {"name": name, "type": type_, "inputs": inputs, "outputs": [f"{name}_out"]}
        return {**found, "attrs": attrs} if attrs else found

    @staticmethod
    def graph(*nodes: dict[str, object], outputs: list[str] | None = None, **more: object) -> dict[str, object]:
        """A graph of `nodes` over inputs x and lens and constant fixed."""
        return {
            "format": "sqemu-graph",
            "version": 1,
            "name": "g",
            "inputs": [
                {"name": "x", "dtype": "float16", "shape": [4, 8]},
                {"name": "lens", "dtype": "int32", "shape": [1]},
            ],
            "constants": [{"name": "fixed", "dtype": "int32", "shape": [1], "data": [192]}],
            "nodes": list(nodes),
            "outputs": outputs or [f"{nodes[-1]['name']}_out"],
            **more,
        }

    def one(self, type_: str = "Probe", lens: str = "lens", **attrs: object) -> dict[str, object]:
        """A graph of one operator with the three inputs of a probe, the last one absent."""
        return self.graph(self.node("op", type_, ["x", lens, None], **attrs))


@pytest.fixture
def lab() -> Lab:
    """A fresh laboratory."""
    return Lab()
