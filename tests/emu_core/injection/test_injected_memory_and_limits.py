"""Cells and buffers that change, chips with less of something, and things that happen at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import InputError, LimitError
from emu_core.injection import Injections, Outcome, shrunk
from emu_core.injection.plan import CorruptBuffer, CorruptCell, Entry, ShrinkLimit, Stall, plan_of
from emu_plugins.chips.ascend310p import ASCEND310P3


class TestCells:
    def test_a_key_that_no_row_has(self, injected):
        """The update finds no row for key 9."""
        _, found, verdict = injected(CorruptCell("op", "tiling_key", value=9)).run()
        assert (verdict.outcome, found.faults[0].id) == (Outcome.FAILED, "update.unknown-key")
        assert "changed the tiling key of op (0x0 -> 0x9)" in verdict.causes[0]

    def test_a_block_dim_that_is_possible_is_a_silent_corruption(self, injected):
        """2 blocks instead of 3 (bit 0): y differs, and nobody reports it."""
        _, found, verdict = injected(CorruptCell("op", "block_dim", bits=(0,))).run()
        assert found.outputs["y"].tolist() == [0.0] * 20 + [1.0] * 20
        assert verdict.outcome is Outcome.SILENT_CORRUPTION
        assert verdict.what.endswith("the device reported nothing")

    def test_before_another_entry_the_update_has_read_it(self, injected):
        """Changed before the kernel, the cell does not matter any more."""
        subject = injected(CorruptCell("op", "block_dim", value=1, entry=Entry(role="kernel")))
        assert subject.run()[2].outcome is Outcome.UNAFFECTED

    def test_without_sink_there_are_no_cells(self, injected):
        """Tiling on the host leaves nothing in device memory: the plan is refused."""
        with pytest.raises(InputError, match="no tiling key in device memory"):
            injected(CorruptCell("op", "tiling_key", value=9), sink="0")


class TestBuffers:
    def test_bytes_before_an_entry(self, injected):
        """The tiling reads n = 5 instead of 3, and the whole launch follows it."""
        found = injected(CorruptBuffer("n", bytes="05000000", entry=Entry(role="tiling")))
        _, result, verdict = found.run()
        assert result.outputs["y"].tolist() == [200.0 + i // 8 for i in range(40)]  # n = 5: key 2, 5 blocks of 8
        assert verdict.outcome is Outcome.SILENT_CORRUPTION
        assert "changed bytes 0 to 3 of tensor n (03000000 -> 05000000) before stream 1 task 0" in verdict.causes[0]

    def test_bytes_at_a_time_that_combine(self, injected):
        """At time 0 the inputs are written: 3 xor 1 is 2."""
        _, result, _ = injected(CorruptBuffer("tensor n", xor="01", at_ns=0)).run()
        assert set(result.outputs["y"].tolist()) == {100.0 * 2, 100.0 * 2 + 1}

    @pytest.mark.parametrize("word", [32, 36])
    def test_a_kernel_image_that_says_too_many_blocks_is_refused_by_the_engine(self, injected, word):
        """First block and blocks of all parts (words at 32 and 36) of 2^32 - 1 are a fault, not a loop of as many."""
        _, found, verdict = injected(
            CorruptBuffer("kernel TilingProbe", word, bytes="ffffffff", entry=Entry(role="kernel"))
        ).run()
        assert (verdict.outcome, found.faults[0].id) == (Outcome.FAILED, "kernel.bad-pc")

    @pytest.mark.parametrize(
        ("buffer", "offset", "error"),
        [("z", 0, "injection.target"), ("n", 3, "injection.buffer"), ("SQ 0 (main_0)", 0, "injection.buffer")],
    )
    def test_what_is_not_there_is_refused(self, injected, buffer, offset, error):
        """A buffer that does not exist, an offset past its end, and a ring are errors of the plan."""
        with pytest.raises(InputError) as refused:
            injected(CorruptBuffer(buffer, offset, bytes="0000", at_ns=0))
        assert (refused.value.id, refused.value.where) == (error, "injections[0]")
        assert refused.value.remedy


class TestMoments:
    def test_a_time_after_the_end_never_comes_and_lets_no_time_pass(self, injected):
        """The run ends when it always does, and the injection is named."""
        subject = injected(CorruptBuffer("y", bytes="ff", at_ns=10**12))
        plain, found, verdict = subject.run()
        assert (verdict.outcome, found.ended) == (Outcome.IDLE, plain.ended)
        (never,) = subject.at_work.never()
        assert never.startswith("injections[0] (corrupt-buffer) never happened: nothing ran any more at 1000000000000")

    def test_a_time_in_a_deadlock_never_comes(self, injected):
        """When everything waits, the deadlock is reported at its own time."""
        subject = injected(Stall(Entry(stream=0, task=2)), CorruptBuffer("y", bytes="ff", at_ns=50_000))
        assert subject.run()[1].deadlock.time == 18600
        assert len(subject.told) == 1

    def test_a_time_between_two_executions_comes_with_the_second(self, injected):
        """What was due when nothing ran happens as soon as something does."""
        subject = injected(CorruptBuffer("n", xor="01", at_ns=23_000))
        first = subject.run()
        assert first[1].ended < 23_000
        assert subject.run()[2].outcome is not Outcome.IDLE
        assert subject.at_work.fired[0].run == 2

    def test_lanes_see_it_at_the_same_time(self, injected):
        """Queues that run ahead and queues that do not give the same bytes, times and reports."""
        ends = []
        for on in (True, False):
            subject = injected(
                CorruptBuffer("n", xor="01", at_ns=500),
                CorruptBuffer("y", bytes="ff", at_ns=19_000),
                policies={"nop_count": "60"},
            )
            subject.model.device.scheduler.lanes.on = on
            _, found, _ = subject.run()
            ends.append((found.ended, found.outputs["y"].tobytes(), subject.told))
        assert ends[0] == ends[1]

    def test_tiling_on_the_host_has_times_too(self, injected):
        """The host lets the device run idle between launches; a later time still comes."""
        subject = injected(CorruptBuffer("y", bytes="ff", at_ns=31_000), sink="0")
        subject.run()
        assert len(subject.told) == 1


class TestLimits:
    def test_a_chip_with_fewer_streams(self):
        """The figure changes, and is told."""
        chip, told = shrunk(ASCEND310P3, plan_of(ShrinkLimit("streams", 2)))
        assert chip == replace(ASCEND310P3, max_streams=2)
        assert told == ("injected: ascend310p3 with fewer streams (max_streams 992 -> 2)",)

    def test_a_shorter_ring_has_fewer_usable_tasks(self):
        """One slot of a ring stays free."""
        chip, _ = shrunk(ASCEND310P3, plan_of(ShrinkLimit("ring", 16)))
        assert (chip.sq_depth, chip.usable_tasks) == (16, 15)

    @pytest.mark.parametrize(("limit", "to"), [("streams", 992), ("streams", 5000), ("streams", 0), ("cores", 0)])
    def test_what_is_no_smaller_chip_is_refused(self, limit, to):
        """As much as there is, more, or less than any chip has."""
        with pytest.raises(InputError) as refused:
            shrunk(ASCEND310P3, plan_of(ShrinkLimit(limit, to)))
        assert refused.value.id == "injection.limit"

    def test_a_program_that_does_not_fit_is_not_loaded(self, injected):
        """Three streams on a chip with two."""
        with pytest.raises(LimitError):
            injected(ShrinkLimit("streams", 2))

    def test_a_limit_that_does_not_matter_is_unaffected(self, injected):
        """A shrunk limit counts as something that happened."""
        verdict = injected(ShrinkLimit("events", 10)).run()[2]
        assert verdict.outcome is Outcome.UNAFFECTED
        assert verdict.causes[0].startswith("injected: ascend310p3 with fewer events")


class TestTargets:
    @pytest.mark.parametrize(
        ("entry", "remedy"),
        [
            (Entry(kind="npo"), "did you mean nop?"),
            (Entry(node="ops"), "did you mean op?"),
            (Entry(engine="gpu"), "there are ai_core"),
            (Entry(stream=9), "there are 0, 1, 2"),
            (Entry(stream=0, task=99), "0:7 kernel of op"),
        ],
    )
    def test_an_entry_that_is_not_there(self, injected, entry, remedy):
        """The error says what there is."""
        with pytest.raises(InputError) as refused:
            injected(Stall(entry))
        assert refused.value.id == "injection.target"
        assert remedy in refused.value.remedy

    def test_an_entry_of_the_caller_is_known_when_it_comes(self, injected):
        """The calling stream's wait has nothing to do with the model's ring, and can be stalled all the same."""
        subject = injected(Stall(Entry(stream=2, task=1), 100))
        plain, found, _ = subject.run()
        assert found.ended - plain.ended == 100


class TestOff:
    def test_nothing_is_left_after_close(self, injected):
        """A plan that is taken away leaves no watcher, and the program runs as ever."""
        subject = injected(Stall(Entry(kind="nop")), CorruptBuffer("y", bytes="ff", at_ns=0))
        subject.at_work.close()
        assert subject.model.device.scheduler._watchers == {}
        assert subject.run()[2].outcome is Outcome.IDLE

    def test_queues_run_ahead_but_for_the_kinds_of_the_plan(self, injected, monkeypatch):
        """The queue of 60 NOPs runs ahead as without a plan while only records are watched."""
        from emu_core.streams import Stream

        taken, lead = [], Stream.lead
        monkeypatch.setattr(Stream, "lead", lambda self, lane: (taken.append((self, self.id)), lead(self, lane)))
        subject = injected(Stall(Entry(kind="event_record"), 1), policies={"nop_count": "60"})
        subject.run()
        lanes = [
            [number for one, number in taken if one in (*m.streams, m.caller)] for m in (subject.plain, subject.model)
        ]
        assert lanes[0] == lanes[1] != []

    def test_two_plans_can_be_at_work(self, injected):
        """Each has its own effect: 10 ns and 5 ns on five NOPs."""
        subject = injected(Stall(Entry(kind="nop"), 10))
        Injections(subject.model, plan_of(Stall(Entry(kind="nop"), 5)))
        plain, found, _ = subject.run()
        assert found.ended - plain.ended == 75
