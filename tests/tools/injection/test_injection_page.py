"""docs/injection.md: its tables are those of the code, and what it shows is what is printed."""

from __future__ import annotations

import re
import typing
from pathlib import Path

import numpy as np
import pytest

from emu_core.injection import Outcome
from emu_core.injection import plan as plans
from emu_core.injection.limits import FIGURES
from emu_core.injection.plan import KINDS, AtEntry, Entry, ShrinkLimit, name_of
from emu_core.injection.targets import ROLES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/injection.md").read_text(encoding="utf-8")


def section(title):
    """The text below a heading, up to the next one."""
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(title):
    """The cells of the table rows of a section whose first cell is code."""
    found = (line.strip("| ").split(" | ") for line in section(title).splitlines() if line.startswith("| `"))
    return [[cell.strip() for cell in row] for row in found]


def test_every_kind_has_a_row_with_its_fields():
    """Kinds and fields are those of the plan's records."""
    table = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in rows("Kinds") if len(row) == 3}
    records = {name_of_class(kind): set(kind.__struct_fields__) for kind in (*typing.get_args(AtEntry), ShrinkLimit)}
    assert set(KINDS) == set(records)
    assert {name: table[name] for name in KINDS} == records


def name_of_class(kind):
    """The kind as a plan names it."""
    return str(kind.__struct_config__.tag)


def test_the_name_of_a_record_is_that_of_its_class():
    """An injection knows its kind."""
    assert name_of(ShrinkLimit("cores", 1)) == "shrink-limit"
    assert plans.FORMAT in PAGE


def test_fields_roles_and_limits():
    """Fields of an entry, roles and limits are all there, and no others."""
    table = {row[0]: row[1] for row in rows("Entries")}
    fields = {name for cell in table for name in re.findall(r"`(\w+)`", cell)} - {"buffer", "limit"}
    assert fields == set(Entry.__struct_fields__)
    named = re.findall(r"`(\w+)`", table["`role`"])
    assert set(named) == {*ROLES, "record"}
    assert set(re.findall(r"`(\w+)`", table["`limit`"])) == set(FIGURES)


def test_outcomes_and_exit_codes():
    """Each outcome has a row, and those with exit code 0 are the good ones."""
    from emu_core.injection.verdicts import GOOD

    codes = {row[0].strip("`"): row[2] for row in rows("Outcomes")}
    assert set(codes) == {str(outcome) for outcome in Outcome}
    assert {name for name, code in codes.items() if code == "0"} == {str(outcome) for outcome in GOOD}


@pytest.mark.parametrize(
    ("title", "plan"), [("A record is lost", "inject_lost_record"), ("A cell is wrong", "inject_wrong_cell")]
)
def test_what_is_shown_is_printed(sqemu, tmp_path, title, plan):
    """The report on the page is that of the command above it."""
    np.savez(tmp_path / "in.npz", x=np.arange(40, dtype="f4"), n=np.array([3], "i4"))
    folder = ROOT / "docs/examples"
    found = sqemu("run", folder / "probe.json", "--inputs", tmp_path / "in.npz", "--inject", folder / f"{plan}.json")
    assert found.code == 1
    assert found.out.strip() == re.search(r"```text\n(.*?)\n```", section(title), re.DOTALL)[1].strip()


def test_the_plan_on_the_page_is_the_one_in_the_file():
    """JSON as shown."""
    shown = re.search(r"```json\n(.*?)```", section("A record is lost"), re.DOTALL)[1]
    assert shown == (ROOT / "docs/examples/inject_lost_record.json").read_text()
