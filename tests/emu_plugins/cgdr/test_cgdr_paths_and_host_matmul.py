"""The whole run shows which path computed what, and what the host's staging formula asks for."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from emu_core import CompileOptions, Device, PluginHost, compile_graph, hookimpl
from emu_core.errors import PluginError
from emu_core.trace import TaskStarted
from emu_plugins.cgdr.contracts import StagePlan
from emu_plugins.cgdr.tiling_function import tile_context
from emu_plugins.engines.ai_core import facts_of
from emu_plugins.kernels import tiling_probe
from tools.executions import as_values
from tools.single_op import case_arrays, case_graph

C04, C06 = "c04_dk80_dv80", "c06_dk127_dv128_tail"


@pytest.fixture(scope="module")
def plugins():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture
def execute(plugins, load_case):
    """Run a stored case through compiler and device with policies, tiling on the AI CPU or on the host."""
    spec = plugins.operators["ChunkGatedDeltaRule"]

    def run(name, *, sink=True, **policies):
        case = spec.case(load_case(name) if isinstance(name, str) else name)
        options = CompileOptions(
            offline=False, policies={} if sink else {"cgdr.tiling_depend": "none"}, source="case"
        )  # fmt: skip
        blob = compile_graph(case_graph(spec, case), "ascend310p3", options, plugins)
        given = {key.replace("__", "."): value for key, value in policies.items()}
        return Device("ascend310p3", given, plugins).load(blob).execute(case_arrays(spec, case))

    return run


def launched(result):
    """Facts of the launch of ChunkGatedDeltaRule."""
    (facts,) = (e.facts for e in result.trace if isinstance(e, TaskStarted) and e.kind == "kernel")
    return facts


def wide_arrays():
    """65 tokens of one head with Dk 144 and Dv 96."""
    rng = np.random.Generator(np.random.PCG64(0))
    widths = {"query": (65, 1, 144), "key": (65, 1, 144), "value": (65, 1, 96), "initial_state": (1, 1, 96, 144)}
    made = {name: (rng.standard_normal(shape) / 12).astype(np.float16) for name, shape in widths.items()}
    return {**made, "beta": np.full((65, 1), 0.5, np.float16), "actual_seq_lengths": np.array([65], np.int32)}


def chunks(arrays):
    """Full chunks and tails of all heads, from the lengths."""
    lengths, heads = arrays["actual_seq_lengths"].tolist(), arrays["value"].shape[1]
    return heads * sum(n // 64 for n in lengths), heads * sum(n % 64 > 0 for n in lengths)


class TestPath:
    def test_cube(self, execute, load_case):
        """Heads of 80 and whole chunks are on the Cube, all of them."""
        full, tails = chunks(load_case(C04))
        assert tails == 0
        assert launched(execute(C04))["path"] == f"{full} chunks cube"

    def test_tails(self, execute, load_case):
        """A last chunk of fewer than 64 rows is on the Vector path."""
        full, tails = chunks(load_case(C06))
        assert tails > 0
        assert launched(execute(C06))["path"] == f"{full} chunks cube, {tails} tails vector"

    @pytest.mark.parametrize(("inverse", "name"), [("vector", "vector"), ("blocked", "vector, inverse on cube")])
    def test_wide_heads(self, execute, inverse, name):
        """Heads of 144, vStep 96: the Vector path; `cgdr.fallback_inverse=blocked` has the inverse on the Cube."""
        path = launched(execute(wide_arrays(), cgdr__fallback_inverse=inverse))["path"]
        assert path == f"1 chunks {name}, 1 tails vector"

    def test_float32(self, execute):
        """With `cgdr.product=fp32` no path of the device is taken."""
        assert launched(execute(C04, cgdr__product="fp32"))["path"].startswith("float32")

    def test_results_as_json(self, execute):
        """`launches` of a result's JSON values has path, kernel, key and block dim."""
        launches = json.loads(json.dumps(as_values(execute(C04), {})))["launches"]
        assert {key: launches[0][key] for key in ("kernel", "tiling_key")} == {
            "kernel": "ChunkGatedDeltaRule",
            "tiling_key": 1,
        }
        assert launches[0]["path"].endswith("cube")


