"""Offline models (`.om`) on the command line: dump, check, run (`docs/om.md`)."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from emu_core import PluginHost
from emu_core.api import compile_graph
from emu_core.graph import CompileOptions
from emu_plugins.om import messages
from emu_plugins.om.from_blob import om_of_blob
from emu_plugins.om.ports import PortInfo, Ports
from emu_plugins.om.tilings import Tiling
from emu_plugins.om.writer import (
    attribute,
    compressed,
    compressed_attribute,
    inout_info,
    kernel_items,
    model_def,
    so_bins,
    task_info,
    tiling_data,
    write_om,
)
from tools.show import PAPER, cells

REAL = Path(__file__).parents[1] / "data" / "om" / "autoencoder_310.om"


@pytest.fixture(scope="module")
def real_inputs(tmp_path_factory):
    """Inputs of the real file."""
    path = tmp_path_factory.mktemp("om") / "in.npz"
    np.savez(path, input=np.zeros((100, 784), "f4"))
    return path


@pytest.fixture
def sink(probe):
    """The probe graph, compiled and written as an offline model; gives its path."""
    graph = json.loads((probe / "probe.json").read_text())
    blob = compile_graph(graph, "ascend310p3", CompileOptions(offline=True), PluginHost())
    path = probe / "probe.om"
    path.write_bytes(om_of_blob(blob))
    return path


@pytest.fixture
def rich(tmp_path):
    """Two models with something in every partition; gives the path."""
    ports = Ports((PortInfo("x", 16, 2, 0, (4,)),), (PortInfo("y", 8, 9, 99, (-1,)),))
    op = {"name": b"op", "type": b"Add", "id": 3, "workspace_bytes": [64], "attr": [compressed_attribute(0, 0)]}
    attrs = [*compressed(["kernel"], ["te_add"], [True]), attribute("soc_version", "Ascend310P3")]
    kernel = {
        "context": {"kernel_type": 2, "op_index": 3, "args_format": b"{i0*}"},
        "block_dim": 8,
        "kernel_name": b"te_add",
        "args": b"\x01\x02",
    }
    first = [
        (8, inout_info(ports)),
        (0, model_def({"name": b"first", "graph": [{"op": [op]}], "attr": attrs})),
        (3, kernel_items([("te_add", b"\x7fELF")])),
        (2, task_info([{"type": 1, "event_id": 6}, {"stream_id": 2, "kernel": kernel}, {"type": 99}])),
        (5, so_bins([("lib.so", "me", 1, b"ELF")])),
        (12, tiling_data([Tiling(7, 8, b"abcd", (4096,), (5,))])),
        (20, b"of another executor"),
    ]
    path = tmp_path / "rich.om"
    path.write_bytes(write_om([first, [(0, model_def({"name": b"second"}))]], name="rich", wide=True))
    return path


def section(outcome, name):
    """Records of a section."""
    return [each for each in outcome.objects if each["section"] == name]


class TestDump:
    def test_summary(self, sqemu):
        """The first lines say name, size, version, and what the model has."""
        out = sqemu("dump", REAL, "--summary").out
        assert "hh_om: offline model, 618993 bytes, version 0x20000000" in out
        text = " ".join(out.split())
        assert "model 0 (hh_om) for Ascend310: 30 tasks, 2 streams, 1 event, 46 operators, 26 kernels" in text
        assert "6014464 bytes of memory, 386560 of weights" in text

    def test_all_sections(self, sqemu):
        """Partitions, attributes, operators, weights, kernels and tasks follow, each under its heading."""
        lines = sqemu("dump", REAL).out.splitlines()
        wanted = ["Partitions", "Attributes of the model", "Operators", "Weights", "Kernels", "Tasks"]
        assert [line for line in lines if line in wanted] == wanted
        assert any(line.split() == ["2", "TASK_INFO", "606165", "605857", "12828"] for line in lines)

    def test_fits_80_columns(self, sqemu, rich, sink):
        """No line of any listing is wider than 80 columns."""
        for path in (REAL, rich, sink):
            assert max(cells(line) for line in sqemu("dump", path).out.splitlines()) <= PAPER

    def test_json_of_the_real_file(self, sqemu):
        """One object per thing: the counts of the model are those of its sections."""
        found = sqemu("dump", REAL, "--json")
        (header,), (model,) = section(found, "header"), section(found, "models")
        assert (header["name"], header["length"], header["models"]) == ("hh_om", 618737, 1)
        assert [p["size"] for p in section(found, "partitions")] == [154630, 386560, 64667, 12828]
        for name in ("attributes", "ops", "weights", "kernels", "tasks"):
            assert len(section(found, name)) == model[name] > 0
        task = section(found, "tasks")[1]
        assert (task["kind"], task["block_dim"], task["args_bytes"], task["op"]) == (
            "KERNEL",
            2,
            24,
            "atomic_addr_clean-1_0",
        )
        assert len(bytes.fromhex(task["fields"]["args"])) == 24
        assert section(found, "weights")[0]["op"] == "dynamic_const_5478_34"

    def test_json_of_every_partition(self, sqemu, rich):
        """Ports, compressed attributes, libraries, tilings and partitions of others are shown, with their model."""
        found = sqemu("dump", rich, "--json")
        assert [m["name"] for m in section(found, "models")] == ["first", "second"]
        (port,), (other,) = section(found, "inputs"), section(found, "outputs")
        assert (port["dtype"], port["format"], port["shape"]) == ("float32", "ND", [4])
        assert (other["dtype"], other["dtype_code"], other["format"]) == (None, 99, None)
        assert section(found, "ops")[0]["attrs"] == {"kernel": "te_add"}
        (library,), (tiling,) = section(found, "libraries"), section(found, "tilings")
        assert (library["vendor"], library["flag"]) == ("me", 0x4000)
        assert (tiling["tiling_key"], tiling["tiling_data"], tiling["ids"]) == (7, b"abcd".hex(), [5])
        assert [p["name"] for p in section(found, "partitions")][-2:] == ["PRE_MODEL_DESC", "MODEL_DEF"]
        assert [t["kind"] for t in section(found, "tasks")] == ["EVENT_RECORD", "KERNEL", "TYPE_99"]
        assert {each["model"] for each in found.objects if "model" in each} == {0, 1}

    def test_text_of_every_partition(self, sqemu, rich):
        """The same as text; headings say which model."""
        out = sqemu("dump", rich).out
        for text in ("Model 0: Inputs", "Model 0: Libraries", "Model 0: Tilings", "operator master of the device"):
            assert text in out

    @pytest.mark.parametrize(
        ("options", "wanted"),
        [
            (("--stream", "1"), [10, 11]),
            (("--task", "0,3-4"), [0, 3, 4]),
            (("--kind", "event-wait"), [12]),
            (("--kind", "EVENT_RECORD", "--kind", "kernel ex"), [10, 11]),
            (("--range", "28:"), [28, 29]),
            (("--range", "10:13", "--stream", "0"), [12]),
        ],
    )
    def test_choice_of_tasks(self, sqemu, options, wanted):
        """Streams, numbers, types and ranges choose tasks, and only tasks are shown."""
        found = sqemu("dump", REAL, "--json", *options)
        assert [each["index"] for each in section(found, "tasks")] == wanted
        assert {each["section"] for each in found.objects} == {"header", "models", "tasks"}
        assert "Partitions" not in sqemu("dump", REAL, *options).out

    def test_wrong_choices(self, sqemu):
        """A type that does not exist is an error with near names; fields of entries need entries."""
        found = sqemu("dump", REAL, "--kind", "event_wat", "--json")
        assert (found.code, found.out) == (2, "")
        assert found.error["error"] == "dump.kind"
        assert "EVENT_WAIT" in found.error["remedy"]
        for options in (("--fields",), ("--where", "block_dim > 3"), ("--query", "block_dim"), ("--policy", "a=b")):
            found = sqemu("dump", REAL, *options)
            assert found.code == 2
            assert "dump.options" in found.err

    def test_rings(self, sqemu, sink):
        """With --sqes the model is loaded, and its entries are shown and chosen as all others."""
        found = sqemu("dump", sink, "--sqes", "--json", "--kind", "kernel")
        assert [each["fields"]["block_dim"] for each in section(found, "sqes")] == [0xFFFF]
        assert "task update" in sqemu("dump", sink, "--sqes").out

    def test_as_assembler_text(self, sqemu, sink, tmp_path):
        """The blob that is made of it can be written as text, assembled, and run."""
        text = tmp_path / "t.asm"
        text.write_text(sqemu("dump", sink, "--asm").out)
        assert sqemu("asm", text, "-o", tmp_path / "t.sqt").code == 0
        assert sqemu("run", tmp_path / "t.sqt", "--inputs", sink.parent / "in3.npz").code == 0

    def test_taken_as_something_else(self, sqemu):
        """With a family named, the file is no file of SQEs, and the message says what it is."""
        found = sqemu("dump", REAL, "--family", "v100")
        assert found.code == 2
        assert "offline model" in found.err

    def test_standard_input(self, sqemu, monkeypatch):
        """A file on standard input is known by its content, too."""
        with REAL.open("rb") as file:
            monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": file})())
            assert "offline model" in sqemu("dump", "-", "--summary").out


class TestCheck:
    def test_limits(self, sqemu):
        """What the model takes of each limit, and a warning per operator type that stands in."""
        found = sqemu("check", REAL, "--json")
        assert found.code == 0
        assert "taken for ascend310p3" in found.err
        out = sqemu("check", REAL).out
        assert "28 tasks, 2 streams, 1 event, 25 operators" in " ".join(out.split())
        assert out.count("warning kernel.stand-in") == 12

    def test_strict(self, sqemu, sink):
        """Stand-ins fail a strict check; a sink model whose operator is known passes it."""
        assert sqemu("check", REAL, "--strict").code == 1
        assert sqemu("check", sink, "--strict").code == 0

    def test_too_many_tasks(self, sqemu, tmp_path):
        """A stream that is longer than a ring of the chip is an error."""
        path = tmp_path / "long.om"
        tasks = task_info([*[{"type": 42}] * 3000, {"type": 19}])
        path.write_bytes(write_om([[(0, model_def({"name": b"long"})), (2, tasks)]]))
        found = sqemu("check", path)
        assert found.code == 1
        assert "EE1019" in found.out


class TestRun:
    def test_sink(self, sqemu, sink, tmp_path):
        """A model with a sink sequence runs as its graph does, one tiling per execution."""
        inputs = [each for n in (3, 5) for each in ("--inputs", sink.parent / f"in{n}.npz")]
        outs = {}
        for program in (sink, sink.parent / "probe.json"):
            done = sqemu("run", program, *inputs, "--outputs", tmp_path / f"{program.stem}{program.suffix}.npz")
            assert done.code == 0
            outs[program.suffix] = [
                dict(np.load(tmp_path / f"{program.stem}{program.suffix}.{k}.npz"))["y"] for k in (0, 1)
            ]
        assert all(np.array_equal(a, b) for a, b in zip(outs[".om"], outs[".json"], strict=True))
        assert not np.array_equal(*outs[".om"])

    def test_stand_ins_are_listed(self, sqemu, real_inputs):
        """A warning lists what stands in, and JSON has it by operator."""
        found = sqemu("run", REAL, "--inputs", real_inputs, "--json")
        assert found.code == 0
        assert "25 of 28 tasks are timed stand-ins, which compute nothing; policy stand_in_time" in found.err
        assert "MatMulV2 on cores (no plugin has the operator MatMulV2): recognition/w_stddev/MatMulmul" in found.err
        (run,) = found.objects
        listed = [each for details in run["operators"].values() for each in details["stand_ins"]]
        assert len(listed) == 25
        assert {each["engine"] for each in listed} == {"ai_core", "ai_cpu"}
        assert run["unwritten"] == {"generation/output:0": 0}

    def test_known_operators_need_no_warning(self, sqemu, sink):
        """Where nothing stands in, nothing is said."""
        assert sqemu("run", sink, "--inputs", sink.parent / "in3.npz").err == ""

    def test_duration(self, sqemu, real_inputs):
        """The policy makes the model longer: 24 kernels one behind the other, a microsecond each."""
        spans = []
        for ns in ("0", "1000"):
            found = sqemu("run", REAL, "--inputs", real_inputs, "--json", "--policy", f"stand_in_time={ns}")
            spans.append(found.objects[0]["ended"])
        assert spans[1] - spans[0] == pytest.approx(24_000, abs=2000)

    def test_runtime_v2(self, sqemu, sink, real_inputs):
        """A host schedules operators that it knows, and refuses stand-ins."""
        assert sqemu("run", sink, "--inputs", sink.parent / "in3.npz", "--runtime", "v2").code == 0
        found = sqemu("run", REAL, "--inputs", real_inputs, "--runtime", "v2", "--json")
        assert found.code == 2
        assert "kernel.stand-in" in found.err

    def test_another_chip(self, sqemu, real_inputs):
        """A chip that is named is taken, and what the model was compiled for is said."""
        found = sqemu("run", REAL, "--inputs", real_inputs, "--chip", "ascend910b3")
        assert found.code == 0
        assert "was compiled for Ascend310; it is taken for ascend910b3, as --chip says" in found.err

    def test_own_chip(self, sqemu, probe):
        """Without a chip the model's own is taken when it is known."""
        graph = json.loads((probe / "probe.json").read_text())
        blob = compile_graph(graph, "ascend910b3", CompileOptions(offline=True), PluginHost())
        (probe / "b.om").write_bytes(om_of_blob(blob))
        found = sqemu("run", probe / "b.om", "--inputs", probe / "in3.npz")
        assert (found.code, found.err) == (0, "")
        assert "on ascend910b3" in sqemu("check", probe / "b.om").out

    def test_record(self, sqemu, real_inputs, tmp_path):
        """A run of an offline model can be recorded, and the record shown."""
        record = tmp_path / "r.sqr"
        assert sqemu("run", REAL, "--inputs", real_inputs, "--record", record).code == 0
        assert "hh_om" in sqemu("dump", record).out

    @pytest.mark.parametrize(
        "options", [("--policy", "nop_count=3"), ("--option", "a=b"), ("--tiling_schedule_optimize", "1")]
    )
    def test_options_of_the_compiler(self, sqemu, options):
        """What counts when a graph is compiled is refused for a compiled file."""
        found = sqemu("run", REAL, *options)
        assert found.code == 2
        assert "option.compiled" in found.err

    def test_compile(self, sqemu, tmp_path):
        """An offline model is no graph, which the compiler says."""
        found = sqemu("compile", REAL, "-o", tmp_path / "x.sqt")
        assert found.code == 2
        assert "offline model, compiled already" in found.err


