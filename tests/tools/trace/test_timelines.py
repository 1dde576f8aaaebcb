"""`sqemu trace timeline`: tracks, nesting, instants and flows; Chrome's JSON and Perfetto's form say the same."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.kernels import CoreType
from emu_core.trace import Event, PipeUsed, TaskDone, TaskStarted
from tools.trace.chrome import chrome_json
from tools.trace.cores import cores_of
from tools.trace.perfetto import perfetto_trace
from tools.trace.scene import Group, Instant, Scene, Slice, Track, lanes, scene_of
from tools.trace.source import Foreign, RecordedRun, Recording, read_recording
from tools.trace.tasks import Task, Tasks
from tools.trace.wire import fields


def slices(track):
    """(name, start, end) of everything on a track, parents first."""
    found = []

    def walk(each):
        found.append((each.name, each.start, each.end))
        for child in each.children:
            walk(child)

    for each in track.slices:
        walk(each)
    return found


def assert_nested(siblings, start=0, end=1 << 62):
    """Slices lie within their parent, one behind the other."""
    for each in siblings:
        assert start <= each.start <= each.end <= end
        start = each.end
        assert_nested(each.children, each.start, each.end)


@pytest.fixture
def scene(record):
    """The timeline of the two executions."""
    found = read_recording(str(record))
    return scene_of(found, found.runs)


def track(scene, name):
    """The track whose name begins so."""
    return next(t for group in scene.groups for t in group.tracks if t.name.startswith(name))


class TestScene:
    def test_groups(self, scene):
        """Streams have the names that the blob gives them; engines and AI CPU have tracks of their own."""
        assert [(group.name, [t.name for t in group.tracks]) for group in scene.groups] == [
            ("device", ["executions"]),
            ("streams", ["stream 0 (main_0)", "stream 1 (tiling_stream_0)", "stream 2"]),
            ("engines", ["ai_core", "condition", "event", "notify", "place_holder", "task_update", "write_value"]),
            ("AI CPU", ["AI CPU"]),
        ]  # fmt: skip

    def test_everything_nests(self, scene):
        """On every track slices lie inside each other or behind each other."""
        for group in scene.groups:
            for each in group.tracks:
                assert_nested(each.slices)

    def test_main_stream(self, scene):
        """Execution, node, wait, and the entries behind it, with the times of the trace."""
        told = slices(track(scene, "stream 0"))
        assert told[:5] == [
            ("execution 0", 1000, 22603), ("probe0", 1000, 22103), ("waits for event 0", 1000, 18500),
            ("event_wait event 0", 18500, 18500), ("event_reset reset event 0", 18500, 18600),
        ]  # fmt: skip
        assert ("kernel TilingProbe key 0 block dim 3", 19100, 22103) in told
        assert ("kernel TilingProbe key 2 block dim 5", 41703, 44705) in told

    def test_patches_are_instants(self, scene):
        """Three patches an execution on the stream of the kernel, two cells on that of the tiling."""
        patched = track(scene, "stream 0").instants
        assert [(i.time, i.name) for i in patched[:3]] == [
            (18000, "patch pc_addr_low"), (18000, "patch pc_addr_high"), (18000, "patch block_dim"),
        ]  # fmt: skip
        assert patched[2].about == {
            "entry": "0:7", "struct": "AicoreKernelSqe", "field": "block_dim", "before": 0xFFFF, "after": 3,
            "writer": "1:1 task_update", "tiling_key": 0, "table_row": 0,
        }  # fmt: skip
        assert [i.name for i in track(scene, "stream 1").instants[:2]] == [
            "write tiling key of probe0", "write block dim of probe0",
        ]  # fmt: skip

    def test_flows(self, scene):
        """Record to wait, update to kernel, notify to its wait: three flows an execution, each with two ends."""
        ends = {}
        for group in scene.groups:
            for each in group.tracks:
                stack = list(each.slices)
                while stack:
                    one = stack.pop()
                    stack += one.children
                    for flow in one.flows_out:
                        ends.setdefault(flow, {})["from"] = one.name
                    for flow in one.flows_in:
                        ends.setdefault(flow, {})["to"] = one.name
        assert scene.flows == 6
        assert [ends[flow] for flow in (1, 2, 3)] == [
            {"from": "event_record event 0", "to": "event_wait event 0"},
            {"from": "notify_record notify 0", "to": "notify_wait notify 0"},
            {"from": "task_update target 0:7", "to": "kernel TilingProbe key 0 block dim 3"},
        ]

    def test_unfinished(self, dead):
        """A wait that never passes goes on to the end of the execution; nothing is behind it."""
        found = read_recording(str(dead))
        assert slices(track(scene_of(found, found.runs), "stream 0")) == [
            ("execution 0", 1000, 18000), ("probe0", 1000, 18000), ("waits for event 0", 1000, 18000),
        ]  # fmt: skip

    def test_faults_are_instants(self, stale):
        """A hazard and a fault are instants on the stream of their task."""
        found = read_recording(str(stale))
        names = [i.name for i in track(scene_of(found, found.runs), "stream 0").instants]
        assert names[-2:] == ["hazard.stale-prefetch", "kernel.placeholder-block-dim"]

    def test_time_without_a_core(self):
        """Time without a core is a slice inside that of the launch."""
        about = {"run": 1, "stream": 0, "slot": 0, "task": 0, "engine": "ai_core", "kind": "kernel"}
        events = (
            TaskStarted(time=10, **about, detail="K"),
            TaskDone(time=110, **about, started=10, detail="K, after 40 ns without a core"),
        )
        run = RecordedRun(0, 1, events)
        assert slices(track(scene_of(Recording("", "", (run,)), (run,)), "stream 0")) == [
            ("execution 0", 10, 110), ("kernel K", 10, 110), ("without a core", 10, 50),
        ]  # fmt: skip

    def test_pipes(self):
        """Events with a pipe become tracks by core and pipe, in the order of cores; those of plugins too."""
        about = {"run": 1, "stream": 0, "slot": 0, "task": 0}
        events = tuple(
            PipeUsed(time=100, **about, core=core, pipe=pipe, started=start, ended=start + 10, what="K to UB")
            for core, pipe, start in ((10, "MTE2", 5), (2, "MTE2", 5), (2, "Cube", 15), (2, "MTE2", 9))
        )
        other = Foreign(time=60, run=1, values={"event": "edu.pipe", "pipe": "edu", "level": "info"})
        run = RecordedRun(0, 1, (*events, other))
        (pipes,) = [g for g in scene_of(Recording("", "", (run,)), (run,)).groups if g.name == "pipes"]
        assert [(t.name, slices(t)) for t in pipes.tracks] == [
            ("edu", [("edu", 60, 60)]),
            ("core 2 Cube", [("K to UB", 15, 25)]),
            ("core 2 MTE2", [("K to UB", 5, 15)]),
            ("core 2 MTE2 2", [("K to UB", 9, 19)]),
            ("core 10 MTE2", [("K to UB", 5, 15)]),
        ]

    @given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=20))
    def test_lanes(self, spans):
        """Lanes hold every slice once, none overlaps, and there are no more than overlap somewhere."""
        made = [Slice(start, start + length, str(k)) for k, (start, length) in enumerate(spans)]
        found = lanes(made)
        assert sorted(one.name for lane in found for one in lane) == sorted(one.name for one in made)
        for lane in found:
            assert_nested(lane)
        most = max((sum(o.start <= at < o.end for o in made) for at in range(40)), default=0)
        still = [o for o in made if o.start == o.end]
        assert len(found) <= max(most, 1) + len(still)


class TestCores:
    def chip(self, **more):
        """A chip with four cores."""
        return SimpleNamespace(**{"fused_cores": True, "core_num_aic": 4, "core_num_aiv": 4, **more})

    def launch(self, start, end, blocks, waves=1, kernel="K"):
        """A launch that ended."""
        task = Task(0, 0, 0, "", -1, "kernel", 0, started=start, ended=end, waves=waves)
        task.facts = {"kernel": kernel, "tiling_key": 0, "block_dim": blocks}
        return task

    def test_free_cores_with_the_smallest_numbers(self):
        """Three blocks take cores 0 to 2, a second launch beside them core 3, a third one all again."""
        tasks = [self.launch(0, 10, 3), self.launch(5, 20, 1), self.launch(20, 30, 4)]
        found = [(name, each.start, each.end) for name, each in cores_of(self.chip(), {})(tasks)]
        assert found == [
            *[(f"AI Core {k}", 0, 10) for k in range(3)], ("AI Core 3", 5, 20),
            *[(f"AI Core {k}", 20, 30) for k in range(4)],
        ]  # fmt: skip

    def test_waves(self):
        """Six blocks on four cores in two waves: three cores each half of the time."""
        found = [(n, e.start, e.end) for n, e in cores_of(self.chip(), {})([self.launch(0, 10, 6, waves=2)])]
        assert found == [(f"AI Core {k}", wave, wave + 5) for wave in (0, 5) for k in range(3)]

    def test_kinds_of_cores(self):
        """On a chip with both kinds a vector kernel takes vector cores, an unknown one cube cores."""
        spec = SimpleNamespace(core_type=CoreType.AIV, mix_at=lambda _key: None)
        tasks = [self.launch(0, 10, 2), self.launch(0, 10, 1, kernel="other")]
        chip = self.chip(fused_cores=False)
        assert [name for name, _ in cores_of(chip, {"K": spec})(tasks)] == [
            "vector core 0", "vector core 1", "cube core 0",
        ]  # fmt: skip

    def test_in_the_timeline(self, sqemu, record, tmp_path):
        """The probe's 3 and 5 blocks are drawn on five cores of the chip that the record names."""
        assert sqemu("trace", "timeline", record, "-o", tmp_path / "t.json").code == 0
        events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
        names = {e["tid"]: e["args"]["name"] for e in events if e.get("name") == "thread_name"}
        on_cores = [names[e["tid"]] for e in events if e["ph"] == "X" and names[e["tid"]].startswith("AI Core ")]
        assert sorted(on_cores) == sorted([f"AI Core {k}" for k in (0, 1, 2, 0, 1, 2, 3, 4)])


