"""Entries that fail, stall, or execute with other bits."""

from __future__ import annotations

import pytest

from emu_core.errors import InputError
from emu_core.injection import Outcome
from emu_core.injection.plan import Entry, FailTask, FlipContext, FlipField, Stall

KERNEL = Entry(node="op", role="kernel")


class TestFailing:
    @pytest.mark.parametrize(("role", "task", "code"), [("tiling", "1 task 0", 0x2A), ("kernel", "0 task 7", 0x26)])
    def test_a_task_fails_with_the_code_of_the_plan(self, injected, role, task, code):
        """The first fault is the entry's, with the code, and the model ends because of it."""
        _, found, verdict = injected(FailTask(Entry(role=role), code)).run()
        first, last = found.faults
        assert (verdict.outcome, first.id, first.ts_code) == (Outcome.FAILED, "injection.failed-task", code)
        assert last.id == "model.failed"
        assert verdict.causes[0].startswith(f"injected: let stream {task} (")

    def test_a_code_that_ends_a_model_differently_does(self, injected):
        """0x95 of an AI CPU task is the end of sequence for who waits for the model."""
        _, found, _ = injected(FailTask(Entry(role="tiling"), 0x95)).run()
        assert [fault.ts_code for fault in found.faults] == [0x95, 0x95]


class TestStalling:
    def test_all_entries_of_a_kind_take_longer(self, injected):
        """Five NOPs of 10 ns more each make the run 50 ns longer, and are told one by one."""
        subject = injected(Stall(Entry(kind="nop"), 10))
        plain, found, verdict = subject.run()
        assert (found.ended - plain.ended, len(subject.told), verdict.good) == (50, 5, True)

    def test_the_nth_entry_of_an_engine_alone(self, injected):
        """The third NOP alone takes 10 ns longer; it starts when two have ended, at 18800."""
        subject = injected(Stall(Entry(engine="place_holder", nth=3), 10))
        plain, found, _ = subject.run()
        assert found.ended - plain.ended == 10
        assert subject.told == [
            "injected: stalled engine place_holder for 10 ns at stream 0 task 4 (nop of op) at 18800 ns"
        ]

    def test_an_entry_with_a_time_limit_stalls_until_it(self, injected):
        """A kernel that never ends is timed out at its time budget."""
        _, found, verdict = injected(Stall(KERNEL)).run()
        assert (verdict.outcome, found.faults[0].id) == (Outcome.FAILED, "task.timeout")

    def test_an_entry_without_one_stalls_for_ever(self, injected):
        """A NOP that never ends leaves a deadlock that names it."""
        _, found, verdict = injected(Stall(Entry(stream=0, task=2))).run()
        assert verdict.outcome is Outcome.DEADLOCK
        assert next(b.text().split(" since")[0] for b in found.deadlock.blocked) == (
            "stream 0 (main_0) task 2 (nop of op) waits for injected stall 0"
        )

    def test_the_time_limit_of_waits_holds_for_it(self, injected):
        """With a limit for waits, the stalled NOP ends with a timeout."""
        _, found, _ = injected(Stall(Entry(kind="nop")), policies={"event_wait_timeout_s": "1"}).run()
        assert found.faults[0].id == "wait.timeout"

    def test_many_times_are_told_a_few_times(self, injected):
        """Of 40 NOPs eight are told, the last with how many more there were."""
        subject = injected(Stall(Entry(kind="nop"), 1), policies={"nop_count": "40"})
        subject.run()
        assert len(subject.told) == 8
        assert subject.told[-1].endswith(", and 32 more times")