class TestBadFiles:
    @pytest.mark.parametrize("command", ["dump", "check", "run"])
    def test_cut(self, sqemu, tmp_path, command):
        """A file that was cut is exit 2, with file, place and what to do."""
        path = tmp_path / "cut.om"
        path.write_bytes(REAL.read_bytes()[:1000])
        found = sqemu(command, path, "--json")
        assert found.code == 2
        assert found.error["error"] == "om.header"
        assert "cut.om: header" in found.error["where"]
        assert found.error["remedy"]

    def test_random_damage(self, sqemu, tmp_path):
        """Whatever is changed in a file, dump and check end with a listing or an error, never a traceback."""
        chance = random.Random(5)
        whole = REAL.read_bytes()
        for number in range(12):
            data = bytearray(whole)
            for _ in range(3):
                data[chance.choice([chance.randrange(308), chance.randrange(606165, len(whole))])] = chance.randrange(
                    256
                )
            path = tmp_path / f"{number}.om"
            path.write_bytes(data)
            assert sqemu("dump", path, "--json").code in (0, 2)
            assert sqemu("check", path, "--json").code in (0, 1, 2)

    def test_without_protobuf(self, sqemu, monkeypatch):
        """Without the extra, the error says how to install it."""
        messages.classes.cache_clear()
        monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
        try:
            found = sqemu("dump", REAL, "--json")
        finally:
            messages.classes.cache_clear()
        assert (found.code, found.error["error"]) == (2, "extra.missing")
        assert "pip install 'sqemu[om]'" in found.error["remedy"]

    def test_nothing_to_run(self, sqemu, tmp_path):
        """A model without tasks can be shown, but not run."""
        path = tmp_path / "empty.om"
        path.write_bytes(write_om([[(0, model_def({"name": b"e"})), (2, task_info([], version=b"1"))]]))
        assert sqemu("dump", path).code == 0
        found = sqemu("run", path, "--json")
        assert (found.code, found.error["error"]) == (2, "om.no-tasks")
