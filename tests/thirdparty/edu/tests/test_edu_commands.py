"""Every command works with the chip as with a built-in one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

GRAPH = Path(__file__).parents[1] / "stripe.json"


def test_lists_know_it(sqemu):
    """chips, formats, policies and op list what the plugin brings."""
    assert sqemu("chips", "edu-one", "--json").objects[0]["soc_name"] == "Edu-One"
    assert "variant" in sqemu("formats", "EduKernelSqe").out
    assert "edu_unknown_key" in sqemu("policies").out
    assert "edu_stripe" in sqemu("op", "--list").out
    assert "explanations" in next(line for line in sqemu("plugins", "list").out.splitlines() if "edu" in line)


def test_compile_run_dump(sqemu, inputs, tmp_path):
    """A graph becomes a blob, the blob runs, and rings, blob and run record can be looked at."""
    blob, rings, record = tmp_path / "s.sqt", tmp_path / "rings", tmp_path / "r.sqr"
    assert sqemu("compile", GRAPH, "--chip", "edu-one", "-o", blob).code == 0
    ran = sqemu(
        "run", blob, "--inputs", inputs, "--outputs", tmp_path / "o.npz", "--dump-rings", rings, "--record", record
    )
    assert (ran.code, "1 task update, 0 hazards" in ran.out) == (0, True)
    assert np.load(tmp_path / "o.npz")["y"].tolist() == [0] * 4 + [1] * 4 + [2] * 2
    shown = sqemu("dump", rings / "sq0" / "executed.bin", "--chip", "edu-one", "--json").objects
    kernel = next(entry for entry in shown if entry.get("struct") == "EduKernelSqe")
    assert kernel["fields"]["blocks"] == 3
    assert "edu patch" in sqemu("dump", "--sqes", blob).out
    assert sqemu("dump", record).code == 0


def test_dump_knows_the_family_without_being_told(sqemu, inputs, tmp_path):
    """Raw entries of the family are guessed; one of its completion entries is read by the layout that it supplies."""
    rings = tmp_path / "rings"
    assert sqemu("run", GRAPH, "--chip", "edu-one", "--inputs", inputs, "--outputs", tmp_path / "o.npz",
                 "--dump-rings", rings).code == 0  # fmt: skip
    shown = sqemu("dump", rings / "sq0" / "executed.bin", "--json").objects
    assert (shown[0]["family"], "guessed" in shown[0]["reason"]) == ("edu", True)
    assert "EduKernelSqe" in {entry.get("struct") for entry in shown}
    # phase 1, type 1, queue 2, head 3, stream 2, task 7; then an empty slot, then an error of kind 4
    first = bytes.fromhex("05000200 0300 0200 0200 0700 00000000")
    failed = bytes.fromhex("07040200 0400 0300 0200 0800 2a000000")
    (tmp_path / "cq").write_bytes(first + bytes(16) + failed)
    for chosen in (("--chip", "edu-one"), ("--family", "edu")):
        found = sqemu("dump", tmp_path / "cq", "--cqes", "--json", *chosen).objects
        entries = [each for each in found if each["section"] == "cqes"]
        assert [(e["struct"], e["stream_id"], e["task_id"]) for e in entries] == [
            ("CqeError", 2, 7),
            ("CqeError", 2, 8),
        ]
        assert [e["fields"]["error_type"] for e in entries] == [0, 4]
        assert entries[1]["fields"]["sq_sw_status"] == 0x2A


def test_check_and_explain(sqemu, tmp_path):
    """The package's own check is run, and its ids are explained."""
    clean = sqemu("check", GRAPH, "--chip", "edu-one")
    assert (clean.code, "edu-cores" in clean.out) == (0, True)
    short = tmp_path / "short.json"
    short.write_text(GRAPH.read_text().replace("[10]", "[3]"))
    assert "edu.short-input" in {f.get("id") for f in sqemu("check", short, "--chip", "edu-one", "--json").objects}
    assert "policy nop_count" in sqemu("explain", "edu.not-patched").out


def test_one_operator_against_its_reference(sqemu, inputs):
    """`sqemu op --verify` runs the operator alone on the chip."""
    found = sqemu("op", "edu_stripe", "--chip", "edu-one", "--inputs", inputs, "--verify")
    assert (found.code, "block dim 3" in found.out) == (0, True)


def test_a_late_patch_is_exit_1(sqemu, inputs, tmp_path):
    """Too few idle entries: the check says so, the run fails with the fault."""
    late = ("--chip", "edu-one", "--policy", "nop_count=0")
    assert "check.nop-distance" in sqemu("check", GRAPH, *late).out
    ran = sqemu("run", GRAPH, "--inputs", inputs, "--outputs", tmp_path / "o.npz", *late)
    assert (ran.code, "edu.not-patched" in ran.out + ran.err) == (1, True)
