"""The fidelity page, run: entries decode to what stands beside them, tests exist, scenarios are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emu_core import codes
from formats import BUILTIN
from tools.capture.build import capture_of
from tools.dump.kinds import facts, kind_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^\| [^|]+ \| `((?:[0-9a-f]{8} ?)+)` \| ([^|]+) \| `([^`]+)` \|$", PAGE, re.MULTILINE)
SCENARIOS = re.findall(r"^\| S(\d+) \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^\s*def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
}


def decoded(words):
    """An entry of words, zeros behind them."""
    raw = b"".join(int(word, 16).to_bytes(4, "little") for word in words.split())
    return BUILTIN.decode("v100", raw.ljust(64, b"\0"))


def shown(entry):
    """An entry as the page shows it."""
    values = entry.struct.join(entry.values)
    kind = kind_of(entry)
    return f"stream {values['rt_stream_id']} task {values['task_id']}: {kind.name}  " + "  ".join(facts(entry, kind))


def test_there_are_entries_and_scenarios():
    """The page holds eight entries of real devices and all 62 scenarios, in order."""
    assert len(ENTRIES) == 8
    assert [int(number) for number, _ in SCENARIOS] == list(range(1, 63))


@pytest.mark.parametrize(("words", "_says", "cell"), ENTRIES)
def test_entries_decode_as_the_page_says(words, _says, cell):
    """The words of each entry decode to the text in the last column."""
    assert shown(decoded(words)) == cell


@pytest.mark.parametrize(("words", "says", "_cell"), ENTRIES)
def test_numbers_of_the_log_are_those_of_the_entry(words, says, _cell):
    """Ids, blocks, events and addresses that the log says are the values of the fields."""
    entry = decoded(words)
    values = entry.struct.join(entry.values)
    named = {
        "rt_stream_id": r"stream(?:_id=| )(\d+)",
        "task_id": r"task(?:_id=| )(\d+)",
        "block_dim": r"(\d+) (?:blocks|cores busy)",
        "event_id": r"event_id=(\d+)",
        "kernel_credit": r"credit (\d+)",
        "timeout": r"time_out=(\d+)",
        "pc_addr": r"PC_START (0x[0-9a-f]+)",
        "param_addr": r"PARA_BASE (0x[0-9a-f]+)",
    }
    told = {field: re.search(pattern, says) for field, pattern in named.items()}
    compared = {field: int(found[1], 0) for field, found in told.items() if found}
    assert len(compared) >= 2
    assert {field: values[field] for field in compared} == compared


def test_entries_of_logs_have_no_doubts():
    """Each entry of a real device has a layout and no reserved bit set; those of the samples are the vector core's."""
    found = [decoded(words) for words, _, _ in ENTRIES]
    assert all(not entry.guessed and entry.notes == () for entry in found)
    assert {entry.values["ffts_type"] for entry in found[:4]} == {1}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", PAGE))))
def test_named_tests_exist(name):
    """Every test that the page names is in the suite."""
    assert name in TESTS


@pytest.mark.parametrize(("number", "cell"), SCENARIOS)
def test_scenarios_name_their_own_tests(number, cell):
    """The tests of a scenario bear its number, and there is at least one."""
    names = re.findall(r"`(test_\w+)`", cell)
    assert names
    assert all(re.match(rf"test_s0*{number}_", name) for name in names)


def test_aicpu_status_is_the_code(tmp_path):
    """The published status word 0x2afa of an AI CPU task is the error code 11002 of the device's own line."""
    prefix = "[ERROR] RUNTIME(9,app):2026-01-02-10:00:00.000.00"
    (tmp_path / "a.log").write_text(
        f"{prefix}1 [a.cc:1]7 F:Task run failed, device_id=0, stream_id=45, task_id=0, sqe_type=1(aicpu), "
        "errType=0x1(task exception), sqSwStatus=0x2afa\n"
        f"{prefix}2 [a.cc:1]7 F:The error from device(chipId:0, dieId:0), serial number is 103, an exception occurred "
        "during AICPU execution, stream_id:45, task_id:0, errcode:11002, msg:open so failed.\n"
    )
    (fault,) = capture_of([str(tmp_path)]).faults
    assert fault.first("cqe").number("status") == fault.first("aicpu_exception").number("errcode") == 11002


def test_codes_of_logs():
    """Published pairs of device code and return code are those of the emulator."""
    assert [codes.acl_code(code) for code in (0x26, 0x31, 0x2A, 0x91)] == [507015, 507035, 507018, 507011]
