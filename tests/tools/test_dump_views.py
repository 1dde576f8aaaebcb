"""The views of `sqemu dump`: table, fields, summary, query, C, completion entries, arrays of any struct."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys

import pytest

from emu_core import compile_graph
from formats import BUILTIN
from formats.blob import encode
from tools.dump.items import entries
from tools.dump.sqes import as_text
from tools.dump.views import cinit, fields, table

KERNEL = bytes.fromhex(
    "0000080003000900001000000000fe00"
    "00000040000000000000000004000000"
    "000020c0c012000000003041c0120000"
    "00000000000000000000000000000000"
)
NOP = bytes.fromhex("0300670001000200000000000000fe00") + bytes(48)
WAIT = BUILTIN.get("v100", "EventWaitSqe").build({"type": 5, "rt_stream_id": 3, "task_id": 8, "event_id": 7})


@pytest.fixture
def ring(tmp_path):
    """Wait and kernel on stream 3, two empty entries, a NOP on stream 1."""
    path = tmp_path / "ring.bin"
    path.write_bytes(WAIT + KERNEL + bytes(128) + NOP)
    return path


def columns(line):
    """The cells of a table line."""
    return line.split(maxsplit=3)


class TestTable:
    def test_one_line_per_entry(self, sqemu, ring):
        """The default view has a line per entry: slot, stream, task, kind, facts; a run of zeros is one line."""
        lines = sqemu("dump", ring, "--family", "v100").out.splitlines()[2:]
        assert lines[0].split() == ["slot", "stream", "task", "kind", "facts"]
        assert columns(lines[2])[:3] == ["1", "3", "9"]
        assert lines[2].endswith("kernel           blocks 8  pc 0x12c0c0200000  args 0x12c041300000")
        assert "2 entries to slot 3, all bytes are 0" in lines[3]
        assert columns(lines[4]) == ["4", "1", "2", "nop"]

    def test_doubts(self):
        """An entry with stray bits names the first of them at the end of its line."""
        raw = bytearray(KERNEL)
        raw[24] = raw[56] = 1
        line = next(table.lines(entries(BUILTIN, "v100", bytes(raw)), table.Columns(), None))
        assert "! reserved bits w6 are not 0 (and 1 more)" in line

    def test_choices(self, sqemu, ring):
        """Streams, tasks, kinds, slots and expressions choose lines."""
        for arguments, tasks in (
            (("--stream", "3"), ["8", "9"]),
            (("--task", "8-9", "--kind", "kernel"), ["9"]),
            (("--range", "4:1"), ["2", "8"]),
            (("--where", "event_id == 7 or task_type == 'NOP'"), ["8", "2"]),
        ):
            out = sqemu("dump", ring, "--family", "v100", *arguments).out
            assert [columns(line)[2] for line in out.splitlines()[3:]] == tasks

    def test_streams_of_v200_are_unknown(self, sqemu, tmp_path):
        """v200 entries carry a serial number and no stream; further units of a task follow it."""
        first = BUILTIN.get("v200", "CcuSqe").build({"type": 16, "sqe_length": 1, "task_id": 70000})
        wait = BUILTIN.get("v200", "NotifyWaitSqe").build({"type": 7, "task_id": 70001, "notify_id": 4})
        (tmp_path / "r").write_bytes(first + bytes(64) + wait)
        found = sqemu("dump", tmp_path / "r", "--family", "v200", "--json").objects[1:]
        assert [(e["stream_id"], e["slot"], e["task_id"], e["kind"]) for e in found] == [
            (None, 0, 70000, "ccu"),
            (None, 1, 70000, "ccu +1"),
            (None, 2, 70001, "notify wait"),
        ]


class TestFields:
    def test_lines(self, sqemu, ring):
        """Each field has a line with byte, hex, bits, name and value; a star marks those that are set."""
        out = sqemu("dump", ring, "--family", "v100", "--fields", "--task", "9").out
        assert "* 02  08 00        w0[31:16]        block_dim            8 blocks" in out
        assert "  01  00           w0[9:8]          ie                   0" in out
        assert "pc_addr              0x12c0c0200000" in out

    def test_arrays_and_stray_bits(self):
        """Elements that are set have lines of their own, an array of zeros has one; stray bits are marked."""
        raw = BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": 24, "payload": [0, 7] + [0] * 10})
        raw = raw[:8] + b"\x01" + raw[9:]
        text = "\n".join(fields.lines(entries(BUILTIN, "v100", raw), None))
        assert "payload[1]" in text
        assert "! 08  01 00 00 00" in text.replace("\x1b[33m\x1b[1m", "")
        zero = BUILTIN.get("v100", "CommonSqe").build({"type": 58})
        assert "all 0" in "\n".join(fields.lines(entries(BUILTIN, "v100", zero), None))

    def test_colours_only_on_a_terminal(self, ring):
        """A terminal gets colours, unless NO_COLOR is set; a pipe gets none, and no line is wider than the terminal."""
        for extra, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            out = on_a_terminal(["dump", str(ring), "--fields", "--family", "v100"], 80, extra)
            assert ("\x1b[" in out) == coloured
            plain = out.replace("\x1b[0m", "")
            for code in ("1", "2", "33", "36"):
                plain = plain.replace(f"\x1b[{code}m", "")
            assert max(map(len, plain.splitlines())) <= 80


def on_a_terminal(arguments, width, extra):
    """What the command writes to a terminal of that width."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm", **extra}
    if not extra:
        environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "tools.cli", *arguments], stdout=follower, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(follower)
        found = b""
        try:
            while part := os.read(leader, 65536):
                found += part
        except OSError:
            pass
        process.wait(timeout=60)
    os.close(leader)
    return found.decode().replace("\r\n", "\n")


