"""`sqemu diff` of ring files: aligned by stream and task, then by field; across families; what cannot be compared."""

from __future__ import annotations

import pytest

from formats import BUILTIN

KERNEL, WAIT = BUILTIN.get("v100", "AicoreKernelSqe"), BUILTIN.get("v100", "EventWaitSqe")


def kernel(task, stream=0, **fields):
    """A kernel entry."""
    return KERNEL.build({"task_id": task, "rt_stream_id": stream, "block_dim": 1, "kernel_credit": 254, **fields})


def wait(task, stream=0, **fields):
    """A wait entry."""
    return WAIT.build({"type": 5, "task_id": task, "rt_stream_id": stream, "kernel_credit": 255, **fields})


@pytest.fixture
def diff(sqemu, tmp_path):
    """Compare two byte strings as ring files."""

    def call(a, b, *arguments, family=("--family", "v100")):
        (tmp_path / "a.bin").write_bytes(a)
        (tmp_path / "b.bin").write_bytes(b)
        return sqemu("diff", tmp_path / "a.bin", tmp_path / "b.bin", *family, *arguments)

    return call


class TestAlignment:
    def test_equal(self, diff):
        """Equal files are exit 0 and one line of counts."""
        found = diff(kernel(1) + bytes(64), kernel(1) + bytes(64))
        assert found.code == 0
        assert found.out.splitlines()[-1].startswith("1 equal, 0 changed, 0 only in")
        assert diff(kernel(1), kernel(1), family=()).code == 0

    def test_changed_field(self, diff):
        """A field that differs is named with both values, exit 1."""
        found = diff(kernel(1) + kernel(2, pc_addr=0x1000), kernel(1) + kernel(2, pc_addr=0x2000, block_dim=3))
        assert found.code == 1
        assert "  stream 0 slot 1 task 2 kernel" in found.out
        assert "pc_addr    0x1000 -> 0x2000" in found.out
        assert "block_dim  1 blocks -> 3 blocks" in found.out

    def test_inserted_entry(self, diff):
        """An inserted entry moves the others, which stay equal; it is only in B."""
        found = diff(kernel(1) + kernel(2), kernel(1) + wait(9) + kernel(2), "--json")
        _, only, summary = found.objects
        assert (only["section"], only["side"], only["task_id"], only["slot_b"]) == ("only", "b", 9, 1)
        assert summary == {
            "section": "diff", "equal": 2, "changed": 0, "only_a": 0, "only_b": 1, "trailing": False, "by_order": False,
        }  # fmt: skip
        assert "+ stream 0 slot 1 task 9 event wait" in diff(kernel(1), kernel(1) + wait(9)).out
        assert "- stream 0 slot 1 task 9 event wait" in diff(kernel(1) + wait(9), kernel(1)).out

    def test_same_task_id_twice(self, diff):
        """Task ids that occur again are paired in their order."""
        found = diff(kernel(1) + kernel(1, block_dim=2), kernel(1) + kernel(1, block_dim=3), "--json")
        assert found.objects[1]["fields"] == {"block_dim": [2, 3]}
        assert len(found.objects) == 3

    def test_streams_apart(self, diff):
        """The same task id on another stream is another entry."""
        assert diff(kernel(1, stream=1), kernel(1, stream=2), "--json").objects[-1]["changed"] == 0

    def test_other_kind(self, diff):
        """An entry that became another kind is said so, and the names of both layouts."""
        found = diff(kernel(1), wait(1))
        assert "kernel -> event wait" in found.out
        assert "AicoreKernelSqe -> EventWaitSqe" in found.out
        assert diff(kernel(1), wait(1), "--json").objects[1]["fields"]["struct"] == ["AicoreKernelSqe", "EventWaitSqe"]

    def test_reserved_bits_and_arrays(self, diff):
        """Reserved bits count, and elements of arrays."""
        holder = BUILTIN.get("v100", "PhSqe").build
        assert "reserved_2" in diff(kernel(1), kernel(1, reserved_2=1)).out
        a, b = (holder({"type": 3, "task_type": 24, "payload": [n] + [0] * 11}) for n in (1, 2))
        assert "[1, 0, 0" in diff(a, b).out

    def test_trailing_bytes(self, diff):
        """Bytes behind the last entry count."""
        found = diff(kernel(1) + b"a", kernel(1) + b"b")
        assert found.code == 1
        assert "bytes behind the last entry: 61 -> 62" in found.out

    def test_long_files(self, diff):
        """Windows of equal bytes are passed over, the others compared."""
        ring = b"".join(kernel(n & 0xFFFF) for n in range(40000))
        changed = bytearray(ring)
        changed[39000 * 64 + 2] = 7
        found = diff(ring, bytes(changed), "--json").objects
        assert found[1]["slot_a"] == 39000
        assert found[2]["equal"] == 39999