DRAWN = Scene(
    (
        Group("g", [
            Track("a", [Slice(1000, 3500, "outer", children=[Slice(1500, 1501, "inner", 7, 7, flows_out=[1])])],
                  [Instant(2000, "patch f", {"before": -1, "after": 2**63, "writer": "é"})]),
            Track("b", [Slice(1501, 1501, "target", 300, 0, flows_in=[1]), Slice(1502, 2**40, "leaf", 65536, 5)]),
        ]),
    ),
    1,
)  # fmt: skip


class TestChrome:
    def test_events(self):
        """Microseconds with three digits, names of tracks, task and slot, both ends of a flow."""
        events = json.loads(chrome_json(DRAWN))["traceEvents"]
        found = [e for e in events if e["ph"] in "Xsfi"]
        assert found == [
            {"ph": "X", "pid": 1, "tid": 1, "ts": 1.0, "dur": 2.5, "name": "outer"},
            {"ph": "X", "pid": 1, "tid": 1, "ts": 1.5, "dur": 0.001, "name": "inner", "args": {"task": 7, "slot": 7}},
            {"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 1.5, "cat": "flow", "name": "flow"},
            {"ph": "i", "s": "t", "pid": 1, "tid": 1, "ts": 2.0, "name": "patch f",
             "args": {"before": -1, "after": 2**63, "writer": "é"}},
            {"ph": "X", "pid": 1, "tid": 2, "ts": 1.501, "dur": 0.0, "name": "target",
             "args": {"task": 300, "slot": 0}},
            {"ph": "f", "bp": "e", "id": 1, "pid": 1, "tid": 2, "ts": 1.501, "cat": "flow", "name": "flow"},
            {"ph": "X", "pid": 1, "tid": 2, "ts": 1.502, "dur": (2**40 - 1502) / 1000, "name": "leaf",
             "args": {"task": 65536, "slot": 5}},
        ]  # fmt: skip
        named = [(e["name"], e["args"]["name"]) for e in events if e["ph"] == "M" and "name" in e["args"]]
        assert named == [("process_name", "g"), ("thread_name", "a"), ("thread_name", "b")]


def packets(data):
    """Packets of a trace as lists of (field, value)."""
    return [list(fields(body)) for number, body in fields(data) if number == 1]


def read_back(data):
    """What is on the tracks of a Perfetto trace, by its own field numbers."""
    names, arguments, strings, tracks, told = {}, {}, {}, {}, []
    for packet in packets(data):
        values = dict(packet)
        assert values[10] == 1
        if 12 in values:
            assert values[13] == 1
            for number, body in fields(values[12]):
                entry = dict(fields(body))
                {2: names, 3: arguments, 29: strings}[number][entry[1]] = entry[2].decode()
        if 60 in values:
            about = dict(fields(values[60]))
            tracks[about[1]] = about
        if 11 in values:
            event = list(fields(values[11]))
            one = dict(event)
            args = {}
            for number, body in event:
                if number == 4:
                    said = dict(fields(body))
                    args[arguments[said[1]]] = strings[said[17]] if 17 in said else said.get(3, said.get(4))
            flows = [(n, v) for n, v in event if n in (47, 48)]
            assert one[9] == 2 or values[13] == 2
            told.append((tracks[one[11]][2].decode(), one[9], values[8], names.get(one.get(10)), args, flows))
    return tracks, told


class TestPerfetto:
    def test_packets(self):
        """Begins and ends nest on their tracks; task and slot, flows and texts come back as they were."""
        tracks, told = read_back(perfetto_trace(DRAWN))
        assert told == [
            ("a", 1, 1000, "outer", {}, []),
            ("a", 1, 1500, "inner", {"task": 7, "slot": 7}, [(47, 1)]),
            ("a", 2, 1501, None, {}, []),
            ("a", 2, 3500, None, {}, []),
            ("a", 3, 2000, "patch f", {"before": 2**64 - 1, "after": 2**63, "writer": "é"}, []),
            ("b", 1, 1501, "target", {"task": 300, "slot": 0}, [(48, 1)]),
            ("b", 2, 1501, None, {}, []),
            ("b", 1, 1502, "leaf", {"task": 65536, "slot": 5}, []),
            ("b", 2, 2**40, None, {}, []),
        ]
        group, a, b = (tracks[uuid] for uuid in (1, 2, 3))
        assert dict(fields(group[3])) == {1: 1, 6: b"g"}
        assert [(t[5], t[12]) for t in (a, b)] == [(1, 0), (1, 1)]

    def test_both_forms_say_the_same(self, record):
        """Every slice of Chrome's JSON is in the trace of Perfetto, on a track of the same name."""
        found = read_recording(str(record))
        scene = scene_of(found, found.runs)
        events = json.loads(chrome_json(scene))["traceEvents"]
        names = {e["tid"]: e["args"]["name"] for e in events if e.get("name") == "thread_name"}
        chrome = [(names[e["tid"]], round(e["ts"] * 1000), e["name"]) for e in events if e["ph"] == "X"]
        _, told = read_back(perfetto_trace(scene))
        assert [(t, at, name) for t, kind, at, name, _, _ in told if kind == 1] == chrome
        ends = sum(kind == 2 for _, kind, *_ in told)
        assert ends == len(chrome)

    def test_perfettos_own_messages(self, record):
        """Perfetto's own generated messages read the trace without an unknown field, where they are installed."""
        protos = pytest.importorskip(
            "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="the package perfetto is not installed"
        )
        found = read_recording(str(record))
        trace = protos.Trace()
        data = perfetto_trace(scene_of(found, found.runs))
        trace.ParseFromString(data)
        assert len(trace.packet) == len(packets(data))
        begins = [p.track_event for p in trace.packet if p.track_event.type == protos.TrackEvent.TYPE_SLICE_BEGIN]
        assert all(event.track_uuid and event.name_iid for event in begins)

    def test_nothing(self):
        """A timeline without slices is a file with names and tracks only."""
        tracks, told = read_back(perfetto_trace(Scene((Group("g", [Track("a")]),), 0)))
        assert (len(tracks), told) == (2, [])


class TestCommand:
    @pytest.mark.parametrize("name", ["t.json", "t.pftrace"])
    def test_counts(self, sqemu, record, tmp_path, name):
        """The command says what it wrote."""
        found = sqemu("trace", "timeline", record, "-o", tmp_path / name, "--json").objects[0]
        assert (found["tracks"], found["instants"], found["flows"]) == (17, 10, 6)
        assert found["bytes"] == (tmp_path / name).stat().st_size
        text = sqemu("trace", "timeline", record, "-o", tmp_path / name).out
        assert "17 tracks" in text

    def test_lines_have_no_cores(self, sqemu, lines, tmp_path):
        """Lines name no chip, so cores are drawn only for one that is asked for."""
        one = sqemu("trace", "timeline", lines, "-o", tmp_path / "t.json", "--json").objects[0]
        two = sqemu(
            "trace", "timeline", lines, "-o", tmp_path / "t.json", "--chip", "ascend310p3", "--json"
        ).objects[0]  # fmt: skip
        assert two["slices"] - one["slices"] == 8

    def test_other_ending(self, sqemu, record, tmp_path):
        """A file that ends otherwise is refused before anything is read."""
        found = sqemu("trace", "timeline", record, "-o", tmp_path / "t.txt", "--json")
        assert (found.code, found.error["error"]) == (2, "trace.timeline-form")

    def test_not_over_its_input(self, sqemu, lines, tmp_path):
        """The recording itself is never overwritten."""
        path = tmp_path / "same.json"
        path.write_bytes(lines.read_bytes())
        assert sqemu("trace", "timeline", path, "-o", path, "--json").error["error"] == "output.file"

    def test_unknown_chip(self, sqemu, lines, tmp_path):
        """A chip that does not exist is refused."""
        found = sqemu("trace", "timeline", lines, "-o", tmp_path / "t.json", "--chip", "nope", "--json")
        assert found.code == 2


def test_tasks_of_foreign_events_alone():
    """Events that nobody declares make no tasks."""
    assert Tasks((Foreign(time=1, run=1, values={"event": "x"}),)).all == []
    assert issubclass(Foreign, Event)
