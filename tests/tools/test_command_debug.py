"""`sqemu debug`: scripts, prompts, records, and what is printed."""

from __future__ import annotations

import hashlib
import io

import msgspec
import numpy as np
import pytest

from emu_core import Device, PluginHost, compile_graph
from emu_core.snapshot.recording import Recorder
from tools.debug.debugger import COMMANDS

PROBE_GRAPH = {
    "format": "sqemu-graph", "version": 1, "name": "probe", "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "probe0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
    "outputs": ["y"],
}  # fmt: skip


@pytest.fixture
def debug(sqemu, probe):
    """Runs a script over the probe graph with n = 3, then n = 5; gives the outcome."""

    def call(*lines, program="probe.json", options=()):
        (probe / "script.txt").write_text("\n".join(lines))
        files = [f for n in (3, 5) for f in ("--inputs", probe / f"in{n}.npz")]
        return sqemu("debug", probe / program, *files, "-x", probe / "script.txt", *options)

    return call


def test_forward_to_the_patch_and_back(debug):
    """The update of run 1 writes block dim 3 at 18000 ns, that of run 2 writes 5; going back finds the first again."""
    found = debug("watch 0:7.block_dim", "continue", "continue", "reverse-continue", "back", "who wrote 0:7.block_dim")
    assert found.code == 0
    assert found.out.splitlines() == [
        "stop 1: 0:7.block_dim",
        "stop 1 (0:7.block_dim): stream 0 task 7 AicoreKernelSqe.block_dim: 0xffff -> 0x3",
        "  by stream 1 task 1",
        "step 10, 18000 ns",
        "stop 1 (0:7.block_dim): stream 0 task 7 AicoreKernelSqe.block_dim: 0x3 -> 0x5 by",
        "  stream 1 task 1",
        "step 47, 40603 ns",
        "stop 1 (0:7.block_dim): stream 0 task 7 AicoreKernelSqe.block_dim: 0xffff -> 0x3",
        "  by stream 1 task 1",
        "step 10, 18000 ns",
        "step 9, 16000 ns",
        "0:7.block_dim was not written since the program was loaded",
    ]


def test_the_end_and_back_to_the_last_write(debug):
    """Both executions end well; the last write of the field is that of run 2, and one step back undoes it."""
    found = debug("continue", "back-to-write 0:7.block_dim", "back", "show task 0:7", "who wrote 0:slot 7.block_dim")
    lines = found.out.splitlines()
    assert lines[:2] == ["the end: 2 executions ended well", "step 74, 45205 ns"]
    assert lines[2] == "stream 1 task 1 (task_update) wrote AicoreKernelSqe.block_dim of 0:7 at 40603 ns"
    assert lines[3:6] == ["  in run 2: 0x3 -> 0x5, tiling key 2, table row 2", "step 47, 40603 ns", "step 46, 38603 ns"]
    assert "  block_dim = 0x3 (3)" in lines
    assert "in run 1: 0xffff -> 0x3" in found.out


def test_what_is_shown(debug):
    """Where, rings, memory and stops: positions, states and bytes as numbers with units or 0x."""
    found = debug("break event 0", "continue", "where", "show ring 0", "show stops", "show memory 0x12C040000000 20")
    lines = found.out.splitlines()
    assert "step 4, 1000 ns, run 1, 2 planned" in lines
    assert "> slot 0: task 0, event_wait of probe0" in lines
    assert "  slot 8: task 8, notify_record" in lines
    assert "stop 1: event 0" in lines
    assert "tensor x at 0x12c040000000, 20 bytes" in lines
    # x = 0, 1, 2, 3, 4 as float32
    assert "0x0012c040000000  00000000 0000803f 00000040 00004040  .......?...@..@@" in lines


