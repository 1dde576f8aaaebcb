"""The budget on paper, the places of buffers, and the reasons: what is told about a tiling beside its numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from emu_plugins.cgdr.tiling import ShapeDims, plan_of
from emu_plugins.cgdr.tiling_layout import slot_bytes_used, slots_used, ub_order_known, ub_regions, workspace_regions
from emu_plugins.cgdr.tiling_paper import paper_lines
from emu_plugins.cgdr.tiling_variants import VARIANTS, TilingRequest
from emu_plugins.cgdr.tiling_why import percent_more, why

# Byte offsets inside the big buffer for the four buckets (reference/cgdr.md 7), in its order.
VIEWS = (
    ("chunkK", 0, 0, 0, 0), ("kCumdecay", 16384, 20480, 24576, 32768), ("decayMask", 32768, 40960, 49152, 65536),
    ("chunkV", 49152, 57344, 65536, 81920), ("scores/state", 65536, 77824, 90112, 114688),
    ("attnOut", 81920, 103424, 126976, 180224), ("gCumsum", 98304, 123904, 151552, 212992),
    ("delta", 98560, 124160, 151808, 213248), ("dotProduct", 98816, 124480, 152192, 213760),
    ("expG", 99072, 124800, 152576, 214272), ("beta", 99328, 125056, 152832, 214528),
    ("free", 99584, 125312, 153088, 214784),
)  # fmt: skip


def _request(dk=80, dv=80, *, hv=8, batch=1, ub=262144, cores=8):
    return TilingRequest(ShapeDims(192, hv, dk, hv, dv, batch), True, 1.0, cores, ub)


def _tiled(*args, variant="final", **changes):
    return VARIANTS[variant].run(_request(*args, **changes))


def _reasons(*args, variant="final", **changes):
    request = _request(*args, **changes)
    found = why(VARIANTS[variant], request, VARIANTS[variant].run(request))
    return {reason.title: reason.text for reason in found}


class TestPaper:
    def test_dk_80_line_by_line(self):
        """The sum for Dk = Dv = 80 has the lines of the public hand calculation, up to 125312."""
        assert list(paper_lines(_tiled()))[:13] == [
            "avStepAligned = CeilAlign(80, 8) = 80",
            "kTileBytes = 64×80×4 = 20480 → ×2 = 40960",
            "vTileBytes = 64×80×4 = 20480 → ×2 = 40960",
            "tDecay = 64×64×4 = 16384",
            "tGcum = 64×4 = 256",
            "stateStrideK = 80",
            "dotProductElem = max(80, 64) = 80 → tDotProduct = 320",
            "deltaElem = max(80, 80) = 80 → tDelta = 320",
            "tExpGcum = 64×4 = 256",
            "tBeta = tExpGcum = 256",
            "tScores = 64×64×4 = 16384",
            "tState = 80×80×4 = 25600 → overlap (vStep ≥ dv) → tScoresState = max(16384, 25600) = 25600",
            "tbuf = 40960 + 16384 + 40960 + 256 + 320 + 320 + 256 + 256 + 25600 = 125312",
        ]

    def test_end_of_the_sum(self):
        """Out queue, comparison with UB, and the rest close it."""
        assert list(paper_lines(_tiled()))[13:] == [
            "outQueue = max(80×80×2, 64×80×2) = 12800",
            "tbuf + outQueue = 138112 ≤ 262144 of UB",
            "restBytes = 262144 − 12800 = 249344",
        ]

    @pytest.mark.parametrize(
        ("variant", "dk", "dv", "said"),
        [
            ("final", 80, 200, "overlap (a work item has one V tile)"),
            (
                "1108",
                144,
                128,
                "no overlap (dv is cut and the heads fill the cores) → tScoresState = 16384 + 55296",
            ),
            ("first", 128, 300, "overlap (always)"),
        ],
    )
    def test_why_scores_and_state_share_or_not(self, variant, dk, dv, said):
        """The line of the state says by which rule it shares memory with the scores."""
        assert any(said in line for line in paper_lines(_tiled(dk, dv, variant=variant)))

    def test_fewer_heads_than_cores(self):
        """`!1108` overlaps with V cut when there are fewer heads than cores."""
        lines = paper_lines(_tiled(128, 256, hv=4, variant="1108"))
        assert any("overlap (fewer heads than cores)" in line for line in lines)

    def test_first_version_has_its_own_lines(self):
        """The first version shows the full width of V, and has no rows for dot products and beta."""
        text = "\n".join(paper_lines(_tiled(70, 200, variant="first")))
        assert "avFp32 = CeilAlign(200, 8) = 200" in text
        assert "tDotProduct" not in text
        assert "tBeta" not in text

    def test_sums_that_wrap_say_so(self):
        """A product beyond 32 bits is marked."""
        lines = paper_lines(_tiled(1 << 26, 16, variant="first"))
        assert any("(mod 2^32)" in line for line in lines)

    @pytest.mark.parametrize(("dk", "wraps"), [(4096, False), (1 << 25, True), (1 << 30, True)])
    def test_plans_know_that_they_wrap(self, dk, wraps):
        """A plan says whether a buffer has more bytes than 32 bits hold; Dk 2**30 seems to fit for that reason."""
        assert plan_of(16, dk).wraps is wraps
        assert (plan_of(16, 1 << 30).needed < 262144) is True


class TestPlaces:
    @pytest.mark.parametrize(("column", "bucket"), list(enumerate((64, 80, 96, 128))))
    def test_offsets_of_the_device(self, column, bucket):
        """Behind the out queue each buffer lies at the offset the device gives it."""
        tiling = _tiled(bucket, bucket)
        queue, *views = ub_regions(tiling)
        assert (queue.name, queue.offset, queue.size) == ("outQueue", 0, tiling.out_queue)
        expected = [(name, offsets[column]) for name, *offsets in VIEWS]
        assert [(view.name, view.offset - tiling.out_queue) for view in views] == expected

    @pytest.mark.parametrize("variant", ["final", "three-bucket", "1108", "first"])
    @pytest.mark.parametrize(("dk", "dv"), [(80, 80), (144, 128), (65, 48)])
    def test_buffers_fill_tbuf(self, variant, dk, dv):
        """In every version the regions of UB follow each other without gaps and end where tbuf does."""
        tiling = _tiled(dk, dv, variant=variant)
        regions = ub_regions(tiling)
        assert all(one.end == other.offset for one, other in pairwise(regions))
        assert regions[-1].offset == tiling.out_queue + tiling.tbuf
        assert regions[-1].end == 262144
        assert ub_order_known(tiling) is (variant in ("final", "three-bucket"))

    @pytest.mark.parametrize(("width", "used"), [(64, 24576), (80, 33280), (96, 43008), (128, 65536)])
    def test_used_part_of_a_slot(self, width, used):
        """A bucket writes 24576, 33280, 43008 or all 65536 bytes of a slot."""
        assert slot_bytes_used(width) == used

    def test_slots_of_every_path(self):
        """On the Cube path both slots are used, for the inverse alone 8192 bytes of the first, else none."""
        assert slots_used(_tiled(64, 64)) == (24576, 16384)
        assert slots_used(_tiled(144, 128)) == (8192, 0)
        assert slots_used(_tiled(144, 64)) == (0, 0)

    def test_workspace_of_dk_80(self):
        """States come first, then two slots of 65536 bytes per block, up to what is needed; the rest is free."""
        states, *slots, rest = workspace_regions(_tiled())
        assert (states.name, states.size) == ("states", 8 * 80 * 80 * 4)
        assert len(slots) == 16
        assert [slot.offset for slot in slots] == [204800 + 65536 * k for k in range(16)]
        assert (rest.name, rest.offset, rest.end) == ("free", 1253376, 33554432)

    def test_workspace_of_very_many_cores(self):
        """Of 2**20 blocks the first and last two are told slot by slot, the others as one region between them."""
        tiling = replace(_tiled(), block_dim=1 << 20, workspace_need=204800 + (2 << 36), workspace=204800 + (2 << 36))
        states, *head, middle, _, _, _, last = workspace_regions(tiling)
        assert [region.name for region in head] == [f"block {b} slot {s}" for b in (0, 1) for s in (0, 1)]
        assert (middle.name, middle.offset, middle.count) == ("blocks 2 to 1048573", 204800 + 4 * 65536, 2097144)
        assert middle.size == 2097144 * 65536
        assert (states.end, last.name, last.end) == (204800, "block 1048575 slot 1", tiling.workspace)

    def test_workspace_without_staging(self):
        """`!1108` has states only."""
        assert [region.name for region in workspace_regions(_tiled(variant="1108"))] == ["states", "free"]

    def test_workspace_of_the_910b(self):
        """The 910B workspace begins with 16 MiB for the system and has no free end."""
        tiling = _tiled(variant="910b")
        first, *_, last = workspace_regions(tiling)
        assert (first.name, first.size) == ("system", 16777216)
        assert (last.name, last.end) == ("stage 1", tiling.workspace)


class TestReasons:
    def test_bucket_80_saves_27776(self):
        """The saving of bucket 80 over 96 is told in bytes and term by term."""
        text = _reasons()["bucket against the next"]
        assert "153088 instead of 125312, 27776 bytes more" in text
        assert "two K tiles 8192, two V tiles 8192, delta and dot product 128, scores or state 11264" in text

    def test_three_bucket_stage_names_what_it_lacks(self):
        """The stage before bucket 80 says what the final version would save."""
        text = _reasons(variant="three-bucket")["bucket against the next"]
        assert text.startswith("The final version has bucket 80 for it")
        assert "27776" in text

    def test_padding_of_65(self):
        """Dk 65 in bucket 80 costs 23 %."""
        assert "from 65 to 80 columns, 23 % more" in _reasons(65)["padding"]
        assert percent_more(80, 65) == "23 %"

    def test_slot_of_the_64_bucket(self):
        """The used part of a slot is told: 24576 of 65536 bytes."""
        assert "24576 of the 65536 bytes of slot 0" in _reasons(64, 64)["staging slot"]

    def test_m_k_n(self):
        """M, K, N are explained with the bytes they size."""
        text = _reasons()["M, K, N"]
        assert all(part in text for part in ("M = 64", "K = 128", "N = 128", "65536", "131072"))

    def test_overlap_saves(self):
        """The smaller of scores and state is saved."""
        assert _reasons()["scores and state"].endswith("16384 bytes saved.")
        assert "16384 bytes more" in _reasons(144, 128, variant="1108")["scores and state"]

    def test_floor_of_the_workspace(self):
        """32 MiB is told as a floor, on both sides of it."""
        assert "less than 33554432 (32 MiB), which is the least" in _reasons()["workspace"]
        above = _reasons(128, 256, hv=64, batch=8)["workspace"]
        assert "68157440 bytes: above the floor" in above

    def test_bucket_step(self):
        """A bucket step names the budget, and that it may be wider than dv."""
        assert "138112 of 262144 bytes of UB, 124032 to spare, so vStep is 80." in _reasons()["vStep"]
        assert "wider than dv 48" in _reasons(80, 48)["vStep"]

    def test_step_for_lack_of_ub(self):
        """With 131072 bytes bucket 80 misses by 7040, and what would change that is named."""
        found = _reasons(ub=131072)
        assert "needs 138112 bytes, 7040 more than the 131072" in found["vStep"]
        assert "138112 bytes of UB give vStep 80" in found["what would change it"]
        assert "vStep 64 is below bucket 80" in found["path"]

    def test_next_step_down(self):
        """One byte less than the need gives the step that the search then finds."""
        assert (
            "UB below 138112 bytes (it has 262144) gives vStep 64 and 2 V tiles." in _reasons()["what would change it"]
        )
        least = _reasons(256, 16)["what would change it"]
        assert "fits nothing" in least

    def test_no_bucket(self):
        """Above 128 the general path is explained, with the Cube in the inverse where vStep is wide enough."""
        found = _reasons(144, 128)
        assert "dk 144 is above 128" in found["bucket"]
        assert "no bucket and the general path" in _reasons(128, 128)["what would change it"]
        assert "the shipped kernel uses the Cube for it" in found["path"]
        assert "bucket against the next" not in found

    def test_first_version_goes_on(self):
        """The first version says that nothing fits and that it goes on."""
        assert "Nothing fits 262144 bytes" in _reasons(256, 256, variant="first")["vStep"]

    def test_block_dim_of_1108(self):
        """`!1108` counts V tiles only when heads do not fill the cores."""
        assert "Hv · 2 V tiles = 8 items" in _reasons(128, 256, hv=4, variant="1108")["block dim"]
        assert "sequences do not count" in _reasons(variant="1108")["block dim"]

    def test_910b(self):
        """The 910B tiling explains limits, blocks, groups and workspace."""
        assert set(_reasons(variant="910b")) == {"limits", "block dim", "chunk group", "workspace"}

    @pytest.mark.parametrize("variant", list(VARIANTS))
    @pytest.mark.parametrize(("dk", "dv"), [(1, 1), (64, 32), (81, 100), (128, 128)])
    def test_every_reason_has_words(self, variant, dk, dv):
        """No version leaves a reason empty or without a full stop."""
        assert all(text.endswith(".") for text in _reasons(dk, dv, variant=variant).values())