class TestChoices:
    def test_ignore(self, diff):
        """Fields that may differ are left out."""
        assert diff(kernel(1), kernel(1, block_dim=9), "--ignore", "block_dim").code == 0

    def test_filters(self, diff):
        """Only chosen entries are compared."""
        a, b = kernel(1) + wait(2, event_id=1), kernel(1, block_dim=5) + wait(2, event_id=2)
        for arguments, changed in (
            (("--kind", "event wait"), 1),
            (("--task", "1"), 1),
            (("--stream", "7"), 0),
            (("--where", "block_dim > 4"), 1),
        ):
            assert diff(a, b, *arguments, "--json").objects[-1]["changed"] == changed


class TestFamilies:
    def test_by_field_name(self, diff):
        """Across families entries are aligned by position and fields by name; names of values count, not numbers."""
        v200 = BUILTIN.get("v200", "NotifyWaitSqe").build({"type": 7, "task_id": 70000, "notify_id": 5})
        v100 = BUILTIN.get("v100", "NotifyWaitSqe").build({"type": 7, "task_id": 3, "notify_id": 4})
        found = diff(v100, v200, "--json", family=("--family", "v100", "--family", "v200"))
        assert found.objects[-1]["by_order"] is True
        assert found.objects[1]["fields"] == {"task_id": [3, 70000], "notify_id": [4, 5]}
        text = diff(v100, v200, family=("--family", "v100", "--family", "v200")).out
        assert "aligned by position" in text

    def test_a_field_of_one_side(self, diff):
        """A field that one family lacks is shown when it is set."""
        v200 = BUILTIN.get("v200", "NotifyWaitSqe").build({"type": 7, "cnt_value": 5})
        v100 = BUILTIN.get("v100", "NotifyWaitSqe").build({"type": 7})
        out = diff(v100, v200, family=("--family", "v100", "--family", "v200")).out
        assert "cnt_value  - -> 5" in out


class TestInputs:
    def test_hex_text(self, sqemu, tmp_path):
        """Hex text is a ring, too; a line that cannot be read is refused."""
        (tmp_path / "a").write_bytes(kernel(1))
        (tmp_path / "b").write_text("\n".join(kernel(1)[at : at + 16].hex(" ") for at in range(0, 64, 16)))
        assert sqemu("diff", tmp_path / "a", tmp_path / "b").code == 0
        (tmp_path / "b").write_text("00 " * 64 + "\n" * 9000 + "what?")
        assert sqemu("diff", tmp_path / "a", tmp_path / "b", "--json").error["error"] == "dump.hex"

    def test_words_of_a_log(self, sqemu, tmp_path):
        """Little-endian words behind a prefix are the ring they came from, and a note says how they were read."""
        ring = b"".join(kernel(k) for k in range(1, 9))
        words = [ring[at : at + 4][::-1].hex() for at in range(0, len(ring), 4)]
        log = "\n".join("[INFO] sqe: " + " ".join(words[k : k + 8]) for k in range(0, len(words), 8))
        (tmp_path / "a").write_bytes(ring)
        (tmp_path / "b").write_text(log)
        found = sqemu("diff", tmp_path / "a", tmp_path / "b")
        assert (found.code, "little-endian words" in found.err) == (0, True)

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (("-", "-"), "diff.options"),
            (("a", "a", "--family", "v100", "--family", "v100", "--family", "v100"), "diff.options"),
            (("a", "empty"), "dump.unknown"),
            (("a", "none"), "input.file"),
            (("a", "a", "--family", "v9"), "format.unknown-family"),
            (("a", "a", "--where", "foo == 1"), "dump.where"),
        ],
    )
    def test_refused(self, sqemu, tmp_path, monkeypatch, arguments, error):
        """What cannot be compared is exit 2."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a").write_bytes(kernel(1))
        (tmp_path / "empty").write_bytes(b"")
        found = sqemu("diff", *arguments, "--json")
        assert (found.code, found.error["error"]) == (2, error)
