"""`sqemu compile`: formats of graphs, explanations, snapshots, options of every level."""

from __future__ import annotations

import json

import pytest

KEY = "ge.tiling_schedule_optimize"
PROBE_TEXT = """
graph {
  name: "probe"
  op { name: "x" type: "Data" output_desc { dtype: DT_FLOAT shape { dim: 40 } } }
  op { name: "n" type: "Data" attr { key: "index" value { i: 1 } } output_desc { dtype: DT_INT32 shape { dim: 1 } } }
  op { name: "probe0" type: "TilingProbe" input: "x:0" input: "n:0" output_desc { dtype: DT_FLOAT shape { dim: 40 } } }
  op { name: "out" type: "NetOutput" input: "probe0:0" }
  attr { key: "ge.tiling_schedule_optimize" value { s: "1" } }
}
"""


@pytest.fixture
def text_graph(tmp_path):
    """The probe as a GE text graph."""
    path = tmp_path / "ge_proto_00_Build.txt"
    path.write_text(PROBE_TEXT)
    return path


class TestFormats:
    def test_ge_text_compiles_runs_and_is_checked(self, sqemu, probe, text_graph, tmp_path):
        """The three commands that take a graph tell a GE text graph by its content."""
        assert sqemu("compile", text_graph, "-o", tmp_path / "p.sqt").code == 0
        assert sqemu("check", text_graph).code == 0
        found = sqemu("run", text_graph, "--inputs", probe / "in3.npz", "--json")
        assert (found.code, found.objects[0]["faults"]) == (0, [])

    def test_onnx_compiles(self, sqemu, tmp_path):
        """An ONNX model is told by its content, whatever its name."""
        onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
        helper, tensor = onnx.helper, onnx.TensorProto
        node = helper.make_node("TilingProbe", ["x", "n"], ["y"], name="probe0", domain="npu")
        x, n = (helper.make_tensor_value_info(name, t, [1]) for name, t in (("x", tensor.FLOAT), ("n", tensor.INT32)))
        graph = helper.make_graph([node], "g", [x, n], [helper.make_tensor_value_info("y", tensor.FLOAT, [1])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("npu", 1)])
        (tmp_path / "model.bin").write_bytes(model.SerializeToString())
        found = sqemu(
            "compile", tmp_path / "model.bin", "-o", tmp_path / "p.sqt", "--tiling_schedule_optimize", "1", "--json"
        )
        assert found.objects[0]["sinking operators"] == 1

    @pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n", b"name: {", b"\x08\x07\x3a\xff\xff\xff\x7f", b""])
    def test_what_is_no_graph(self, sqemu, tmp_path, data):
        """Any other file is refused in one line with exit code 2."""
        (tmp_path / "g").write_bytes(data)
        found = sqemu("compile", tmp_path / "g", "-o", tmp_path / "p.sqt")
        assert (found.code, found.out) == (2, "")
        assert "Traceback" not in found.err


class TestExplain:
    def test_text(self, sqemu, probe, tmp_path):
        """Gates, condition, attributes, resources and the args format before and after, per node."""
        out = sqemu("compile", probe / "probe.json", "-o", tmp_path / "p.sqt", "--explain").out
        for words in (
            "node probe0: TilingProbe, tiled on the device, before every run",
            "gate G1 option: passed", "gate G3 placement: passed", "sink condition: graph is static: yes",
            "attribute _tiling_sink_op = true", "resources: stream 0, attached stream 1, event 0; engine AIcoreEngine",
            "NOP x 5", "args format before: {i0*}{i1*}{o0*}{ws0*}\n",
            "args format: {i0*}{i1*}{o0*}{ws0*}{tiling_context.tiling_data}",
            "attribute _attached_sync_res_info_list[0]: _attached_resource_type 0;\n",
        ):  # fmt: skip
            assert words in out

    def test_the_same_for_several_nodes_is_said_once(self, sqemu, probe, tmp_path):
        """A warning and a decision that concern four nodes alike are one line with their names."""
        graph = json.loads((probe / "probe.json").read_text())
        graph["nodes"] = [{**graph["nodes"][0], "name": f"p{i}", "outputs": [f"y{i}"]} for i in range(4)]
        graph["outputs"] = ["y0"]
        (probe / "four.json").write_text(json.dumps(graph))
        found = sqemu(
            "compile", probe / "four.json", "-o", tmp_path / "p", "--explain", "--policy", "sink_products=listed"
        )
        stays = [line for line in found.err.splitlines() if "the tiling stays on the host" in line]
        assert len(stays) == 1
        assert stays[0].endswith("(the same for nodes p0, p1, p2, p3)")
        assert found.out.count("tiled on the host, before every launch") == 1 + 4

    def test_json(self, sqemu, probe, tmp_path):
        """One object per node with the same, and one for the graph."""
        objects = sqemu("compile", probe / "probe.json", "-o", tmp_path / "p.sqt", "--explain", "--json").objects
        (node,) = (each for each in objects if each.get("explain") == "node")
        (graph,) = (each for each in objects if each.get("explain") == "graph")
        assert [gate["state"] for gate in node["gates"]] == ["passed"] * 4
        assert [task["task"] for task in node["tasks"]].count("NOP") == 5
        assert [stream["name"] for stream in graph["streams"]] == ["main_0", "tiling_stream_0"]

    def test_a_failed_gate(self, sqemu, probe, tmp_path):
        """A node that stays on the host shows the gate that failed and those that were not asked."""
        out = sqemu(
            "compile", probe / "probe.json", "-o", tmp_path / "p.sqt", "--explain", "--tiling_schedule_optimize", "0"
        ).out
        assert 'gate G1 option: failed (ge.tiling_schedule_optimize is not "1")' in out
        assert "gate G2 device: not asked (G1 option failed)" in out
        assert "unknown shape: _force_unknown_shape: a gate failed" in out


class TestPasses:
    def test_files(self, sqemu, probe, tmp_path):
        """A file per pass in order, the same bytes each time."""
        for name in ("a", "b"):
            assert (
                sqemu("compile", probe / "probe.json", "-o", tmp_path / "p", "--dump-passes", tmp_path / name).code == 0
            )
        files = sorted(path.name for path in (tmp_path / "a").iterdir())
        assert files == [
            "00_graph.json", "01_options.json", "02_shapes.json", "03_marks.json", "04_partition.json", "05_sink.json",
            "06_running_params.json", "07_streams.json", "08_tasks.json", "09_join.json", "10_split.json",
        ]  # fmt: skip
        assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files)
        last = json.loads((tmp_path / "a" / files[-1]).read_text())
        assert (last["pass"], last["nodes"][0]["node"]) == ("split", "probe0")

    def test_nothing_is_written_when_it_fails(self, sqemu, probe, tmp_path):
        """A graph that is refused leaves neither blob nor files."""
        graph = json.loads((probe / "probe.json").read_text())
        graph["nodes"][0]["type"] = "Nobody"
        (tmp_path / "bad.json").write_text(json.dumps(graph))
        found = sqemu("compile", tmp_path / "bad.json", "-o", tmp_path / "p.sqt", "--dump-passes", tmp_path / "d")
        assert found.code == 2
        assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("p.sqt", "d")) == []

    def test_a_folder_that_cannot_be_written(self, sqemu, probe, tmp_path):
        """A file in the place of the folder is an error, and the blob is not written either."""
        (tmp_path / "d").write_text("")
        found = sqemu("compile", probe / "probe.json", "-o", tmp_path / "p.sqt", "--dump-passes", tmp_path / "d")
        assert found.code == 2
        assert "d/00_graph.json" in found.err
        assert not (tmp_path / "p.sqt").exists()


