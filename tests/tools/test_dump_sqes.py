"""`sqemu dump` of raw SQEs: the worked examples of the reference, ring files, and what does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import BUILTIN, Registry, decode, define
from tools.dump.data import Data
from tools.dump.kinds import facts as facts_of
from tools.dump.kinds import kind_of
from tools.dump.source import guess_family
from tools.dump.sqes import Names, as_text, entries, entry_lines, record

ZERO_ROW = "00" * 16
NOP = "0300670001000200000000000000fe00" + ZERO_ROW * 3
NOTIFY = "0600000004000700150000000000fe00" + ZERO_ROW * 3
KERNEL = (
    "0000080003000900001000000000fe00"
    "00000040000000000000000004000000"
    "000020c0c012000000003041c0120000"
    "00000000000000000000000000000000"
)
WRITE = (
    "0800000004000800000000000000fe00"
    "10000041c01220820000000000000000"
    "44332211000000000000000000000000"
    "00000000000000000000000000000000"
)
"""Worked examples of `sqe_formats.md` 13."""


def sqe(text):
    """The 64 bytes of an example."""
    return bytes.fromhex(text)


def put(tmp_path, *examples):
    """A file of examples."""
    path = tmp_path / "ring.bin"
    path.write_bytes(b"".join(map(sqe, examples)))
    return path


def told(struct, **values):
    """Kind and facts of an entry with these fields."""
    decoded = decode("v100", BUILTIN.get("v100", struct).build(values))
    kind = kind_of(decoded)
    return kind.name, list(facts_of(decoded, kind))


class TestText:
    def test_kernel(self, sqemu, tmp_path):
        """An entry is a header with its facts and four rows of hex beside the fields that start there."""
        lines = sqemu("dump", put(tmp_path, KERNEL), "--compact").out.splitlines()[2:]
        assert lines[0] == "stream 3 slot 0 task 9 kernel  blocks 8  pc 0x12c0c0200000  args 0x12c041300000"
        assert [line.split()[0] for line in lines[1:]] == ["00", "10", "20", "30"]
        assert "".join("".join(line.split()[1:5]) for line in lines[1:]) == KERNEL
        assert "block_dim=8 blocks" in lines[1]
        assert "pc_addr=0x12c0c0200000  param_addr=0x12c041300000" in lines[3]

    def test_fields_that_are_0_are_left_out(self, sqemu, tmp_path):
        """Only fields that are set stand beside the hex."""
        out = sqemu("dump", put(tmp_path, NOP), "--fields", "--compact").out
        assert "task_type=103 (NOP)" in out
        assert "pre_p" not in out

    def test_family_is_said(self, sqemu, tmp_path):
        """The first line says how many entries there are, of which family, and why it was taken."""
        path = put(tmp_path, NOP, NOTIFY)
        assert "2 SQEs, family v100 (guessed: " in sqemu("dump", path).out
        assert "family v100 (given)" in sqemu("dump", path, "--family", "v100").out
        assert "family v100 (of ascend310p3)" in sqemu("dump", path, "--chip", "Ascend310P3").out

    def test_reserved_bits_are_flagged(self, sqemu, tmp_path):
        """A reserved bit that is set is named by word and bit."""
        raw = bytearray(sqe(KERNEL))
        raw[24] = 1
        (tmp_path / "r.bin").write_bytes(raw)
        for view in ("--compact", "--fields"):
            assert "! reserved bits w6 are not 0" in sqemu("dump", tmp_path / "r.bin", view, "--family", "v100").out

    def test_unknown_type(self, sqemu, tmp_path):
        """An entry of an unknown type shows its words and says that no layout is known."""
        found = sqemu("dump", put(tmp_path, "3a" + "00" * 7 + "01000000" + "00" * 52), "--compact")
        assert found.code == 0
        assert "unknown kind  type 58" in found.out
        assert "command_custom[0]=0x1" in found.out
        assert "no layout for this kind" in found.out

    def test_empty_entries_are_one_line(self, sqemu, tmp_path):
        """Entries of zeros are counted in one line, also at the end."""
        zeros = ZERO_ROW * 4
        out = sqemu("dump", put(tmp_path, zeros, NOP, zeros, zeros, zeros), "--compact").out
        assert "stream 0 slot 0 empty" in out
        assert "stream 0 slots 2 to 4 empty" in out

    def test_terminal_width(self):
        """On a terminal no line is wider than it, whatever the entry holds."""
        ring = b"".join(map(sqe, (KERNEL, WRITE, NOP, "ff" * 64)))
        named = Names(lambda _: "a long name " * 3, lambda _: "another")
        for limit in (80, 100):
            lines = [x for e in entries(BUILTIN, "v100", ring) for x in entry_lines(e, limit, named)]
            shown = [x.replace("\x1b[1m", "").replace("\x1b[33m", "").replace("\x1b[0m", "") for x in lines]
            assert max(map(len, shown)) <= limit


class TestFacts:
    def test_placeholder(self):
        """A kernel whose block dim is 0xFFFF waits for an update, and is told so."""
        kind, facts = told("AicoreKernelSqe", block_dim=0xFFFF, pc_addr=0x1000)
        assert (kind, facts[0]) == ("kernel", "blocks 0xffff (placeholder)")

    def test_task_update(self):
        """An update says target and rows, and that a plain kernel has no key address of all ones."""
        kind, facts = told(
            "PhModelTaskUpdateSqe", type=3, task_type=101, des_stream_id=2, des_task_id=7, tiling_tab_len=3,
            tiling_key_offset=(1 << 64) - 1,
        )  # fmt: skip
        assert kind == "task update"
        assert facts == ["target stream 2", "target task 7", "rows 3", "key at none"]

    def test_events_and_notifies(self):
        """Events and notifies say their number, waits their limit."""
        assert told("EventRecordSqe", type=4, event_id=5) == ("event record", ["event 5"])
        assert told("EventWaitSqe", type=5, event_id=5) == ("event wait", ["event 5", "limit none"])
        assert told("NotifyWaitSqe", type=7, notify_id=21, timeout=10) == ("notify wait", ["notify 21", "limit 10 s"])

    def test_write_values(self):
        """A reset says its event, a plain write address, size and value."""
        assert told("WriteValueSqe", type=8, sub_type=1, event_id=3)[0] == "event reset"
        decoded = decode("v100", sqe(WRITE))
        assert list(facts_of(decoded, kind_of(decoded))) == ["to 0x12c041000010", "size 4 bytes", "value 0x11223344"]

    def test_place_holders_and_conditions(self):
        """Place holders and condition entries are told by what they stand for."""
        assert told("PhSqe", type=3, task_type=24) == ("place holder", ["stands for event reset"])
        assert told("FunctionCallSqe", type=20, conds_sub_type=1, model_id=4) == ("model execute", ["model 4"])
        assert told("FunctionCallSqe", type=20, conds_sub_type=9) == ("condition", ["sub type mem wait value"])

    def test_aicpu(self):
        """An AI CPU entry without a library is the end of a graph."""
        assert told("AicpuKernelSqe", type=1, block_dim=1) == ("model end", [])
        assert told("AicpuKernelSqe", type=1, task_so_addr=16)[0] == "aicpu"

    def test_layouts_of_plugins(self):
        """A layout without an entry in the table is named after its struct and shows its first fields."""
        struct = define(
            "edu", "VecAddSqe", 64, "@0 type:6 -:26", "@4 rt_stream_id:16 task_id:16", "@8 left:32 right:32 -:32*12",
            sqe_type=9, match={"type": (9,)},
        )  # fmt: skip
        common = define("edu", "CommonSqe", 64, "@0 type:6 -:26 rt_stream_id:16 task_id:16 words:32*14")
        decoded = BUILTIN.extend((struct, common)).decode("edu", struct.build({"type": 9, "left": 5, "right": 6}))
        kind = kind_of(decoded)
        assert kind.name == "vec add"
        assert list(facts_of(decoded, kind)) == ["left 5", "right 6"]


class TestFamilies:
    def test_best_fit(self):
        """Among several families the one that fits the entries best is taken, and what speaks for it is said."""
        found = guess_family(BUILTIN, Data(sqe(NOP) + sqe(KERNEL)))
        assert found.name == "v100"
        assert found.reason.startswith("guessed: 100% of the signs in 2 entries fit v100")

    def test_only_one(self):
        """A registry with one family of SQEs leaves no choice."""
        common = define("edu", "CommonSqe", 64, "@0 type:6 -:26 rt_stream_id:16 task_id:16 words:32*14")
        assert guess_family(Registry((common,)), Data(sqe(NOP))).reason == "the only family with SQEs here"

    def test_zeros_say_nothing(self):
        """Entries of zeros give no sign; the first family is taken."""
        found = guess_family(BUILTIN, Data(bytes(6400)))
        assert (found.name, found.confidence) == ("v100", 0.0)


class TestJson:
    def test_record(self, sqemu, tmp_path):
        """One object per entry: place, struct, fields as integers, bytes."""
        found = sqemu("dump", put(tmp_path, NOP, KERNEL), "--json").objects
        assert found[0] == {
            "section": "file",
            "file": str(tmp_path / "ring.bin"),
            "family": "v100",
            "reason": found[0]["reason"],
            "entries": 2,
            "skipped": 0,
        }
        kernel = found[2]
        assert kernel["section"] == "sqes"
        assert (kernel["stream_id"], kernel["slot"], kernel["task_id"]) == (3, 1, 9)
        assert (kernel["struct"], kernel["kind"], kernel["hex"]) == ("AicoreKernelSqe", "kernel", KERNEL)
        assert kernel["fields"]["block_dim"] == 8
        assert kernel["fields"]["pc_addr"] == 0x12C0C0200000
        assert kernel["fields"]["pc_addr_high"] == 0x12C0
        assert (kernel["offset"], kernel["guessed"], kernel["notes"]) == (64, False, [])

    @given(st.binary(min_size=64, max_size=64))
    def test_any_bytes(self, raw):
        """Any 64 bytes become a record whose hex is these bytes, and text lines without control codes."""
        entry = next(entries(BUILTIN, "v100", raw))
        assert record(entry)["hex"] == raw.hex()
        text = "".join(as_text([entry], 100)).replace("\x1b[", "")
        assert text.isprintable()

    def test_the_sync_bit_is_no_stream(self, tmp_path, sqemu):
        """Bit 15 of the stream id marks a waiting host, and is left out of the stream's number."""
        found = sqemu("dump", put(tmp_path, NOP[:8] + "0180" + NOP[12:]), "--json").objects[1]
        assert (found["stream_id"], found["fields"]["rt_stream_id"]) == (1, 0x8001)


class TestRingFiles:
    def test_of_a_run(self, sqemu, probe):
        """Ring files that `sqemu run` writes are such files: the executed kernel shows its patched block dim."""
        assert sqemu("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--dump-rings", probe / "r").code == 0
        folder = probe / "r" / "sq0"
        before, after = (sqemu("dump", folder / f"{name}.bin").out for name in ("before", "executed"))
        assert "blocks 0xffff (placeholder)" in before
        assert "blocks 3 " in after


@pytest.mark.parametrize("left", [1, 63])
def test_trailing_bytes(sqemu, tmp_path, left):
    """A last entry that is cut off is said with its offset, the rest is shown, exit 1."""
    (tmp_path / "t.bin").write_bytes(sqe(NOP) + bytes(left))
    found = sqemu("dump", tmp_path / "t.bin")
    assert found.code == 1
    assert "2  nop" in found.out
    assert f"skipped {left} bytes at 0x40" in found.err
    assert sqemu("dump", tmp_path / "t.bin", "--json").objects[0]["skipped"] == left
