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
