"""Scenarios of the reference (`device_semantics.md` 10) that need a ring and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import LimitError
from emu_plugins.chips.ascend910b import ASCEND910B3
from emu_plugins.runtime.sqes import Place

ALL_ONES = (1 << 64) - 1


def _with_target(bench, rows=1):
    sqe = bench.build.update(
        Place(3, 9), key_offset=0x1000, block_dim_offset=0x1080, table_offset=0x2000, rows=rows, target=Place(2, 7)
    )
    return bench.device.layout("PhModelTaskUpdateSqe").parse(sqe)


def test_s18_the_update_entry_is_a_place_holder_the_firmware_stops_at(queues):
    """Type 3, task type 101, pre-P 1, a completion entry, credit 254, and where to look."""
    found = _with_target(queues())
    expected = {
        "type": 3, "task_type": 101, "pre_p": 1, "post_p": 0, "wr_cqe": 1, "kernel_credit": 254, "tiling_tab_len": 1,
        "des_stream_id": 2, "des_task_id": 7, "exe_stream_id": 3, "tiling_key_offset": 0x1000,
        "block_dim_offset": 0x1080,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected


def test_s20_an_update_of_a_plain_kernel_names_no_context(queues):
    """The descriptor offset is 2^64 - 1."""
    assert _with_target(queues())["desc_buf_offset"] == ALL_ONES


def test_s21_a_table_of_70000_rows_is_cut_to_16_bits(queues):
    """70000 mod 65536 is 4464."""
    assert _with_target(queues(), 70000)["tiling_tab_len"] == 4464


def test_s50_a_model_execute_over_its_time_is_a_task_timeout(queues):
    """Error type 0x4 becomes TS 0x105; one credit of one microsecond is all it has, and it needs as much."""
    bench = queues(kernel_credit_us="1")
    stream = bench.stream()
    bench.raw(stream, "FunctionCallSqe", type=20, conds_sub_type=1, model_id=3, kernel_credit=1)
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, fault.error_type, fault.ts_code, fault.acl_code) == ("task.timeout", 4, 0x105, 107020)
    (entry,) = [bench.device.layout("CqeError").parse(raw) for raw in bench.device.cq.drain()]
    assert (entry["error_bit"], entry["error_type"], entry["sq_sw_status"]) == (1, 4, 0x105)


def test_s59_notify_ids_run_out_and_an_entry_of_type_63_is_an_sqe_error(queues):
    """The third of two ids is refused with 207009; what the driver then sends is completed with bit 3."""
    bench = queues(chip=replace(ASCEND910B3, max_notifies=2))
    assert [bench.device.create_notify() for _ in range(2)] == [0, 1]
    with pytest.raises(LimitError) as caught:
        bench.device.create_notify()
    assert caught.value.id == "207009"
    stream = bench.stream()
    bench.raw(stream, "CommonSqe", type=63)
    bench.run(stream)
    assert [(f.error_type, f.ts_code) for f in bench.faults] == [(8, 0x106)]