@pytest.mark.parametrize(
    ("stop", "first"),
    [
        ("break stream 1 task 0", "stream 1 task 0 (aicpu) starts"),
        ("break kind task_update", "stream 1 task 1 (task_update) starts"),
        ("break notify 0", "notify 0"),
        ("break patch", "pc_addr_low"),
        ("break tiling_key 2", "by stream 1 task 1"),
        ("break fault", "the end: 2 executions ended well"),
        ("break hazard", "the end: 2 executions ended well"),
        ("watch 0:7", "AicoreKernelSqe"),
    ],
)
def test_stops(debug, stop, first):
    """Each kind of stop holds where it says."""
    found = debug(stop, "continue")
    assert found.code == 0
    assert first in found.out.replace("\n  ", " ")


def test_deleted_stops_do_not_hold(debug):
    """After `delete 1` the run goes to its end; deleting it again is an error."""
    assert "the end" in debug("break patch", "delete 1", "continue").out
    found = debug("break patch", "delete 1", "delete 1")
    assert (found.code, "script.txt:3: there is no stop 1" in found.err) == (2, True)


def test_snapshots(debug, probe):
    """A saved state is gone back to, also by another call of the command."""
    path = probe / "a.snap"
    found = debug(
        "break tiling_key 0", "continue", f"snapshot save {path}", "goto 70", f"snapshot load {path}", "where"
    )
    assert found.code == 0
    assert path.exists()
    again = debug(f"snapshot load {path}", "where", "continue")
    assert again.out.splitlines()[-2:] == ["the end: 2 executions ended well", "step 64, 45205 ns"]
    (probe / "b.snap").write_bytes(path.read_bytes()[:-1])
    found = debug(f"snapshot load {probe / 'b.snap'}")
    assert (found.code, "snapshot.damaged" in found.err) == (2, True)


def test_a_made_up_state_is_no_bug_of_ours(debug, probe):
    """A file with a right checksum whose state cannot run is refused, however far it gets; there is no traceback."""
    path = probe / "a.snap"
    assert debug("step 12", f"snapshot save {path}").code == 0
    raw = path.read_bytes()
    length = int.from_bytes(raw[12:16], "little")
    header = msgspec.json.decode(raw[48 : 48 + length])
    end = 48 + length + header["table"]
    nodes = msgspec.msgpack.decode(raw[48 + length : end])
    for node in nodes:
        if node[0] == "obj" and "_planned" not in node and "last_wait" in node:
            node[node.index("window") + 1] = 7  # a stream without its fetch buffer
    table = msgspec.msgpack.encode(nodes)
    body = msgspec.json.encode({**header, "table": len(table)}) + table + raw[end:]
    head = len(body) - len(table) - len(raw[end:])
    path.write_bytes(raw[:12] + head.to_bytes(4, "little") + hashlib.sha256(body).digest() + body[:])
    found = debug(f"snapshot load {path}", "continue")
    assert found.code == 2
    assert "snapshot.damaged" in found.err


def test_a_failed_execution_is_exit_code_1(debug):
    """Without NOPs the launch is stale, by policy a fault: `continue` stops there, and the script ends with 1."""
    options = ("--policy", "nop_count=0", "--policy", "stale_prefetch=fault")
    found = debug("continue", "continue", "continue", options=options)
    assert found.code == 1
    assert "fault hazard.stale-prefetch" in found.out
    assert "failed: hazard.stale-prefetch" in found.out.replace("\n  ", " ")
    assert debug("step 3", options=options).code == 0


@pytest.mark.parametrize(
    "line",
    [
        "jump", "break", "break stream 0", "break stream 0 job 7", "break event x", "break kind", "watch", "watch 0-7",
        "watch 0:7.", "step x", "step -1", "goto", "goto 0x", "show", "show thing", "show ring", "show ring 99",
        "show task 0:99", "show task 9:0", "show task 0:7.block_dim", "show memory 0 16",
        "show memory 0x12c040000000 0",
        "show memory 0x12c040000000 99999", "who", "who is 0:7", "who wrote 0:99.x", "back-to-write", "snapshot",
        "snapshot keep x", "snapshot load /nowhere/x.snap", "delete", "delete 4", "show memory 99999999999999999999 1",
    ],
)  # fmt: skip
def test_lines_that_cannot_be_done(debug, line):
    """Exit 2, with file name and number of the line, what is wrong, and what to write."""
    found = debug("# a comment", "", line, "quit")
    assert found.code == 2
    assert "script.txt:3: " in found.err
    assert "; " in found.err


