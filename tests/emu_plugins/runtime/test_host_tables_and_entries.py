"""Tiling tables and update entries that the host API writes (S15 to S21)."""

from __future__ import annotations

import struct

import pytest

from emu_core.errors import InputError
from emu_plugins.runtime import NOT_MIX, RuntimeApiError
from emu_plugins.runtime.host.c_api import rt_model_task_update
from emu_plugins.runtime.sqes import narrow_block_dim

B3, P3, DAVID = "ascend910b3", "ascend310p3", "ascend950pr_9599"
MANY = 70_000


def table_of(bench, slot=0):
    """Bytes of the tiling table that an update entry names, and its row count."""
    entry = bench.update_entry(slot)
    memory, at = bench.device.memory, entry["tiling_tab_offset"]
    address = memory.address_of_offset(at) if bench.device.chip.family == "v100" else at
    found = memory.find(address)
    return memory.read(address, found.size), entry["tiling_tab_len"]


def test_s15_a_program_without_kernels(bound):
    """No kernel, no table: 507000, and nothing is queued."""
    bench = bound(B3)
    empty = bench.runtime.register_program("Shows", ())
    assert empty.tiling_keys == ()
    status = rt_model_task_update(bench.work, 0, bench.side, {**bench.para, "hdl": empty})
    assert (status, bench.side.core.queue.tail) == (507000, 0)
    assert "has no kernels" in status.error.what


@pytest.mark.parametrize(("chip", "row_bytes"), [(B3, 32), (P3, 32), (DAVID, 40)])
def test_s16_one_kernel_is_one_row(bound, chip, row_bytes):
    """One registered kernel gives one row of 32 bytes on v1 and 40 on a 950, with its key and address."""
    bench = bound(chip, keys=[3])
    assert rt_model_task_update(bench.work, 0, bench.side, bench.para) == 0
    raw, rows = table_of(bench)
    assert (rows, len(raw)) == (1, row_bytes)
    assert struct.unpack_from("<QQ", raw) == (3, bench.runtime.get_function(bench.program, 3).pc)


def test_s17_rows_are_ascending_and_unique(bound):
    """Keys 30, 10, 20, 10 give the rows 10, 20, 30; the repeated one is only warned about."""
    bench = bound(B3, keys=[30, 10, 20, 10])
    assert bench.program.repeated == (10,)
    assert [w for w in bench.runtime.warnings if "[10] more than once" in w]
    assert rt_model_task_update(bench.work, 0, bench.side, bench.para) == 0
    raw, rows = table_of(bench)
    assert rows == 3
    assert [struct.unpack_from("<Q", raw, 32 * i)[0] for i in range(3)] == [10, 20, 30]


@pytest.mark.parametrize(("chip", "credit", "wr_cqe"), [(B3, 254, 1), (DAVID, 253, 0)])
def test_s18_the_update_entry(bound, chip, credit, wr_cqe):
    """Type 3, task type 101, pre-P 1, post-P 0; v1 writes a completion entry and has credit 254."""
    bench = bound(chip, keys=[3])
    task = bench.launch(key=3)
    rt_model_task_update(bench.work, task, bench.side, bench.para)
    entry = bench.update_entry()
    expected = {
        "type": 3, "task_type": 101, "pre_p": 1, "post_p": 0, "kernel_credit": credit, "wr_cqe": wr_cqe,
        "tiling_tab_len": 1, "des_stream_id": bench.work.id, "des_task_id": task, "exe_stream_id": bench.side.id,
    }  # fmt: skip
    assert {name: entry[name] for name in expected} == expected


def test_s19_a_mix_destination_has_a_descriptor(bound):
    """Without an explicit buffer the descriptor is the offset of the context the destination was launched with."""
    bench = bound(B3, kernel="Mixed")
    task = bench.launch()
    launched = bench.work.launched[task]
    assert launched.context is not None
    assert launched.context % 128 == 0
    assert bench.runtime.descriptor_of(bench.work, task) == launched.context - 0x1240_0000_0000
    rt_model_task_update(bench.work, task, bench.side, bench.para)
    assert bench.update_entry()["desc_buf_offset"] == launched.context - 0x1240_0000_0000


