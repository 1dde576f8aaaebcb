"""Scenarios S33 and S42, and facts of `device_semantics.md` 4 to 6 about a model between load and execution."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.api import compile_graph
from emu_core.errors import InputError, OptionError
from emu_core.streams import State
from formats.blob import TaskType

B3, DAVID = "ascend910b3", "ascend950pr_9599"


def _moved(task_type, position):
    """A blob whose only task of a type stands elsewhere in the list."""

    def edit(blob):
        (found,) = [task for task in blob.tasks if task.type == task_type]
        tasks = [task for task in blob.tasks if task is not found]
        tasks.insert(position, found)
        return replace(blob, tasks=tuple(tasks))

    return edit


@pytest.mark.parametrize(
    ("edit", "id_", "asks"),
    [
        (_moved(TaskType.UPDATE, 1), "blob.update-order", "has the target task been launched?"),
        (_moved(TaskType.ALL_KERNEL, 0), "blob.args-format", "has the tiling task been launched?"),
    ],
    ids=["update before its kernel", "kernel before its tiling"],
)
def test_s33_an_update_without_what_it_needs_is_not_distributed(lab, edit, id_, asks):
    """S33: without the record of the launched kernel, or the context of the tiling, loading ends and asks for it."""
    with pytest.raises(InputError) as caught:
        lab(B3, edit=edit)
    assert caught.value.id == id_
    assert asks in caught.value.text()


def test_s42_an_invalid_tiling_schedule_option_ends_the_initialisation(host, probe_graph):
    """S42: the option is "0" or "1"; the text "invalid" is E10001 before anything is compiled."""
    with pytest.raises(OptionError) as caught:
        compile_graph(probe_graph(), B3, {"ge.tiling_schedule_optimize": "invalid"}, host)
    assert caught.value.id == "E10001"


@pytest.mark.parametrize("chip", [B3, DAVID])
def test_loading_writes_rings_and_runs_nothing(lab, chip):
    """After a load the clock stands at 0, and every stream of the model is idle at entry 0 with entries to run."""
    bench = lab(chip)
    assert bench.device.clock.now == 0
    for stream in bench.model.streams:
        assert (stream.queue.head, stream.state) == (0, State.IDLE)
        assert stream.queue.tail > 0


@pytest.mark.parametrize("chip", [B3, DAVID])
def test_the_cells_of_an_update_are_0_before_the_first_execution_and_keep_the_last_values(lab, chip):
    """Key and block dim: 0 and 0, then what n = 5 (key 2) and n = 4 (key 1) left there."""
    bench = lab(chip)
    at, memory = bench.model.details["op0"]["_tiling_context_addr"], bench.device.memory
    found = []
    for n in (None, 5, 4):
        if n is not None:
            assert bench.run(n).ok
        cells = memory.read(at.tiling_key, 8), memory.read(at.block_dim, 4)
        found.append(tuple(int.from_bytes(cell, "little") for cell in cells))
    assert found == [(0, 0), (2, 5), (1, 4)]
    assert at.block_dim - at.tiling_key == 128
    assert (at.tiling_key % 128, at.block_dim % 128) == (0, 0)


def test_a_tiling_task_has_one_block_whatever_its_operator_has(lab):
    """Block dim 1 in the AI CPU entry, also when the operator's kernel runs on twenty blocks."""
    bench = lab(B3)
    assert bench.run(20).ok
    entry = bench.device.layout("AicpuKernelSqe").parse(bench.model.rings()[1][:64])
    assert (entry["type"], entry["block_dim"]) == (1, 1)


def test_an_execution_is_a_condition_and_a_wait_on_the_calling_stream(lab):
    """Type 20 of sub type 1 with post-P, then a notify wait that never runs out of credit, on a stream of no model."""
    bench = lab(B3)
    assert bench.run(5).ok
    caller = bench.model.caller
    execute = bench.device.layout("FunctionCallSqe").parse(caller.queue.entry(0))
    wait = bench.device.layout("NotifyWaitSqe").parse(caller.queue.entry(1))
    assert (execute["type"], execute["conds_sub_type"], execute["post_p"]) == (20, 1, 1)
    assert (wait["type"], wait["kernel_credit"]) == (7, 255)
    assert not caller.queue.bound
    end = bench.device.layout("NotifyRecordSqe").parse(bench.model.rings()[0][-64:])
    assert (end["type"], end["notify_id"]) == (6, wait["notify_id"])


def test_a_wait_of_a_model_never_runs_out_of_credit_and_its_event_is_reset_behind_it(lab):
    """Entry 0 waits with credit 255; entry 1 stores into the same event's entry with sub type 1."""
    bench = lab(B3)
    ring = bench.model.rings()[0]
    wait = bench.device.layout("EventWaitSqe").parse(ring[:64])
    reset = bench.device.layout("WriteValueSqe").parse(ring[64:128])
    record = bench.device.layout("EventRecordSqe").parse(bench.model.rings()[1][-64:])
    assert (wait["type"], wait["kernel_credit"]) == (5, 255)
    assert (reset["type"], reset["sub_type"]) == (8, 1)
    assert record["event_id"] == wait["event_id"]


def test_a_nop_asks_for_nothing(lab):
    """Type 3, task type 103; neither pre-P (bits 10, 11), post-P (12, 13) nor a completion entry (14)."""
    ring = lab(B3).model.rings()[0]
    for at in range(2 * 64, 10 * 64, 64):
        first, task_type = (int.from_bytes(ring[at + half : at + half + 2], "little") for half in (0, 2))
        assert (first & 0x3F, first >> 10 & 0x1F, task_type) == (3, 0, 103)


@pytest.mark.parametrize("word", [0, 1], ids=["no context", "no operator type"])
def test_s36_a_tiling_task_with_a_null_argument_ends_the_model(lab, ids, word):
    """S36: word 0 (context) or 1 (type) is 0: AI CPU exception 0x2A (507018), no patch, the model ends with 507011."""
    bench = lab(B3)
    entry = bench.device.layout("AicpuKernelSqe").parse(bench.model.rings()[1][:64])
    arguments = entry["param_addr_low"] | entry["param_addr_high"] << 32
    bench.device.memory.poke(arguments + 8 * word, bytes(8))
    result = bench.run(5)
    assert ids(result.faults) == ["tiling.parameter-invalid", "model.failed"]
    first, model = result.faults
    assert (first.ts_code, first.acl_code, first.error_type) == (0x2A, 507018, 1)
    assert model.acl_code == 507011
    assert result.patches == ()