class TestSummary:
    def test_counts(self, sqemu, ring):
        """Counts per kind, engine and stream, ids, and the limits of the chip."""
        found = sqemu("dump", ring, "--chip", "ascend310p3", "--summary", "--json").objects[1]
        assert (found["entries"], found["empty"], found["doubtful"]) == (3, 2, 0)
        assert found["kinds"] == {"event wait": 1, "kernel": 1, "nop": 1}
        assert found["engines"] == {"ai core": 1, "event wait": 1, "place holder": 1}
        assert found["streams"][0] == {
            "stream_id": 3, "entries": 2, "first_task": 8, "last_task": 9, "repeated_tasks": 0,
        }  # fmt: skip
        assert found["ids"]["events"] == [7]
        assert found["limits"][0]["used"] == 2

    def test_text(self, sqemu, tmp_path):
        """The text names what is over a limit or occurs again."""
        build = BUILTIN.get("v100", "EventWaitSqe").build
        many = b"".join(build({"type": 5, "event_id": n, "rt_stream_id": n}) for n in range(1100))
        (tmp_path / "r").write_bytes(many + many[:64])
        out = sqemu("dump", tmp_path / "r", "--chip", "ascend310p3", "--summary").out
        assert "1101 entries, 0 empty" in out
        assert "1 task ids occur again" in out
        assert "events: 1100 of 1023  ! over the limit" in out
        assert "up to 1099" in out

    def test_blob(self, sqemu, tmp_path):
        """A blob's summary is its header; loaded, that of its rings."""
        graph = {
            "format": "sqemu-graph", "version": 1, "name": "p", "options": {"ge.tiling_schedule_optimize": "1"},
            "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
            "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
            "outputs": ["y"],
        }  # fmt: skip
        (tmp_path / "b").write_bytes(encode(compile_graph(graph, "ascend310p3")))
        assert len(sqemu("dump", tmp_path / "b", "--summary").out.splitlines()) == 3
        assert len(sqemu("dump", tmp_path / "b", "--summary", "--json").objects) == 1
        assert "kinds" in sqemu("dump", tmp_path / "b", "--sqes", "--summary").out


class TestQuery:
    def test_values(self, sqemu, ring):
        """One line per entry that has the field."""
        out = sqemu("dump", ring, "--family", "v100", "--query", "kernel_credit").out.splitlines()
        assert [line.split()[-2:] for line in out] == [["0", "credits"], ["254", "credits"], ["254", "credits"]]
        found = sqemu("dump", ring, "--family", "v100", "--query", "pc_addr", "--json").objects
        assert [(r["slot"], r["value"]) for r in found[1:]] == [(1, 0x12C0C0200000)]
        assert "0x12c0c0200000" in sqemu("dump", ring, "--family", "v100", "--query", "pc_addr").out

    def test_changes(self, sqemu, tmp_path):
        """With --changes a value that is that of the entry before on the same stream is left out."""
        build = BUILTIN.get("v100", "EventWaitSqe").build
        made = [{"type": 5, "event_id": e, "rt_stream_id": s} for s, e in ((0, 1), (1, 1), (0, 1), (0, 2), (1, 1))]
        (tmp_path / "r").write_bytes(b"".join(map(build, made)))
        found = sqemu("dump", tmp_path / "r", "--family", "v100", "--query", "event_id", "--changes", "--json").objects
        assert [(r["slot"], r["value"]) for r in found[1:]] == [(0, 1), (1, 1), (3, 2)]

    def test_places_and_arrays(self, sqemu, tmp_path):
        """Kinds can be asked for, too, and arrays."""
        raw = BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": 24, "payload": [0, 7] + [0] * 10})
        (tmp_path / "r").write_bytes(raw)
        ask = "dump", tmp_path / "r", "--family", "v100", "--query"
        assert sqemu(*ask, "kind").out.split()[-2:] == ["place", "holder"]
        assert sqemu(*ask, "payload", "--json").objects[1]["value"][1] == 7

    def test_unknown_field(self, sqemu, ring):
        """A field that no entry has is refused with the nearest ones."""
        found = sqemu("dump", ring, "--query", "blok_dim", "--json")
        assert (found.code, found.error["error"]) == (2, "dump.field")
        assert "block_dim" in found.error["remedy"]


