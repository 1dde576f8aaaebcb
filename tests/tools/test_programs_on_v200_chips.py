"""Programs for a 950 on the command line: check, run, record, dump, demo."""

from __future__ import annotations

import pytest

from tools.patch_table import show_patches

CHIP = "ascend950pr_950z"


@pytest.fixture
def blob(sqemu, probe):
    """The probe compiled for a 950."""
    assert sqemu("compile", probe / "probe.json", "--chip", CHIP, "-o", probe / "p.sqt").code == 0
    return probe / "p.sqt"


@pytest.fixture
def record(sqemu, probe, blob):
    """A record of n = 3 and n = 5."""
    inputs = [word for n in (3, 5) for word in ("--inputs", probe / f"in{n}.npz")]
    assert sqemu("run", blob, *inputs, "--record", probe / "r.sqr").code == 0
    return probe / "r.sqr"


def test_check_has_nothing_to_say(sqemu, blob):
    """A program for a 950 fits, and its entries can be executed here."""
    found = sqemu("check", blob)
    assert found.code == 0
    assert "chip.no-engines" not in found.out
    assert "0 errors, 0 warnings, 0 notes" in found.out


def test_patches_join_the_halves_of_the_program_counter(sqemu, probe, blob):
    """One row for the counter of the vector cores with the key, one for the block dim, one for blocks per group."""
    found = sqemu("run", blob, "--inputs", probe / "in3.npz", "--patches")
    rows = [line.split() for line in found.out.splitlines() if " probe0 " in line]
    fields = [row[3] for row in rows]
    assert fields == ["aiv_start_pc", "block_dim", "group_block_dim"]
    (counter,) = [line for line in found.out.splitlines() if "aiv_start_pc" in line]
    assert "unchanged key 0" in counter


def test_the_loaded_rings_name_what_entries_point_at(sqemu, blob):
    """Events are told from notifies by their sub type; the update's key is named by its address."""
    lines = sqemu("dump", blob, "--sqes").out.splitlines()
    counts = {kind: sum(kind in line for line in lines) for kind in ("event wait", "event reset", "event record")}
    assert counts == {"event wait": 1, "event reset": 1, "event record": 1}
    (update,) = [line for line in lines if "task update" in line]
    assert "rows 3" in update
    assert "(tiling key of probe0)" in update
    (kernel,) = [line for line in lines if "vector kernel" in line]
    assert "blocks 0xffff (placeholder)" in kernel
    assert "(TilingProbe, key 0)" in kernel


def test_the_record_shows_what_executed(sqemu, record):
    """Execution 1 ran the kernel with 5 blocks; 12 entries on the main stream, 3 on the attached one."""
    found = sqemu("dump", record, "--sqes", "--run", "1", "--json").objects
    entries = [o for o in found if "struct" in o]
    structs = [e["struct"] for e in entries]
    assert structs == [
        "NotifyWaitSqe", "NotifyRecordSqe", *["PhSqe"] * 8, "AivKernelSqe", "NotifyRecordSqe",
        "AicpuKernelSqe", "PhModelTaskUpdateSqe", "NotifyRecordSqe",
    ]  # fmt: skip
    kernel = entries[10]
    assert kernel["fields"]["block_dim"] == 5
    assert not any(e["guessed"] for e in entries)


def test_a_dumped_ring_reads_back(sqemu, probe, blob):
    """The ring files of a run decode as v200 entries and assemble to the same bytes."""
    assert sqemu("run", blob, "--inputs", probe / "in3.npz", "--dump-rings", probe / "rings").code == 0
    (ring,) = [path for path in (probe / "rings").rglob("after.bin") if path.parent.name == "sq0"]
    text = sqemu("dump", ring, "--family", "v200", "--asm").out
    (probe / "t").write_text(text)
    assert sqemu("asm", probe / "t", "-o", probe / "again.bin").code == 0
    assert (probe / "again.bin").read_bytes() == ring.read_bytes()


class _Entry:
    """A change of one field, as the journal has it."""

    def __init__(self, name, before, after):
        self.target, self.field, self.before, self.after = "sqe", name, before, after
        self.time = self.stream = self.task = 0
        self.tiling_key, self.node = 7, "op"
        self.writer = type("Writer", (), {"stream": -1, "task": -1, "engine": "host"})


def test_a_half_without_the_other_is_shown_alone(capsys):
    """Only the low half of an argument address changed; the counter behind it has both halves."""
    changes = [_Entry("param_addr_low", 1, 2), _Entry("pc_addr_low", 0x40, 0x80), _Entry("pc_addr_high", 0x12, 0x12)]
    changes.append(_Entry("fndata_low", 3, 4))
    result = type("Result", (), {"patches": changes, "run": 1, "started": 0})
    show_patches([result])
    fields = [line.split()[3] for line in capsys.readouterr().out.splitlines()[2:] if "the host" in line]
    assert fields == ["param_addr_low", "pc_addr", "fndata_low"]