class TestHostMatmul:
    @pytest.mark.parametrize("sink", [True, False])
    def test_the_whole_run_names_both_sides(self, execute, sink):
        """64x64x64: the report has both formulas, the bytes overwritten and both repairs, wherever it tiles."""
        faults = execute(C04, sink=sink, cgdr__host_matmul="64x64x64").faults
        fault = next(f for f in faults if f.id == "cgdr.stage")
        text = fault.text()
        for part in (
            "2 * (2 * 64 * 64 + 64 * 64) * 2 = 49152",
            "2 * 65536 = 131072",
            "overwrites 49152 bytes that the host planned for block 1",
            "host: ask for 131072 bytes per core",
            "device: derive its slot of 24576 bytes",
        ):
            assert part in text

    def test_default_policy_changes_nothing(self, make_context):
        """A context with the default policies asks for what one without policies asks for."""
        policies = {"cgdr.host_matmul": "64x128x128", "cgdr.stage_slots": "2"}
        assert tile_context(make_context(policies=policies)) == tile_context(make_context())

    def test_the_host_asks_for_less(self, make_context):
        """Per core 131072 - 49152 = 81920 bytes less are needed; 32 MiB stay the least that is asked for."""
        policies = {"cgdr.host_matmul": "64x64x64", "cgdr.stage_slots": "2"}
        before, after = tile_context(make_context()), tile_context(make_context(policies=policies))
        assert before.workspace_need - after.workspace_need == 81920 * before.block_dim
        assert after.workspace == max(after.workspace_need, 33554432)

    def test_what_is_asked_is_what_the_report_counts(self):
        """States of 32 MiB and 8 blocks: 33554432 + 8 * 49152 = 33947648 bytes are asked for, 34603008 are reached."""
        plan = StagePlan(64, 64, 64, 2, 33554432, 8)
        assert (plan.asked, plan.reached) == (33947648, 34603008)


def test_a_kernel_without_facts_tells_key_and_block_dim(plugins):
    """TilingProbe has no facts of its own: kernel, tiling key, block dim and nothing else."""
    spec = plugins.operators["TilingProbe"]
    case = spec.case({"x": np.zeros(8, np.float32), "n": np.array([2], np.int32)})
    blob = compile_graph(case_graph(spec, case), "ascend310p3", CompileOptions(offline=False), plugins)
    result = Device("ascend310p3", plugins=plugins).load(blob).execute(case_arrays(spec, case))
    assert launched(result) == {"kernel": "TilingProbe", "tiling_key": 2, "block_dim": 2}


def test_facts_that_raise_are_the_error_of_their_plugin(plugins):
    """A kernel whose facts raise something other than a fault ends with the plugin's error."""
    kernel = replace(plugins.kernels["TilingProbe"], facts=lambda _launch: {"path": 1 // 0})
    with pytest.raises(PluginError) as caught:
        facts_of(kernel, None)
    assert caught.value.id == "plugin.kernel-raised"


class PolicyProbe:
    """A plugin with TilingProbe under another name: two blocks more when the tiling sees `nop_model=latency`."""

    @hookimpl
    def sqemu_operators(self):
        """The operator."""

        def tiling(context):
            tiling_probe.OPERATOR.tiling(context)
            if context.policies is not None and context.policies["nop_model"] == "latency":
                context.set_block_dim(5)

        return (replace(tiling_probe.OPERATOR, type="PolicyProbe", alias="", tiling=tiling),)


@pytest.mark.parametrize("sink", ["1", "0"])
def test_tiling_functions_see_the_policies_of_the_device(sink):
    """On the AI CPU and on the host, the tiling of a run reads the policies of the device it runs on."""
    host = PluginHost([PolicyProbe()])
    spec = host.operators["PolicyProbe"]
    case = spec.case({"x": np.zeros(8, np.float32), "n": np.array([3], np.int32)})
    graph = {**case_graph(spec, case), "options": {"ge.tiling_schedule_optimize": sink}}
    blob = compile_graph(graph, "ascend310p3", CompileOptions(offline=False), host)
    for policies, blocks in (({}, 3), ({"nop_model": "latency"}, 5)):
        result = Device("ascend310p3", policies, host).load(blob).execute(case_arrays(spec, case))
        assert launched(result)["block_dim"] == blocks
        assert ("aicpu" in {e.kind for e in result.trace if isinstance(e, TaskStarted)}) is (sink == "1")