class TestC:
    @pytest.mark.gcc
    @pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
    def test_compiles_to_the_same_bytes(self, sqemu, tmp_path):
        """The initialisers, compiled with the header of the family, are the bytes of the file."""
        stray = bytearray(KERNEL)
        stray[24] = 3
        update = BUILTIN.get("v100", "PhModelTaskUpdateSqe").build({"type": 3, "task_type": 101, "reserved_4": [9] * 8})
        data = bytes(stray) + WAIT + update + BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": 24,
                                                                                 "payload": [5] * 12})  # fmt: skip
        (tmp_path / "r").write_bytes(data)
        sqemu("header", "--family", "v100", "-o", tmp_path / "v100.h")
        out = sqemu("dump", tmp_path / "r", "--family", "v100", "--c").out
        names = [line.split()[3] for line in out.splitlines() if line.startswith("static")]
        writes = "".join(f"fwrite(&{name}, 1, sizeof {name}, stdout);" for name in names)
        source = f'#include <stdio.h>\n#include "v100.h"\n{out}\nint main(void) {{ {writes} return 0; }}\n'
        (tmp_path / "x.c").write_text(source)
        subprocess.run(["gcc", "-std=c11", "-o", tmp_path / "x", tmp_path / "x.c"], check=True, timeout=60)
        assert subprocess.run([tmp_path / "x"], capture_output=True, check=True, timeout=60).stdout == data

    def test_other_values(self):
        """Units without a layout are bytes, gaps comments, floats and negative numbers literals."""
        first = BUILTIN.get("v200", "CcuSqe").build({"type": 16, "sqe_length": 1})
        text = "\n".join(cinit.lines(entries(BUILTIN, "v200", first + b"\x01" * 64), "v200"))
        assert "static const unsigned char raw_1[64] = {0x01, 0x01" in text

    def test_floats_and_negatives(self, sqemu, tmp_path):
        """Floats are hexadecimal literals, a bit pattern without one is said, the smallest integer has a form."""
        layout = BUILTIN.get("runtime", "CgdrTilingData")
        name = next(f.name for f in layout.fields if f.kind == "float")
        dims = BUILTIN.get("blob", "DimRecord")
        (tmp_path / "f").write_bytes(layout.build({name: 0x3F000000}) + layout.build({name: 0x7FC00000}))
        out = sqemu("dump", tmp_path / "f", "--family", "runtime", "--struct", "CgdrTilingData", "--c").out
        assert f".{name} = 0x1.0000000000000p-1," in out
        assert "no C literal" in out
        (tmp_path / "d").write_bytes(dims.build({"extent": -1}) + dims.build({"extent": -(1 << 63)}))
        out = sqemu("dump", tmp_path / "d", "--family", "blob", "--struct", "DimRecord", "--c").out
        assert ".extent = -1," in out
        assert "(-9223372036854775807 - 1)" in out


class TestConditions:
    def test_disassembly(self):
        """A condition entry shows its program, the zeros at its end as one line."""
        raw = BUILTIN.get("v100", "FunctionCallSqe").build(
            {"type": 20, "conds_sub_type": 1, "csc": 1, "func_call_op_code": 0x7F, "llwi1_immd_low": 1}
        )
        shown = [line for line in as_text(entries(BUILTIN, "v100", raw), None) if line.startswith("  >")]
        assert shown
        assert shown[-1].endswith("more words, all 0")