class TestLevels:
    @pytest.mark.parametrize(
        ("arguments", "sinking"),
        [
            ((), 0), (("--option", f"global:{KEY}=1"), 1),
            (("--option", f"session:{KEY}=0", "--option", f"global:{KEY}=1"), 0),
            (("--option", f"{KEY}=1", "--option", f"session:{KEY}=0"), 1),
        ],
    )  # fmt: skip
    def test_precedence(self, sqemu, probe, tmp_path, arguments, sinking):
        """Option before session before global, for a graph that says nothing."""
        graph = json.loads((probe / "probe.json").read_text())
        del graph["options"]
        (tmp_path / "g.json").write_text(json.dumps(graph))
        found = sqemu("compile", tmp_path / "g.json", "-o", tmp_path / "p.sqt", "--json", *arguments)
        assert found.objects[0]["sinking operators"] == sinking

    @pytest.mark.parametrize(
        ("level", "mode", "code"),
        [("session", "--offline", "E10001"), ("global", "--offline", "E10006"), ("global", "--online", "E10001")],
    )
    def test_codes(self, sqemu, probe, tmp_path, level, mode, code):
        """A bad value is reported with the code of its entry point."""
        option = f"{level}:ge.tiling_schedule_optimize=yes"
        found = sqemu("compile", probe / "probe.json", "-o", tmp_path / "p", mode, "--option", option, "--json")
        assert (found.code, json.loads(found.err)["error"]) == (2, code)
