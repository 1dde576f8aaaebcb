"""`--runtime`, `--tiling` and `--explain` of `sqemu run`, `compile` and `compare-tiling`."""

from __future__ import annotations

import json

import numpy as np
import pytest

VALUES = "reads a value that only the device has"


@pytest.fixture
def free(probe):
    """The folder of the probe, with a graph `free.json` that does not say where its tiling runs."""
    graph = json.loads((probe / "probe.json").read_text())
    (probe / "free.json").write_text(json.dumps({k: v for k, v in graph.items() if k != "options"}))
    return probe


def ran(found):
    """The executions among the JSON lines."""
    assert found.code == 0, found.err
    return [o for o in found.objects if "run" in o]


class TestRuntime:
    @pytest.mark.parametrize("runtime", ["v1", "v2"])
    def test_outputs_are_the_same(self, sqemu, probe, runtime):
        """Key 2 for n = 5, five blocks of 8 elements, whatever runs the graph."""
        out = probe / "out.npz"
        assert sqemu("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--outputs", out, "--runtime", runtime)
        with np.load(out) as arrays:
            assert arrays["y"].tolist() == [200.0 + i // 8 for i in range(40)]

    @pytest.mark.parametrize(("arguments", "name"), [
        ((), "v1"), (("--runtime", "v1"), "v1"), (("--runtime", "v2"), "v2"), (("--policy", "runtime=v2"), "v2"),
        (("--runtime", "v2", "--policy", "runtime=v2"), "v2"),
    ])  # fmt: skip
    def test_json_names_it(self, sqemu, probe, arguments, name):
        """Each execution says its runtime; V2 patches nothing."""
        (one,) = ran(sqemu("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--json", *arguments))
        assert (one["runtime"], bool(one["patches"])) == (name, name == "v1")

    def test_times(self, sqemu, probe):
        """V2: a round trip of 30 us, a launch of 3 us and a kernel of 2 ns, although the graph asks for the sink."""
        (one,) = ran(sqemu("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--json", "--runtime", "v2"))
        assert one["ended"] - one["started"] == 33_002

    def test_a_blob_runs_by_either(self, sqemu, probe):
        """A compiled sink runs by V2 as well, and the blob does not depend on the runtime."""
        for name in ("v1", "v2"):
            blob = probe / f"{name}.sqt"
            assert sqemu("compile", probe / "probe.json", "-o", blob, "--runtime", name).code == 0
            (one,) = ran(sqemu("run", blob, "--inputs", probe / "in5.npz", "--json", "--runtime", "v2"))
            assert one["ended"] == 33_002
        assert (probe / "v1.sqt").read_bytes() == (probe / "v2.sqt").read_bytes()

    @pytest.mark.parametrize("flag", [("--tiling", "sink"), ("--tiling_schedule_optimize", "1")])
    def test_the_option_is_said_to_have_no_effect(self, sqemu, free, flag):
        """Who asks V2 for the sink is told that it never looks there; the host tiles all the same."""
        line = ("run", free / "free.json", "--inputs", free / "in5.npz", "--json", "--runtime", "v2")
        found = sqemu(*line, *flag)
        assert "note: runtime v2 never looks at the option" in found.err
        assert ran(found)[0]["ended"] == 33_002
        assert "note:" not in sqemu(*line).err

    def test_contradicting_policy(self, sqemu, probe):
        """Flag and policy that name two runtimes are refused."""
        found = sqemu("run", probe / "probe.json", "--runtime", "v2", "--policy", "runtime=v1", "--json")
        assert (found.code, found.error["error"]) == (2, "option.contradiction")

    def test_unknown(self, sqemu, probe):
        """There are two."""
        found = sqemu("run", probe / "probe.json", "--runtime", "v3")
        assert found.code == 2
        assert "'v1'" in found.err
        assert "'v2'" in found.err

    def test_a_record_names_it(self, sqemu, probe):
        """The policies of a run record say which runtime it was."""
        record = probe / "r.sqr"
        sqemu("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--record", record, "--runtime", "v2")
        assert "runtime" in json.dumps(sqemu("dump", record, "--json").objects)


class TestTiling:
    @pytest.mark.parametrize(("arguments", "sunk"), [
        ((), False), (("--tiling", "sink"), True), (("--tiling", "host"), False),
        (("--tiling", "host", "--option", "ge.tiling_schedule_optimize=1"), False),
        (("--tiling", "sink", "--option", "ge.tiling_schedule_optimize=0"), True),
        (("--tiling", "sink", "--tiling_schedule_optimize=1"), True),
        (("--tiling", "host", "--tiling_schedule_optimize=0"), False),
        (("--tiling", "host", "--tiling_schedule_optimize="), False),
    ])  # fmt: skip
    def test_where_it_runs(self, sqemu, free, arguments, sunk):
        """Sunk there is an update; on the host a round trip of 30 us, launch and kernel."""
        (one,) = ran(sqemu("run", free / "free.json", "--inputs", free / "in5.npz", "--json", *arguments))
        assert bool(one["patches"]) is sunk
        assert (one["ended"] == 33_002) is not sunk

    @pytest.mark.parametrize(("arguments", "warns"), [
        ((), True), (("--tiling", "host"), False), (("--tiling_schedule_optimize", "0"), False),
        (("--runtime", "v2"), False), (("--policy", "runtime=v2"), False), (("--runtime", "v1"), True),
    ])  # fmt: skip
    def test_how_to_sink_is_said_where_it_is_news(self, sqemu, free, arguments, warns):
        """Not when host tiling was asked for, nor with an execution graph, which never sinks; `--explain` tells all."""
        found = sqemu("run", free / "free.json", "--inputs", free / "in5.npz", "--explain", *arguments)
        assert ("the tiling stays on the host" in found.err) == warns
        assert "gate G1 option: failed" in found.out

    def test_compile_for_an_execution_graph_does_not_say_how_to_sink(self, sqemu, free):
        """`compile --runtime v2` is as quiet as the run, and without it the warning is there."""
        arguments = ("compile", free / "free.json", "-o", free / "f.sqt")
        assert "the tiling stays" in sqemu(*arguments).err
        assert "the tiling stays" not in sqemu(*arguments, "--runtime", "v2").err

    def test_it_comes_before_the_graph(self, sqemu, probe):
        """The probe's own option says sink; the command line wins, as with the older flag."""
        (one,) = ran(sqemu("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--json", "--tiling", "host"))
        assert (one["patches"], one["ended"]) == ([], 33_002)

    @pytest.mark.parametrize(("tiling", "value"), [("host", "1"), ("sink", "0"), ("sink", "")])
    def test_contradictions(self, sqemu, free, tiling, value):
        """Two flags that say different things are an option error, with nothing run."""
        found = sqemu("run", free / "free.json", "--tiling", tiling, f"--tiling_schedule_optimize={value}", "--json")
        assert (found.code, found.error["error"]) == (2, "E10001")
        assert "contradict" in found.error["what"]

    def test_a_bad_value_of_the_older_flag_stays_its_error(self, sqemu, free):
        """`2` is no value, whatever --tiling says."""
        found = sqemu("run", free / "free.json", "--tiling", "sink", "--tiling_schedule_optimize=2", "--json")
        assert (found.code, found.error["error"]) == (2, "E10006")

    def test_a_blob_is_compiled_already(self, sqemu, probe):
        """Where the tiling runs was decided when the blob was made."""
        sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt")
        found = sqemu("run", probe / "p.sqt", "--inputs", probe / "in5.npz", "--tiling", "host", "--json")
        assert (found.code, found.error["error"]) == (2, "option.compiled")
        assert "--tiling" in found.error["what"]


class TestExplain:
    def test_compile_as_json(self, sqemu, probe):
        """One object has the nodes, and is there for runtime V2 only."""
        line = ("compile", probe / "probe.json", "-o", probe / "p.sqt", "--explain", "--json")
        for runtime, count in (("v1", 0), ("v2", 1)):
            found = [o for o in sqemu(*line, "--runtime", runtime).objects if o.get("explain") == "execution graph"]
            assert len(found) == count
        (graph,) = found
        assert (graph["runtime"], graph["name"]) == ("v2", "probe")
        assert [n["kind"] for n in graph["nodes"]] == [
            "SinkNodeBin", "InferShape", "CopyD2H", "Tiling", "AllocWorkspace", "CopyTilingData", "GetKernelEntry",
            "BuildArgs", "LaunchKernel",
        ]  # fmt: skip
        launch = {"kernel": "6.entry", "block_dim": "3.block_dim", "schedule_mode": "3.schedule_mode", "args": "7.args"}
        assert graph["nodes"][-1]["inputs"] == launch

    def test_compile_as_text(self, sqemu, probe):
        """A table of nodes with what they take, and why the key comes from where it does."""
        line = ("compile", probe / "probe.json", "-o", probe / "p.sqt", "--explain")
        assert "execution graph" not in sqemu(*line).out
        words = " ".join(sqemu(*line, "--runtime", "v2").out.split())
        for text in ("execution graph (runtime v2)", "GetKernelEntry", "Tiling main probe0", "LaunchKernel", VALUES):
            assert text in words

    def test_run(self, sqemu, probe):
        """What the compiler decided, then the execution graph, then the execution."""
        line = ("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--explain", "--runtime", "v2")
        out = sqemu(*line).out
        places = [out.index(text) for text in ("decisions", "execution graph", "run 1: ok, 33.0")]
        assert places == sorted(places)
        objects = sqemu(*line, "--json").objects
        assert [o["explain"] for o in objects if "explain" in o] == ["node", "graph", "execution graph"]
        assert objects[-1]["runtime"] == "v2"

    def test_run_by_v1(self, sqemu, probe):
        """What the compiler decided, and no execution graph."""
        out = sqemu("run", probe / "probe.json", "--inputs", probe / "in5.npz", "--explain").out
        assert "gate G1 option: passed" in out
        assert "execution graph" not in out

    def test_a_blob(self, sqemu, probe):
        """By V2 its execution graph is shown; by V1 there is nothing to explain."""
        sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt")
        line = ("run", probe / "p.sqt", "--inputs", probe / "in5.npz", "--explain", "--json")
        assert [o.get("explain") for o in sqemu(*line, "--runtime", "v2").objects] == ["execution graph", None]
        found = sqemu(*line)
        assert (found.code, found.error["error"]) == (2, "option.compiled")


class TestComparison:
    def test_a_third_way(self, sqemu, probe):
        """V2 has its own object: tiled on the host, a round trip, nothing of device tiling or updates."""
        line = ("compare-tiling", probe / "probe.json", "--inputs", probe / "in5.npz", "--json")
        found = sqemu(*line, "--runtime", "v2")
        sink, host, v2, last = found.objects
        assert (found.code, last) == (0, {"outputs_equal": [True]})
        assert [(o["tiling"], o["runtime"]) for o in (sink, host, v2)] == [
            ("sink", "v1"),
            ("host", "v1"),
            ("host", "v2"),
        ]
        assert (v2["duration"], v2["parts"]["host"], v2["parts"]["kernels"]) == (33_002, 30_000, 3_002)
        assert (v2["parts"]["tiling"], v2["parts"]["updates"], v2["sunk_operators"]) == (0, 0, 0)
        assert len(sqemu(*line).objects) == len(sqemu(*line, "--runtime", "v1").objects) == 3

    def test_text(self, sqemu, probe):
        """A timeline and a column more."""
        out = sqemu("compare-tiling", probe / "probe.json", "--inputs", probe / "in5.npz", "--runtime", "v2").out
        for text in ("Runtime V2", "v2 µs", "Outputs of all ways are equal"):
            assert text in out

    def test_super_kernels_sink(self, sqemu, probe):
        """Operators of a super kernel sink without an update, and are counted."""
        graph = json.loads((probe / "probe.json").read_text())
        graph["nodes"][0]["attrs"] = {"_super_kernel_scope": "s"}
        (probe / "super.json").write_text(json.dumps(graph))
        found = sqemu(
            "compare-tiling", probe / "super.json", "--inputs", probe / "in5.npz", "--json", "--runtime", "v2"
        )
        assert [o.get("sunk_operators") for o in found.objects] == [1, 0, 0, None]
