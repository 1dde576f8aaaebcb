"""What a page embeds, beside the record it is of: entries with their fields, slices, flows, writes."""

from __future__ import annotations

import base64
import json
import zipfile
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.plugins import PluginHost
from formats import FormatError
from tools.report.columns import LARGEST, Strings, as_script, deltas, exact
from tools.report.entries import DONE, FAILED, NEVER


def lines(record, run, name):
    """The objects of a member of a record."""
    with zipfile.ZipFile(record) as members:
        return [json.loads(line) for line in members.read(f"runs/{run}/{name}.jsonl").splitlines()]


def ring(record, run, sq, part):
    """The bytes of a ring of a record."""
    with zipfile.ZipFile(record) as members:
        return members.read(f"runs/{run}/rings/sq{sq}/{part}.bin")


def slices(track):
    """(start, end, title, depth, task) of each slice of a track."""
    starts = list(accumulate(track["start"]))
    ends = [start + length for start, length in zip(starts, track["length"], strict=True)]
    return list(zip(starts, ends, track["title"], track["depth"], track["task"], strict=True))


class TestEntries:
    def test_bytes_are_those_that_executed(self, folder, page_of):
        """Each row leads to the 64 bytes of its slot in executed.bin."""
        data = page_of("a.sqr").data["entries"]
        raws = base64.b64decode(data["raws"]["bytes"])
        assert len(data["raw"]) > 20
        for run, sq, slot, raw in zip(data["run"], data["stream"], data["slot"], data["raw"], strict=True):
            executed = ring(folder / "a.sqr", run, sq, "executed")
            assert raws[raw * 64 : raw * 64 + 64] == executed[slot * 64 : slot * 64 + 64]

    def test_layouts_decode_as_the_registry_does(self, page_of):
        """Bits taken by the embedded layouts are the values that the formats decode."""
        page, registry = page_of("a.sqr"), PluginHost().registry
        data = page.data["entries"]
        raws = base64.b64decode(data["raws"]["bytes"])
        seen = set()
        for number, layout in enumerate(data["raws"]["layout"]):
            raw = raws[number * 64 : number * 64 + 64]
            decoded = registry.decode("v100", raw)
            found = data["layouts"][layout]
            assert page.word(found["name"]) == decoded.struct.struct_name
            seen.add(page.word(found["name"]))
            whole = int.from_bytes(raw, "little")
            for name, offset, width, count, kind, _, _, _ in found["fields"]:
                at = [(whole >> offset + k * width) & ((1 << width) - 1) for k in range(count or 1)]
                assert kind == "uint"
                assert decoded.values[page.word(name)] == (at if count else at[0])
        assert {"AicoreKernelSqe", "PhModelTaskUpdateSqe", "EventWaitSqe"} <= seen

    def test_block_dim_of_each_execution(self, page_of):
        """The kernel has block dim 3 in the first execution and 5 in the second, as its inputs say."""
        page = page_of("a.sqr")
        data = page.data["entries"]
        kernels = [k for k, raw in enumerate(data["raw"]) if page.word(data["raws"]["kind"][raw]) == "kernel"]
        raws = base64.b64decode(data["raws"]["bytes"])
        found = [int.from_bytes(raws[data["raw"][k] * 64 + 2 :][:2], "little") for k in kernels]
        assert found == [3, 5]
        assert [data["run"][k] for k in kernels] == [0, 1]
        assert {page.word(data["node"][k]) for k in kernels} == {"probe0"}

    def test_times_are_those_of_the_trace(self, folder, page_of):
        """Start and duration of a row are those of the task.done of its entry."""
        data = page_of("a.sqr").data["entries"]
        done = {
            (run, e["stream"], e["task"]): (e["started"], e["time"] - e["started"])
            for run in (0, 1)
            for e in lines(folder / "a.sqr", run, "trace")
            if e["event"] == "task.done"
        }
        for k, state in enumerate(data["state"]):
            assert state == DONE
            assert (data["start"][k], data["took"][k]) == done[data["run"][k], data["stream"][k], data["task"][k]]

    def test_what_never_ran_is_shown_as_it_lay(self, folder, page_of):
        """After a deadlock the entries behind the wait are there, as not run, with their bytes at the end."""
        data = page_of("dead.sqr").data["entries"]
        never = [k for k, state in enumerate(data["state"]) if state == NEVER and data["stream"][k] == 0]
        raws = base64.b64decode(data["raws"]["bytes"])
        after = ring(folder / "dead.sqr", 0, 0, "after")
        assert len(never) >= 8
        assert all(raws[data["raw"][k] * 64 :][:64] == after[data["slot"][k] * 64 :][:64] for k in never)

    def test_failed_entries(self, page_of):
        """A launch with a placeholder is a row that failed."""
        page = page_of("stale.sqr")
        data = page.data["entries"]
        failed = [k for k, state in enumerate(data["state"]) if state == FAILED]
        assert [page.word(data["raws"]["kind"][data["raw"][k]]) for k in failed if data["stream"][k] == 0] == ["kernel"]

    def test_entries_without_streams(self, folder, sqemu, page_at, tmp_path):
        """Rings of v200, whose entries do not hold their stream, give rows with the stream of their ring."""
        run = ("run", folder / "probe.json", "--inputs", folder / "in3.npz", "--chip", "ascend950pr_9599")
        assert sqemu(*run, "--record", tmp_path / "r.sqr").code == 0
        assert sqemu("report", tmp_path / "r.sqr", "-o", tmp_path / "r.html").code == 0
        page = page_at(tmp_path / "r.html")
        data = page.data["entries"]
        raws = base64.b64decode(data["raws"]["bytes"])
        for sq, slot, raw in zip(data["stream"], data["slot"], data["raw"], strict=True):
            executed = ring(tmp_path / "r.sqr", 0, sq, "executed")
            assert raws[raw * 64 :][:64] == executed[slot * 64 :][:64]
        kinds = [page.word(data["raws"]["kind"][raw]) for raw in data["raw"]]
        assert kinds.count("vector kernel") == 1
        assert set(data["stream"]) == {0, 1}


