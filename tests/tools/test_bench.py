"""`sqemu bench`: how pairs are measured and judged, and that both sides of each figure do the same work."""

from __future__ import annotations

import pytest

from emu_core.errors import InputError
from tools.bench import commands_group, core_group, formats_group, memory_run, mockgpu, pairs
from tools.bench.catalog import GROUPS, pairs_of
from tools.bench.load import Mark
from tools.bench.pairs import Figure, Pair, PeerMissingError, Side, UnequalError, measure


def pair(peer_s=3.0, product_s=1.0, target=2.0, **more):
    """A pair whose sides take made-up seconds per item."""
    sides = (Side(lambda: peer_s, 1), Side(lambda: product_s, 1))
    return Pair("T1", "made up", "peer", target, 10.0, lambda: sides, rounds=3, **more)


@pytest.fixture
def made_up(monkeypatch):
    """Turns take what the side's call says; `foreign` sets the load of others."""
    foreign = [0.0]
    monkeypatch.setattr(pairs, "_turn", lambda side: side.call() / side.items)
    monkeypatch.setattr(Mark, "foreign_since", lambda _: foreign[0])
    return foreign


class TestMeasure:
    def test_ratio_is_peer_over_product(self, made_up):
        """A peer of 3 s and a product of 1 s per item are 3x."""
        found = measure(pair())
        assert (found.ratio, found.low, found.high, found.status) == (3.0, 3.0, 3.0, "ok")

    def test_short(self, made_up):
        """A ratio below the target is short."""
        assert measure(pair(target=4.0)).status == "short"

    def test_noisy(self, made_up):
        """A shortfall while others use more than a quarter of a core, twice, is noisy; a good figure is still ok."""
        made_up[0] = 0.3
        assert measure(pair(target=4.0)).status == "noisy"
        assert measure(pair()).status == "ok"

    def test_costs_must_not_exceed(self, made_up):
        """For a cost the ratio is product over peer and must stay below the target."""
        assert measure(pair(1.0, 3.0, target=5.0, largest=True)).ratio == 3.0
        assert measure(pair(1.0, 3.0, target=5.0, largest=True)).status == "ok"
        assert measure(pair(1.0, 6.0, target=5.0, largest=True)).status == "short"

    @pytest.mark.parametrize(("value", "status"), [(3.0, "ok"), (5.0, "short")])
    def test_quotients_are_judged_like_ratios(self, value, status):
        """A figure that gives its own ratio is measured once, and a cost must not exceed its target."""
        found = measure(Pair("T", "x", "y", 4, 2, quotient=lambda: value, largest=True))
        assert (found.ratio, found.status) == (value, status)

    def test_missing_peer_is_skipped(self):
        """A peer that is not installed is named, and nothing is measured."""

        def prepare():
            raise PeerMissingError("peer is not installed")

        found = measure(Pair("T", "x", "peer", 1, 1, prepare))
        assert (found.status, found.reason, found.ratio) == ("skipped", "peer is not installed", None)

    def test_real_turns(self):
        """A turn repeats the call for at least 30 ms and gives seconds per item."""
        calls = []
        found = pairs._turn(Side(lambda: calls.append(1), 10))
        assert 0 < found * 10 * len(calls) < 1
        assert len(calls) > 1

    def test_foreign_load_is_not_negative(self):
        """Load of others is at least 0, whatever the clocks say."""
        assert Mark.now().foreign_since() >= 0


class TestCatalog:
    def test_groups_and_figures(self):
        """Groups and single figures select pairs; nothing selects all."""
        assert {p.id for p in pairs_of(["formats"])} == {p.id for p in formats_group.PAIRS}
        assert [p.id for p in pairs_of(["R3"])] == ["R3"]
        everything = {p.id for p in pairs_of([])}
        assert {"R1", "R2", "R3", "R4", "R5", "R15", "R16", "R18"} <= everything
        assert {"R6", "R7", "R8", "R9", "R10", "R11", "R13", "R21"} <= everything
        assert len(GROUPS) >= 2

    def test_unknown(self):
        """A group that does not exist is refused with the known ones."""
        with pytest.raises(InputError, match="no group or figure 'R99'"):
            pairs_of(["R99"])


