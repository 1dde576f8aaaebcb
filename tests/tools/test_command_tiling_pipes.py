"""`sqemu tiling cgdr --pipes`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tools.cmd_tiling import command

SHAPE = ("cgdr", "--t", "192", "--hv", "8", "--dk", "80", "--dv", "80", "--pipes")


@pytest.fixture
def run():
    """The command with the shape above and more options."""
    return lambda *more: CliRunner().invoke(command, [*SHAPE, *more], standalone_mode=False)


def test_bars_and_the_overlap(run):
    """A bar per pipe, and the sentence about the two slots."""
    text = run().output
    for pipe in ("MTE2", "MTE1", "Cube", "Vector", "MTE3"):
        assert f"\n  {pipe}" in text
    assert "slot 1 is filled for" in " ".join(text.split())


def test_one_slot(run):
    """With one slot nothing runs beside the product."""
    assert "nothing runs beside it" in " ".join(run("--stage-slots", "1").output.split())


def test_json(run):
    """A line per operation behind the record, in cycles, with the slot where there is one."""
    records = [json.loads(line) for line in run("--json").output.splitlines()]
    spans = [record for record in records if "pipe" in record]
    assert {span["pipe"] for span in spans} == {"MTE2", "MTE1", "Cube", "Vector", "MTE3"}
    assert all(0 <= span["start"] < span["end"] for span in spans)
    assert {span["slot"] for span in spans if "slot" in span} == {0, 1}


@pytest.mark.parametrize(
    ("more", "words"),
    [(("--variant", "1108"), "not modelled"), (("--sweep", "dv=1..2"), "contradict")],
)
def test_what_cannot_be_shown(run, more, words):
    """Other versions, and sweeps, are usage errors."""
    assert words in str(run(*more).exception)


def test_slots_without_pipes():
    """`--stage-slots` alone is a usage error."""
    result = CliRunner().invoke(command, [*SHAPE[:-1], "--stage-slots", "1"], standalone_mode=False)
    assert "--pipes" in str(result.exception)