class TestTimeline:
    def test_every_task_is_a_slice_of_its_stream(self, folder, page_of):
        """Tracks of streams have one slice per task.done, with its times."""
        page = page_of("a.sqr")
        group = next(g for g in page.data["timeline"]["groups"] if page.word(g[0]) == "streams")
        tracks = page.data["timeline"]["tracks"][group[1] : group[2]]
        found = sorted(
            (int(page.word(track["name"]).split()[1]), start, end, task)
            for track in tracks
            for start, end, title, _, task in slices(track)
            if task >= 0 and not page.word(title).startswith("waits for")
        )
        wanted = sorted(
            (e["stream"], e["started"], e["time"], e["task"])
            for run in (0, 1)
            for e in lines(folder / "a.sqr", run, "trace")
            if e["event"] == "task.done"
        )
        assert found == wanted

    def test_slices_of_one_depth_do_not_overlap(self, page_of):
        """What the page finds by bisection is in order: starts ascend and ends do."""
        for name in ("a.sqr", "stale.sqr", "dead.sqr"):
            for track in page_of(name).data["timeline"]["tracks"]:
                for depth in set(track["depth"]):
                    row = [(start, end) for start, end, _, d, _ in slices(track) if d == depth]
                    assert all(a[1] <= b[0] for a, b in pairwise(row))

    def test_flow_from_record_to_wait_and_update_to_kernel(self, page_of):
        """The event record leads to the event wait, the update to the kernel; each once per execution."""
        page = page_of("a.sqr")
        tracks, flows = page.data["timeline"]["tracks"], page.data["timeline"]["flows"]
        ends = [
            tuple(page.word(tracks[t]["title"][s]).split()[0] for t, s in ((a, i), (b, j)))
            for a, i, b, j in zip(*[iter(flows)] * 4, strict=True)
        ]
        assert ends.count(("event_record", "event_wait")) == 2
        assert ends.count(("task_update", "kernel")) == 2

    def test_patches_are_instants(self, page_of):
        """Three patches per execution stand on the kernel's stream, with values before and after."""
        page = page_of("a.sqr")
        track = next(t for t in page.data["timeline"]["tracks"] if page.word(t["name"]).startswith("stream 0"))
        assert [page.word(w) for w in track["what"]].count("patch block_dim") == 2
        about = [
            page.word(a) for w, a in zip(track["what"], track["about"], strict=True) if "block_dim" in page.word(w)
        ]
        assert "before 65535, after 3" in about[0]

    def test_cores_of_the_chip(self, page_of):
        """A launch of three blocks lies on three cores."""
        page = page_of("one.sqr")
        group = next(g for g in page.data["timeline"]["groups"] if page.word(g[0]) == "cores")
        assert group[2] - group[1] == 3


class TestWrites:
    def test_rows_are_the_journal(self, folder, page_of):
        """Every line of the journal is a row: place, field, values, tiling key, table row."""
        page = page_of("a.sqr")
        data, found = page.data["writes"], []
        kept = ("time", "field", "before", "after", "tiling_key")
        for k in range(len(data["time"])):
            values = [int(page.word(data[name][k]), 0) for name in ("before", "after")]
            key = None if data["key"][k] < 0 else int(page.word(data["key"][k]))
            found.append((data["run"][k], data["time"][k], page.word(data["field"][k]), *values, key, data["row"][k]))
        wanted = [
            (run, *(e[name] for name in kept), -1 if e["table_row"] is None else e["table_row"])
            for run in (0, 1)
            for e in lines(folder / "a.sqr", run, "journal")
        ]  # fmt: skip
        assert found == wanted


class TestColumns:
    @given(st.lists(st.integers(0, LARGEST)))
    def test_deltas_add_up(self, values):
        """Differences added up give the values again."""
        assert list(accumulate(deltas(values))) == values

    @given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
    def test_json_for_a_script(self, value):
        """Embedded JSON is ASCII without the signs of markup, and reads back as it was."""
        text = as_script(value)
        assert text.isascii()
        assert not set("<>&") & set(text)
        assert json.loads(text) == value

    def test_texts_once_each(self):
        """Equal texts have one number, the empty one is 0, and what cannot be printed is escaped."""
        strings = Strings()
        assert [strings.number(t) for t in ("", "a", "b", "a", "\x1b")] == [0, 1, 2, 1, 3]
        assert strings.all() == ["", "a", "b", "\\x1b"]

    def test_numbers_that_a_script_cannot_hold(self):
        """2^53 - 1 is the largest; what is beyond is refused with the place."""
        assert exact(2**53 - 1, "here") == 2**53 - 1
        for value in (2**53, -2, 10**400):
            with pytest.raises(FormatError) as raised:
                exact(value, "here")
            assert raised.value.where == "here"