class TestSidesAgree:
    @pytest.mark.parametrize("each", [p for p in formats_group.PAIRS if p.id != "R2"], ids=lambda p: p.id)
    def test_formats(self, monkeypatch, each):
        """Preparing a figure checks that peer and product give the same result; both sides can be called."""
        monkeypatch.setattr(formats_group, "BULK", 2_000)
        monkeypatch.setattr(formats_group, "PEER_BULK", 50)
        for side in each.prepare():
            side.call()
            assert side.items > 0

    @pytest.mark.parametrize("each", [p for p in core_group.PAIRS if p.prepare and p.id != "R11"], ids=lambda p: p.id)
    def test_core(self, monkeypatch, each):
        """End times, rings, log and trace of the real device and of the peer are compared; both sides can be called."""
        pytest.importorskip("simpy", reason="the peer is not installed")
        for name, value in {
            "STREAMS": 3, "TASKS": 400, "PEER_TASKS": 120, "NAIVE_TASKS": 60, "POOL_TASKS": 20, "CORES": 2
        }.items():  # fmt: skip
            monkeypatch.setattr(core_group, name, value)
        monkeypatch.setattr(core_group, "PRODUCT_TASKS", 300)
        for side in each.prepare():
            side.call()
            assert side.items > 0

    def test_memory_of_entries(self):
        """The child process runs all entries it is told to; a small number of them is dwarfed by the interpreter."""
        assert memory_run.main(20_000) > 1

    def test_signal_writes(self, monkeypatch):
        """Without a checkout of the peer the figure is skipped; our side sets every event."""
        monkeypatch.setattr(mockgpu, "ENTRIES", 300)
        with pytest.raises(PeerMissingError, match="no checkout of tinygrad"):
            mockgpu.signal_writes()
        assert len(mockgpu._records().run().signals.values) == 300

    def test_disagreement_is_an_error(self):
        """Sides that give different results are never timed."""
        with pytest.raises(UnequalError):
            formats_group._same("x", 1, 2)

    def test_commands(self, monkeypatch, tmp_path):
        """The help figure runs both commands; a peer that is not installed is missing, a command that fails is told."""
        for side in commands_group.help_text():
            assert side.call() == 0
        with pytest.raises(PeerMissingError):
            commands_group.annotated_dump("no-such-dumper")
        with pytest.raises(UnequalError):
            commands_group._quiet(["false"])


class TestCommand:
    def test_json_and_exit_code(self, sqemu, monkeypatch):
        """One object per figure with the agreed keys; a figure that falls short makes exit 1."""
        figures = iter([
            Figure("R1", "a", "p", 10, 20, "ok", 12.0, 11.0, 13.0),
            Figure("R2", "b", "p", 10, 20, "short", 9.0, 8.0, 9.5),
        ])  # fmt: skip
        monkeypatch.setattr("tools.cmd_bench.pairs_of", lambda _: [1, 2])
        monkeypatch.setattr("tools.cmd_bench.measure", lambda _: next(figures))
        found = sqemu("bench", "formats", "--json")
        assert found.code == 1
        assert {"id", "name", "ratio", "target", "stretch", "low", "high", "peer", "status"} <= set(found.objects[0])
        assert [o["status"] for o in found.objects] == ["ok", "short"]

    def test_table(self, sqemu, monkeypatch):
        """The table shows ratio, range, target and status; what was skipped says why."""
        skipped = Figure("R2", "b", "dissect", 10, 20, "skipped", reason="dissect is not installed")
        figures = iter([Figure("R1", "a", "construct", 10, 20, "ok", 1234.5, 11.0, 13.0), skipped])
        monkeypatch.setattr("tools.cmd_bench.pairs_of", lambda _: [1, 2])
        monkeypatch.setattr("tools.cmd_bench.measure", lambda _: next(figures))
        found = sqemu("bench")
        assert found.code == 0
        assert "1234x" in found.out
        assert "dissect is not installed" in found.out
