"""What docs/device.md says about place holders, SDMA and NOP counts is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emu_core.chips import Latencies
from emu_core.plugins import PluginHost
from emu_plugins.engines.sdma_ops import DTYPES
from emu_plugins.engines.task_types import COMPLETES

PAGE = (Path(__file__).parents[3] / "docs" / "device.md").read_text(encoding="utf-8")


def _numbers(cell):
    """The numbers of `1, 3–5`."""
    for part in cell.split(", "):
        first, _, last = part.partition("–")
        yield from range(int(first), int(last or first) + 1)


def test_the_page_lists_the_task_types_that_complete_by_the_same_groups():
    """One row per reason, with the same numbers."""
    rows = re.findall(r"^\| ([\d, –]{2,}) \| [a-z]", PAGE.partition("Every other task type completes")[2], re.MULTILINE)
    assert [tuple(_numbers(row)) for row in rows[: len(COMPLETES)]] == [
        tuple(sorted(numbers)) for numbers in _in_page_order(rows)
    ]


def _in_page_order(rows):
    groups = {min(numbers): numbers for numbers in COMPLETES.values()}
    return [groups[min(_numbers(row))] for row in rows[: len(COMPLETES)]]


def test_the_page_names_every_element_type_of_the_sdma():
    """int8 0 to bfloat16 8."""
    text = PAGE.partition("### SDMA operations")[2]
    found = re.findall(r"(?:u?int\d+|b?float\d+) (\d)", text.partition("| operation")[0].replace("\n", " "))
    assert [int(number) for number in found] == sorted(DTYPES)


@pytest.mark.parametrize(
    ("chip", "row"), [("ascend910b3", (7, 5, 7, 8)), ("ascend950pr_9599", (7, 5, 7, 8)), ("ascend310p3", (4, 5, 5, 5))]
)
def test_the_safe_counts_of_the_page_follow_from_the_chips(chip, row):
    """P - 1, what 600 ns leave after a reset of 100 ns in NOPs of 100 ns, the larger one, and the default."""
    found = PluginHost().chip(chip)
    times = Latencies()
    assert (times.event_notify_ns, times.write_value_ns, times.nop_ns) == (600, 100, 100)
    assert row == (found.prefetch_depth - 1, 5, max(found.prefetch_depth - 1, 5), found.prefetch_num)
    first = "310P" if chip.startswith("ascend310p") else "910B, A3, 950"
    line = next(line for line in PAGE.partition("### Two reasons")[2].splitlines() if line.startswith(f"| {first}"))
    assert tuple(int(cell.split("= ")[-1]) for cell in line.strip("| ").split(" | ")[1:]) == row