def test_quit_ends_a_script(debug):
    """Nothing behind `quit` is done."""
    found = debug("step", "quit", "nonsense")
    assert (found.code, found.err) == (0, "")


def test_every_line_fits_80_columns(debug):
    """Also those of help."""
    found = debug(
        "help", "break patch", "break stream 0 task 7", "watch 0:slot 7.pc_addr_low", "continue", "where",
        "show ring 0", "show ring 1", "show ring 2", "show task 0:7", "show stops", "who wrote 0:7.pc_addr_low",
        "show memory 0x12c040000000 64", "continue", "continue", "continue", "where",
    )  # fmt: skip
    assert found.code == 0
    assert max(map(len, found.out.splitlines())) <= 80
    assert {command.form for command in COMMANDS.values()} <= set(found.out.splitlines())


def test_asking_goes_on_after_an_error(sqemu, probe, monkeypatch):
    """At the prompt an error is said on standard error, and the next line is done; the end of input ends it."""
    monkeypatch.setattr("sys.stdin", io.StringIO("s\nbad\nw\n"))
    found = sqemu("debug", probe / "probe.json", "--inputs", probe / "in3.npz")
    assert found.code == 0
    assert "(sqemu) step 1, 0 ns" in found.out
    assert "debug.command: there is no command 'bad'" in found.err
    assert "step 1, 0 ns, run 1" in found.out


def test_records_and_blobs(sqemu, debug, probe):
    """A run record and a task blob go the same way as their graph; other inputs than the recorded ones are refused."""
    files = [f for n in (3, 5) for f in ("--inputs", probe / f"in{n}.npz")]
    assert sqemu("run", probe / "probe.json", *files, "--record", probe / "r.sqr").code == 0
    assert sqemu("compile", probe / "probe.json", "-o", probe / "p.sqt", "--online").code == 0
    lines = ("break patch", "continue", "where", "continue")
    whole = debug(*lines)
    assert debug(*lines, program="r.sqr").out == debug(*lines, program="p.sqt").out == whole.out
    found = sqemu("debug", probe / "r.sqr", "--inputs", probe / "in5.npz", "-x", probe / "script.txt")
    assert (found.code, "debug.inputs" in found.err) == (2, True)


def test_recordings_of_host_programs(sqemu, debug, probe):
    """A recording goes without inputs, and ends where the recorded device stood; a cut one is refused."""
    host = PluginHost()
    recorder = Recorder(Device("ascend310p3", plugins=host))
    model = recorder.device.load(compile_graph(PROBE_GRAPH, "ascend310p3", plugins=host))
    model.execute({"x": np.zeros(40, np.float32), "n": np.array([3], np.int32)})
    recorder.recording().save(probe / "run.rec")
    (probe / "script.txt").write_text("break patch\ncontinue\ncontinue\nback 2\ncontinue\n")
    found = sqemu("debug", probe / "run.rec", "-x", probe / "script.txt")
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[-2:] == lines[-5:-3]
    assert lines[-2] == "the end: 2 of 2 operations of the recording were done"
    assert lines[-1].endswith(f", {recorder.real.clock.now} ns")
    (probe / "run.rec").write_bytes((probe / "run.rec").read_bytes()[:-3])
    found = sqemu("debug", probe / "run.rec", "-x", probe / "script.txt")
    assert (found.code, "snapshot.damaged" in found.err) == (2, True)


def test_inputs_are_asked_for(sqemu, probe):
    """A graph with inputs and none given: exit 2."""
    found = sqemu("debug", probe / "probe.json", "-x", probe / "probe.json")
    assert (found.code, "input.none" in found.err) == (2, True)