@pytest.mark.parametrize("kernel", ["Shows", "Refuses"])
def test_s20_plain_destinations_have_none(bound, kernel):
    """Vector and cube kernels give all ones, as does any task that is no kernel."""
    bench = bound(B3, kernel=kernel)
    task, nop = bench.launch(), bench.runtime.launch_nop(bench.work)
    for slot, target in enumerate((task, nop, 999)):
        rt_model_task_update(bench.work, target, bench.side, bench.para)
        assert bench.update_entry(slot)["desc_buf_offset"] == NOT_MIX == 2**64 - 1
    assert bench.runtime.program_of(bench.work, task) is bench.program
    assert bench.runtime.program_of(bench.work, nop) is None


def test_s21_more_kernels_than_16_bits(bound, monkeypatch):
    """70000 rows are 4464 in the entry of a v1 chip; the table itself has them all."""
    written = []

    def many(device, image, op):
        del image
        found = device.memory.allocate(32 * MANY, label=op)
        written.append(found)
        return found.address, MANY

    bench = bound(B3)
    monkeypatch.setattr("emu_plugins.runtime.host.task_update.write_tiling_table", many)
    assert rt_model_task_update(bench.work, 0, bench.side, bench.para) == 0
    assert bench.update_entry()["tiling_tab_len"] == 4464
    assert written[0].size == 2_240_000


def test_each_update_has_a_table_of_its_own(bound):
    """Tables belong to the executing stream: freed with it, not with the destination's."""
    bench = bound(B3)
    for _ in range(2):
        rt_model_task_update(bench.work, 0, bench.side, bench.para)
    tables = list(bench.side.owned)
    assert len(set(tables)) == 2
    assert bench.work.owned == []
    bench.runtime.unbind_stream(bench.model, bench.side)
    bench.runtime.destroy_stream(bench.side)
    assert [bench.device.memory.find(address) for address in tables] == [None, None]


def test_task_ids_are_cut_to_16_bits_on_v1(bound):
    """A destination task id of more bits loses the upper ones on v1, not on a 950."""
    for chip, expected in ((B3, 5), (DAVID, 0x10005)):
        bench = bound(chip)
        rt_model_task_update(bench.work, 0x10005, bench.side, bench.para)
        assert bench.update_entry()["des_task_id"] == expected


def test_programs_that_cannot_be_registered(bound):
    """A name that no plugin has is 507027, null is 107000; a key that is not there is refused by name."""
    bench = bound(B3)
    for name, code in (("Nobody", 507027), (None, 107000)):
        with pytest.raises(RuntimeApiError) as caught:
            bench.runtime.register_program(name)
        assert caught.value.code == code
    with pytest.raises(InputError, match=r"get_function: kernel Shows has no entry for the tiling key 9") as caught:
        bench.runtime.get_function(bench.program, 9)
    assert (caught.value.code, caught.value.id) == (507027, "kernel.no-entry")


def test_an_unregistered_program_is_freed(bound):
    """Its image goes, a second time is refused, and its kernels can no longer be launched."""
    bench = bound(B3)
    function = bench.runtime.get_function(bench.program, 1)
    bench.runtime.unregister_program(bench.program)
    assert bench.device.memory.find(function.pc) is None
    with pytest.raises(RuntimeApiError) as caught:
        bench.runtime.unregister_program(bench.program)
    assert caught.value.code == 107017
    with pytest.raises(RuntimeApiError) as caught:
        bench.runtime.launch_kernel(function, 1, bench.work, bench.args)
    assert caught.value.code == 107017


@pytest.mark.parametrize(("given", "held"), [(0, 1), (1, 1), (0xFFFF, 0xFFFF), (0xFFFFFFFF, 0xFFFF), (0x10002, 2)])
def test_block_dims_of_launches(bound, given, held):
    """The entry holds the low 16 bits, 0 becomes 1."""
    bench = bound(B3)
    bench.launch(block_dim=given)
    entry = bench.device.layout("AicoreKernelSqe").parse(bench.work.core.queue.entry(0))
    assert entry["block_dim"] == held == narrow_block_dim(given)
