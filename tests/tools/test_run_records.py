"""Run records: written by `sqemu run --record`, read by `sqemu dump`."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from formats import FormatError
from tools.record import reader
from tools.record.reader import Record, is_record


@pytest.fixture
def record(sqemu, probe):
    """A record of two executions, n = 3 and n = 5."""
    found = sqemu(
        "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--inputs", probe / "in5.npz", "--record",
        probe / "r.sqr",
    )  # fmt: skip
    assert found.code == 0
    return probe / "r.sqr"


class TestWriting:
    def test_members(self, record):
        """Blob first, manifest last, and per execution trace, journal, report and three files per SQ."""
        names = zipfile.ZipFile(record).namelist()
        assert (names[0], names[-1]) == ("blob.sqt", "manifest.json")
        assert "runs/1/rings/sq0/executed.bin" in names
        assert len(names) == 2 + 2 * (3 + 2 * 3)

    def test_same_run_same_bytes(self, sqemu, record, probe):
        """The same run gives the same record, byte for byte."""
        first = record.read_bytes()
        sqemu(
            "run",
            probe / "probe.json",
            "--inputs",
            probe / "in3.npz",
            "--inputs",
            probe / "in5.npz",
            "--record",
            record,
        )
        assert record.read_bytes() == first

    def test_manifest(self, record, probe):
        """Chip, every policy in force, and hashes of program and inputs."""
        import hashlib

        manifest = Record(record.read_bytes(), "r").manifest
        assert manifest["chip"] == "ascend310p3"
        assert (manifest["policies"]["nop_count"], manifest["policies"]["stale_prefetch"]) == ("seed", "execute_copy")
        assert manifest["inputs"][1]["sha256"] == hashlib.sha256((probe / "in5.npz").read_bytes()).hexdigest()

    def test_a_failing_run_is_recorded(self, sqemu, probe):
        """The record is written although the run failed; that is what it is for."""
        given = ("run", probe / "probe.json", "--policy", "nop_count=1", "--inputs", probe / "in3.npz")
        assert sqemu(*given, "--record", probe / "bad.sqr").code == 1
        found = Record((probe / "bad.sqr").read_bytes(), "r").run(0)
        assert [f["id"] for f in found.report["faults"]] == ["kernel.placeholder-block-dim", "model.failed"]
        assert found.rings[0]["executed"] != found.rings[0]["after"]


class TestDump:
    def test_text(self, sqemu, record):
        """The executions with outcome, updates and input files."""
        found = sqemu("dump", record)
        assert found.code == 0
        lines = [line.split() for line in found.out.splitlines() if " ok " in line]
        assert [(w[0], w[3], w[6].rpartition("/")[2]) for w in lines] == [("0", "1", "in3.npz"), ("1", "1", "in5.npz")]

    def test_json(self, sqemu, record):
        """One object for the manifest and one per execution."""
        objects = sqemu("dump", record, "--json").objects
        assert [o["section"] for o in objects] == ["record", "runs", "runs"]
        assert objects[2]["run"] == 2

    @pytest.mark.parametrize(("run", "blocks"), [((), 5), (("--run", "0"), 3), (("--run", "1"), 5)])
    def test_entries_that_executed(self, sqemu, record, run, blocks):
        """--sqes shows what executed in one execution, the last one if none is named."""
        objects = sqemu("dump", record, "--sqes", *run, "--kind", "kernel", "--json").objects
        assert [o["fields"]["block_dim"] for o in objects if o["section"] == "sqes"] == [blocks]

    def test_failures_are_told(self, sqemu, probe):
        """Hazards and faults of a failed execution are shown."""
        given = ("run", probe / "probe.json", "--policy", "nop_count=1", "--inputs", probe / "in3.npz")
        sqemu(*given, "--record", probe / "bad.sqr")
        text = sqemu("dump", probe / "bad.sqr").out
        assert "put 3 more NOPs" in text
        assert "fault kernel.placeholder-block-dim" in text
        assert "then: model probe ends" in text

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            (("--run", "0"), "dump.options"),
            (("--sqes", "--run", "2"), "record.run"),
            (("--sqes", "--policy", "wait_reset=off"), "dump.options"),
            (("--family", "v100"), "dump.options"),
            (("--fields",), "dump.options"),
            (("--asm",), "dump.options"),
        ],
    )
    def test_senseless_options(self, sqemu, record, options, error):
        """Options that say nothing about a record are refused."""
        found = sqemu("dump", record, *options, "--json")
        assert (found.code, found.error["error"]) == (2, error)


class TestDamage:
    def test_cut_anywhere(self, record):
        """A record that was cut is refused with its reason."""
        whole = record.read_bytes()
        for size in range(0, len(whole), 97):
            with pytest.raises(FormatError):
                Record(whole[:size], "r")

    def test_changed_bytes(self, record):
        """Flipping any byte gives the same record or an error of ours."""
        whole = bytearray(record.read_bytes())
        for at in range(0, len(whole), 53):
            whole[at] ^= 0x55
            try:
                found = Record(bytes(whole), "r")
                for index in found.run_numbers:
                    found.run(index)
                    found.lines(index, "trace")
                _ = found.blob
            except FormatError:
                pass
            whole[at] ^= 0x55

    @pytest.mark.parametrize(
        ("members", "error"),
        [
            ({"blob.sqt": b""}, "record.format"),
            ({"blob.sqt": b"", "manifest.json": b"[]"}, "record.damaged"),
            ({"blob.sqt": b"", "manifest.json": b"{"}, "record.damaged"),
            ({"blob.sqt": b"", "manifest.json": b"{}"}, "record.format"),
            ({"blob.sqt": b"", "manifest.json": b'{"format": "sqemu-record", "version": 2}'}, "record.version"),
        ],
    )
    def test_other_zips(self, tmp_path, members, error):
        """Zips that are no finished record of this version are told apart."""
        with zipfile.ZipFile(tmp_path / "r", "w") as zipped:
            for name, data in members.items():
                zipped.writestr(name, data)
        data = (tmp_path / "r").read_bytes()
        assert is_record(data)
        with pytest.raises(FormatError) as caught:
            Record(data, "r")
        assert caught.value.id == error

    def test_an_npz_is_no_record(self, sqemu, tmp_path):
        """Other zips are still named for what they are."""
        np.savez(tmp_path / "a.npz", x=np.ones(1))
        found = sqemu("dump", tmp_path / "a.npz", "--json")
        assert (found.code, found.error["error"]) == (2, "dump.unknown")

    def test_members_that_unpack_to_too_much(self, record, monkeypatch):
        """A member larger than the limit is not unpacked."""
        monkeypatch.setattr(reader, "LARGEST", 10)
        with pytest.raises(FormatError, match="more than 10 bytes"):
            Record(record.read_bytes(), "r")

    def test_missing_members(self, record, tmp_path):
        """A member that is gone is named."""
        with zipfile.ZipFile(record) as source, zipfile.ZipFile(tmp_path / "r", "w") as target:
            for name in source.namelist():
                if "journal" not in name:
                    target.writestr(name, source.read(name))
        with pytest.raises(FormatError, match=r"journal\.jsonl: is missing"):
            Record((tmp_path / "r").read_bytes(), "r").lines(0, "journal")

    @pytest.mark.parametrize(
        ("member", "data", "message"),
        [
            ("rings/sq0/executed.bin", None, "sq0/executed.bin: is missing"),
            ("report.json", b'{"ok": true, "started": 0, "ended": null}', "Expected `int`, got `null`"),
            ("report.json", b'{"ok": true}', "missing required field `started`"),
            ("journal.jsonl", b"1\n", "Expected `object`, got `int`"),
            ("journal.jsonl", b'{"time": 1}\n', "missing required field `writer`"),
        ],
    )
    def test_members_of_another_shape(self, sqemu, record, tmp_path, member, data, message):
        """A ring that is gone, a report or journal without what it should hold: an error that names the member."""
        with zipfile.ZipFile(record) as source, zipfile.ZipFile(tmp_path / "r", "w") as target:
            for name in source.namelist():
                if not name.endswith(member):
                    target.writestr(name, source.read(name))
                elif data is not None:
                    target.writestr(name, data)
        found = sqemu("dump", tmp_path / "r", "--sqes") if data is None else sqemu("dump", tmp_path / "r")
        assert found.code == 2
        assert found.out == ""
        assert message in found.err

    def test_lines_that_are_no_json(self, record, tmp_path):
        """A trace with a broken line is named."""
        with zipfile.ZipFile(record) as source, zipfile.ZipFile(tmp_path / "r", "w") as target:
            for name in source.namelist():
                target.writestr(name, b"{" if name.endswith("trace.jsonl") else source.read(name))
        with pytest.raises(FormatError, match=r"trace\.jsonl"):
            Record((tmp_path / "r").read_bytes(), "r").lines(0, "trace")

    def test_report_is_plain_json(self, record):
        """The report of an execution is one JSON object with integer times."""
        with zipfile.ZipFile(record) as zipped:
            report = json.loads(zipped.read("runs/0/report.json"))
        assert type(report["ended"]) is int
        assert report["ok"] is True
