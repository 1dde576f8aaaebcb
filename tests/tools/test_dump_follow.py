"""What stands behind entries: tiling tables, FFTS+ contexts and programs in device memory."""

from __future__ import annotations

import json

import pytest

from emu_core.device import Device
from emu_core.plugins import PluginHost
from formats import BUILTIN
from formats.cond_isa import assemble
from tools.dump import follow
from tools.dump.items import entries
from tools.dump.sqes import Names, as_text

CONTEXT = BUILTIN.get("v100", "FftsPlusAicAivCtx")


@pytest.fixture(scope="module")
def device():
    """An empty device."""
    return Device("ascend310p3", {}, PluginHost())


def placed(device, data):
    """The address of `data`, written to device memory."""
    found = device.memory.allocate(len(data), label="test")
    device.memory.write(found.address, data)
    return found.address


def only(raw):
    """The one entry of these bytes."""
    return next(entries(BUILTIN, "v100", raw))


def text(device, entry):
    """All lines behind an entry."""
    return [line for found in follow.follow(device, entry) for line in follow.lines(found, "v100")]


def ffts_plus(address, count):
    """An FFTS+ entry with `count` contexts at `address`."""
    return BUILTIN.get("v100", "FftsPlusSqe").build(
        {"type": 0, "ffts_type": 4, "total_context_num": count, "ready_context_num": 1, "context_address_base": address}
    )


class TestContexts:
    def test_contexts(self, device):
        """Each context has a line with its values; its successors are listed as far as they count."""
        first = CONTEXT.build({"successor_num": 2, "successor_list": [1, 3, 9] + [0] * 23, "non_tail_block_dim": 24})
        address = placed(device, first + bytes(128))
        lines = text(device, only(ffts_plus(address, 2)))
        assert lines[0].startswith(f"context 0 at {address:#x}: ")
        assert "successor_list=[1, 3]" in lines[0]
        assert "non_tail_block_dim=24" in lines[0]
        assert lines[1].startswith(f"context 1 at {address + 128:#x}: ")

    def test_memory_that_is_not_there(self, device):
        """A context outside of memory is said so, and further ones than are shown are counted."""
        address = placed(device, bytes(128 * follow.MOST))
        lines = text(device, only(ffts_plus(address, follow.MOST + 5)))
        assert "5 more are not shown" in lines[-1]
        assert "can be read there" in text(device, only(ffts_plus(0x10, 1)))[0]

    def test_json(self, device):
        """The same as objects beside the entry."""
        entry = only(ffts_plus(placed(device, CONTEXT.build({"thread_dim": 3})), 1))
        found = [follow.record(each, entry) for each in follow.follow(device, entry)]
        assert (found[0]["role"], found[0]["fields"]["thread_dim"]) == ("context 0", 3)
        lost = follow.record(follow.follow(device, only(ffts_plus(0x10, 1)))[0], entry)
        assert (lost["struct"], lost["fields"]) == (None, None)
        json.dumps([*found, lost])


class TestPrograms:
    def test_called_program(self, device):
        """A function call leads to its program, instruction by instruction."""
        address = placed(device, assemble(".word 0x0", "v100") * 2)
        call = BUILTIN.get("v100", "FunctionCallSqe").build(
            {
                "type": 20, "conds_sub_type": 1, "csc": 1,
                "llwi1_immd_low": address & 0xFFFFFFFF, "llwi1_immd_high": address >> 32 & 0x1FFFF,
                "lhwi1_immd": address >> 49, "llwi2_immd_low": 2,
            }
        )  # fmt: skip
        lines = text(device, only(call))
        assert lines[0] == f"program at {address:#x}"
        assert len(lines) == 3

    def test_all_zero_record(self, device):
        """A record of zeros is said to be all 0."""
        table = placed(device, bytes(64))
        update = BUILTIN.get("v100", "PhModelTaskUpdateSqe").build(
            {
                "type": 3, "task_type": 101, "desc_buf_offset": (1 << 64) - 1, "tiling_tab_len": 1,
                "tiling_tab_offset": (device.memory.offset_of(table)) % (1 << 64),
                "tiling_key_offset": 0, "block_dim_offset": 0,
            }
        )  # fmt: skip
        lines = text(device, only(update))
        assert lines[-1] == f"tiling table row 0 at {device.memory.offset_of(table):#x}: all 0"

    def test_further_units_lead_nowhere(self, device):
        """Only the first entry of a task is followed."""
        first = BUILTIN.get("v200", "CcuSqe").build({"type": 16, "sqe_length": 1})
        unit = list(entries(BUILTIN, "v200", first + bytes(64)))[1]
        assert follow.follow(device, unit) == ()


def test_lines_in_the_views(device):
    """Lines behind an entry begin with an arrow."""
    names = Names(follow=lambda entry: follow.follow(device, entry))
    lines = list(as_text([only(ffts_plus(placed(device, bytes(128)), 1))], 100, names))
    assert lines[-1].startswith("  > context 0 at ")