class TestCompletions:
    DONE = BUILTIN.get("v100", "CqeError").build({"phase": 1, "sq_id": 2, "sq_head": 3, "task_id": 5})
    FAILED = BUILTIN.get("v100", "CqeError").build({"error_bit": 1, "error_type": 1, "sq_id": 2, "task_id": 6})
    STAMP = BUILTIN.get("v100", "CqeSysCnt").build({"evt": 1, "syscnt_low": 5, "stream_id": 3})

    def test_recognised(self, sqemu, tmp_path):
        """A file that makes poor SQEs and good completion entries is shown as such, and it is said."""
        (tmp_path / "c").write_bytes(self.DONE + self.FAILED + self.STAMP + bytes(32))
        out = sqemu("dump", tmp_path / "c").out
        assert "5 completion entries, family v100 (guessed" in out
        assert "error exception  ! TS 0x26" in out
        assert "2 entries to slot 4" in out

    def test_json_and_back(self, sqemu, tmp_path):
        """JSON of completion entries is assembled to the same bytes."""
        data = self.DONE + bytes(16) + self.FAILED + self.STAMP
        (tmp_path / "c").write_bytes(data)
        found = sqemu("dump", tmp_path / "c", "--cqes", "--json")
        assert [r["section"] for r in found.objects] == ["file", "cqes", "empty", "cqes", "cqes"]
        for form in ("--json", "--asm"):
            (tmp_path / "t").write_text(sqemu("dump", tmp_path / "c", "--cqes", form).out)
            assert sqemu("asm", tmp_path / "t", "-o", tmp_path / "d").code == 0
            assert (tmp_path / "d").read_bytes() == data

    def test_slots_of_32_bytes(self, sqemu, tmp_path):
        """v200 entries lie in slots of 32 bytes; bytes behind the 20 defined ones are told and kept."""
        entry = BUILTIN.get("v200", "CqeError").build({"sq_head": 3, "stream_id": 4}) + bytes(11) + b"\x01"
        (tmp_path / "c").write_bytes(entry * 2)
        found = sqemu("dump", tmp_path / "c", "--cqes", "--family", "v200", "--json").objects
        assert found[0]["entries"] == 2
        assert "bytes 20 to 31" in found[1]["notes"][0]
        (tmp_path / "t").write_text(sqemu("dump", tmp_path / "c", "--cqes", "--family", "v200", "--asm").out)
        sqemu("asm", tmp_path / "t", "-o", tmp_path / "d")
        assert (tmp_path / "d").read_bytes() == entry * 2

    def test_no_such_family(self, sqemu, tmp_path):
        """A family without completion entries is refused."""
        (tmp_path / "c").write_bytes(self.DONE)
        found = sqemu("dump", tmp_path / "c", "--cqes", "--family", "arch5162", "--json")
        assert (found.code, found.error["error"]) == (2, "dump.cqes")


class TestStructs:
    def test_array_of_a_struct(self, sqemu, tmp_path):
        """--struct shows a file as an array of any layout, in any view; a rest is skipped."""
        row = BUILTIN.get("v100", "TilingTabl")
        (tmp_path / "t").write_bytes(row.build({"tiling_key": 1, "pc_addr0": 64}) + row.build({"tiling_key": 2}) + b"x")
        found = sqemu("dump", tmp_path / "t", "--struct", "TilingTabl", "--json")
        assert found.code == 1
        assert [r["fields"]["tiling_key"] for r in found.objects[1:3]] == [1, 2]
        assert "skipped 1 bytes at 0x40: less than a record of 32 bytes" in found.err
        assert "tiling_key=1" in sqemu("dump", tmp_path / "t", "--struct", "TilingTabl", "--compact").out
        assert "2 records TilingTabl" in sqemu("dump", tmp_path / "t", "--struct", "TilingTabl").out

    def test_unknown_struct(self, sqemu, tmp_path):
        """An unknown struct, or a file shorter than one record, is refused."""
        (tmp_path / "t").write_bytes(b"abc")
        assert sqemu("dump", tmp_path / "t", "--struct", "Foo", "--json").error["error"] == "format.unknown-struct"
        assert sqemu("dump", tmp_path / "t", "--struct", "TilingTabl", "--json").error["error"] == "dump.unknown"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fields", "--summary"),
        ("--json", "--c"),
        ("--json", "--asm"),
        ("--changes",),
        ("--cqes", "--struct", "TilingTabl"),
        ("--query", "kind", "--asm"),
        ("--where", "block_dim = 3"),
        ("--range", "99:"),
        ("--task", "x"),
    ],
)
def test_options_that_make_no_sense(sqemu, ring, arguments):
    """Views exclude each other, and what cannot be read is refused, exit 2, nothing shown."""
    found = sqemu("dump", ring, *arguments)
    assert (found.code, found.out) == (2, "")
    assert "dump." in found.err