class TestFlipping:
    def test_the_bytes_that_execute_change_and_the_ring_does_not(self, injected):
        """3 blocks become 2: y has 2 slices of 20 instead of 3 of 14, and the second execution is right again."""
        subject = injected(FlipField(Entry(node="op", role="kernel", run=1), "block_dim", bits=(0,)))
        _, found, verdict = subject.run()
        assert found.outputs["y"].tolist() == [0.0] * 20 + [1.0] * 20
        assert verdict.outcome is Outcome.SILENT_CORRUPTION
        # Elements 14 to 19 are 0 instead of 1, 28 to 39 are 1 instead of 2.
        assert "output y differs in 18 of 40 elements, first in number 14" in verdict.what
        assert subject.model.executed()[0][64 * 7 + 2] == 2
        assert subject.model.rings()[0][64 * 7 + 2] == 3
        assert subject.run()[1].outputs["y"].tolist() == [0.0] * 14 + [1.0] * 14 + [2.0] * 12

    def test_a_field_gets_a_value(self, injected):
        """With value 1 the kernel runs with one block."""
        _, found, _ = injected(FlipField(KERNEL, "block_dim", value=1)).run()
        assert not found.outputs["y"].any()

    def test_another_type_goes_to_another_engine(self, injected):
        """A wait (5) that becomes a record (4) does not wait, and the kernel starts before its patch."""
        _, found, verdict = injected(FlipField(Entry(stream=0, task=0), "type", bits=(0,))).run()
        assert verdict.outcome is Outcome.FAILED
        assert found.faults[0].id == "kernel.placeholder-block-dim"

    def test_a_type_that_nobody_executes_is_the_entry_s_fault(self, injected):
        """Type 63 does not exist: an SQE error, told behind the injection."""
        _, found, _ = injected(FlipField(Entry(stream=0, task=2), "type", value=63)).run()
        assert found.faults[0].id == "sqe.unknown-type"

    def test_before_the_fetch_the_ring_changes(self, injected):
        """Slot 7 is fetched when slot 1 retires (depth 5), so it is changed when that starts, at 18500, patched."""
        subject = injected(FlipField(KERNEL, "block_dim", bits=(0,), when="fetch"))
        _, found, _ = subject.run()
        (told,) = subject.told
        assert told.startswith("injected: flipped bit 0 of block_dim (0x3 -> 0x2) of stream 0 task 7 (kernel of op)")
        assert told.endswith("in the ring at 18500 ns")
        assert found.outputs["y"].tolist() == [0.0] * 20 + [1.0] * 20
        assert subject.model.rings()[0][64 * 7 + 2] == 2

    def test_an_entry_that_is_fetched_at_the_start_changes_before_it(self, injected):
        """The wait in slot 0 is changed before its queue starts: it waits for an event that nobody sets."""
        subject = injected(FlipField(Entry(stream=0, task=0), "event_id", bits=(1,), when="fetch"))
        _, _, verdict = subject.run()
        assert verdict.outcome is Outcome.DEADLOCK
        assert subject.told[0].endswith("(event_wait of op) in the ring at 0 ns")

    def test_too_late_for_the_fetch_is_a_stale_entry(self, injected):
        """At 18650 slot 7 is fetched: the copy runs, the outputs are right, and the device reports the difference."""
        _, found, verdict = injected(FlipField(KERNEL, "block_dim", bits=(0,), at_ns=18650)).run()
        assert verdict.outcome is Outcome.UNAFFECTED
        assert [h.id for h in found.hazards] == ["hazard.stale-prefetch"]
        assert verdict.what.endswith("the device reported hazard.stale-prefetch")

    def test_what_is_patched_later_is_unaffected(self, injected):
        """At 100 ns the block dim is a placeholder, which the update overwrites."""
        subject = injected(FlipField(KERNEL, "block_dim", bits=(0,), at_ns=100))
        assert subject.run()[2].outcome is Outcome.UNAFFECTED
        assert "(0xffff -> 0xfffe)" in subject.told[0]


MIX = {"operator": "MixProbe", "chip": "ascend910b3"}


class TestContexts:
    def test_the_context_of_a_mix_kernel_changes_before_it_starts(self, injected):
        """A type of context that is no mix kernel's is refused by the engine, the injection first."""
        _, found, verdict = injected(FlipContext(KERNEL, "context_type", value=1), **MIX).run(n=0)
        assert verdict.outcome is Outcome.FAILED
        assert found.faults[0].id == "ffts.context"
        assert "set context_type (0x6 -> 0x1) of the context at" in verdict.causes[0]

    def test_at_a_time_it_is_overwritten_by_the_update(self, injected):
        """At 100 ns the context holds what the update writes later anyway."""
        subject = injected(FlipContext(KERNEL, "tail_block_dim", bits=(3,), at_ns=100), **MIX)
        assert subject.run()[2].outcome is Outcome.UNAFFECTED
        assert len(subject.told) == 1

    def test_a_plain_kernel_has_none(self, injected):
        """On a plain kernel the plan is refused."""
        with pytest.raises(InputError, match="points at no context") as refused:
            injected(FlipContext(KERNEL, "context_type", bits=(0,)))
        assert refused.value.id == "injection.target"
