"""The older host tilings and the vendor's 910B one, against worked tables, hand-made sums and a literal model."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.tiling import TilingError
from emu_plugins.cgdr.tiling import THREE_BUCKETS, ChunkPath, ShapeDims, tile
from emu_plugins.cgdr.tiling_910b import FP32_INTERMEDIATES, tile_910b
from emu_plugins.cgdr.tiling_1108 import tile_1108
from emu_plugins.cgdr.tiling_data import CgdrTilingData
from emu_plugins.cgdr.tiling_first import WIDEST_DV, tile_first
from emu_plugins.cgdr.tiling_variants import VARIANTS, TilingRequest

U32 = 0xFFFFFFFF

# dk, dv, B, Hv, cores | overlap allowed by heads, vStep, vTiles, blockDim, tbuf, outQueue; UB 262144
# (reference/cgdr.md 5.1).
WORKED_1108 = (
    (128, 128, 1, 16, 8, False, 128, 1, 8, 214528, 32768),
    (100, 128, 1, 4, 8, True, 128, 1, 4, 193952, 26624),
    (128, 256, 1, 4, 8, True, 128, 2, 8, 214528, 32768),
    (80, 80, 1, 8, 8, False, 80, 1, 8, 125056, 12800),
    (64, 64, 1, 8, 8, False, 64, 1, 8, 99328, 8192),
    (65, 48, 1, 4, 8, True, 48, 1, 4, 99392, 6912),
    (16, 16, 1, 1, 8, True, 16, 1, 1, 50176, 2048),
    (144, 128, 1, 8, 8, False, 96, 2, 8, 212608, 27648),
    (256, 128, 1, 1, 8, True, 48, 3, 3, 223744, 24576),
)


def _dims(**changes):
    return replace(ShapeDims(t=192, hqk=8, dk=80, hv=8, dv=80, batch=1), **changes)


def _old(run, dims, **changes):
    return run(dims, **{"cores": 8, "ub_bytes": 262144, "has_gamma": True, "scale_value": 1.0, **changes})


class TestChange1108:
    @pytest.mark.parametrize("row", WORKED_1108, ids=lambda row: "-".join(map(str, row[:5])))
    def test_every_number_of_the_row(self, row):
        """Each row of the worked table of `!1108` comes out number by number."""
        dk, dv, batch, hv, cores, allowed, *expected = row
        found = _old(tile_1108, _dims(dk=dk, dv=dv, batch=batch, hv=hv), cores=cores)
        numbers = [found.v_step, found.v_tiles, found.block_dim, found.tbuf, found.out_queue]
        assert numbers == expected
        assert (hv < cores) is allowed
        assert found.tiling_key == 0
        assert found.path is ChunkPath.VECTOR

    def test_k_has_two_widths(self):
        """Dk 100 has K tiles of 112 columns and a state stride of 104."""
        found = _old(tile_1108, _dims(dk=100))
        assert (found.align_k, found.plan.state_rows) == (112, 104)

    def test_scores_and_state_are_added_where_they_may_not_overlap(self):
        """With V cut and heads that fill the cores, the budget has both: Dk 144, 96 columns, 16384 + 55296 bytes."""
        found = _old(tile_1108, _dims(dk=144, dv=128))
        assert [term.bytes for term in found.tbuf_terms() if "state" in term.name] == [16384 + 144 * 96 * 4]
        assert found.plan.overlap is False

    def test_there_is_no_row_for_beta(self):
        """Dk 80 needs 256 bytes less than the final version, which keeps beta in UB."""
        assert tile(_dims(), cores=8, ub_bytes=262144, has_gamma=True, scale_value=1.0).tbuf == 125312
        assert _old(tile_1108, _dims()).tbuf == 125312 - 256

    def test_workspace_has_states_only(self):
        """64 sequences of 32 heads with 128 x 128 states need 134217728 bytes, and no staging."""
        found = _old(tile_1108, _dims(dk=128, dv=128, hv=32, batch=64))
        assert found.workspace == found.workspace_need == 64 * 32 * 128 * 128 * 4

    def test_sequences_do_not_add_blocks(self):
        """Blocks come from heads: 4 sequences of one head are one block."""
        assert _old(tile_1108, _dims(hv=1, batch=4)).block_dim == 1

    def test_what_does_not_fit_is_refused(self):
        """Dk 4096 leaves no room for any step."""
        with pytest.raises(TilingError, match="no V tile fits"):
            _old(tile_1108, _dims(dk=4096))


class TestThreeBucketStage:
    def test_published_log_153088(self):
        """The published hardware log of the stage: Dk = Dv = 80 in bucket 96 has vStep 96 and tbuf 153088."""
        found = _old(tile, _dims(), buckets=THREE_BUCKETS)
        numbers = (found.bucket, found.align_k, found.v_step, found.out_queue, found.tbuf, found.tiling_key)
        assert numbers == (96, 96, 96, 18432, 153088, 1)

    @pytest.mark.parametrize(
        ("dk", "bucket", "key"), [(64, 64, 0), (65, 96, 1), (96, 96, 1), (97, 128, 2), (128, 128, 2), (129, 0, 1)]
    )
    def test_buckets_and_keys(self, dk, bucket, key):
        """Key 0 is bucket 64, 2 is 128, and 1 is 96 and every wider head."""
        found = _old(tile, _dims(dk=dk), buckets=THREE_BUCKETS)
        assert (found.bucket, found.tiling_key) == (bucket, key)

    def test_bucket_80_saves_27776_bytes(self):
        """The final version needs 27776 bytes less for Dk = Dv = 80."""
        stage, final = _old(tile, _dims(), buckets=THREE_BUCKETS), _old(tile, _dims())
        assert stage.tbuf - final.tbuf == 27776


def _literal_first(dk, dv, ub, chunk):
    """The search of the first version, written down without any of its helpers."""

    def total(vs):
        av = (vs + 7) // 8 * 8
        full = (dv + 7) // 8 * 8
        k16 = (dk + 15) // 16 * 16
        tbuf = 2 * chunk * k16 * 4 + chunk * chunk * 4 + 2 * chunk * full * 4 + 2 * chunk * 4
        tbuf += max(k16, chunk) * 4 + max(chunk * chunk * 4, dk * av * 4)
        return tbuf & U32, max(dk * av * 2, chunk * full * 2) & U32

    best = 16
    for vs in range((dv + 15) // 16 * 16, 15, -16):
        if sum(total(vs)) & U32 <= ub & U32:
            best = vs
            break
    return best, *total(best)


class TestFirstPublicVersion:
    @pytest.mark.parametrize(
        ("dk", "dv", "expected"),
        [
            # K tiles + mask + V tiles + prefix + delta + exp + scores or state; out queue
            (64, 64, (64, 32768 + 16384 + 32768 + 256 + 256 + 256 + 16384, 8192)),
            (128, 128, (128, 65536 + 16384 + 65536 + 256 + 512 + 256 + 65536, 32768)),
            (100, 128, (128, 57344 + 16384 + 65536 + 256 + 448 + 256 + 51200, 25600)),
            # the full width of V stays in the budget, so nothing fits, and 16 is taken all the same
            (256, 256, (16, 131072 + 16384 + 131072 + 256 + 1024 + 256 + 16384, 32768)),
        ],
    )
    def test_by_hand(self, dk, dv, expected):
        """Step, buffers and out queue are those of the sums on paper."""
        found = _old(tile_first, _dims(dk=dk, dv=dv))
        assert (found.v_step, found.tbuf, found.out_queue) == expected

    def test_fixed_results(self):
        """Key 0, a block per head up to the cores, 32 MiB of workspace, one sequence, a state flag of 1."""
        found = _old(tile_first, _dims(hv=3, batch=5), has_gamma=False)
        assert (found.tiling_key, found.block_dim, found.workspace) == (0, 3, 33554432)
        data = CgdrTilingData.unpack(found.tiling_data())
        assert (data.batch, data.has_gamma) == (1, 1)
        assert dict(found.named_data())["hasInitialState"] == 1

    def test_chunk_size_is_an_attribute(self):
        """Chunks of 32 rows: 100 tokens are four with 28 missing, and the mask has 32 x 32 elements."""
        found = _old(tile_first, _dims(t=100), chunk_size=32)
        assert (found.num_chunks, found.pad_size) == (4, 28)
        assert CgdrTilingData.unpack(found.tiling_data()).chunk_size == 32
        assert found.tbuf_terms()[1].bytes == 32 * 32 * 4

    def test_chunk_size_zero_is_refused(self):
        """A chunk size that is 0 in 32 bits is an error, where the operator divides by zero."""
        with pytest.raises(TilingError, match="chunk_size 4294967296 is 0"):
            _old(tile_first, _dims(), chunk_size=1 << 32)

    def test_no_columns_of_v(self):
        """The clamp acts for dv 0 only: the step becomes 0."""
        assert _old(tile_first, _dims(dv=0)).v_step == 0

    def test_absurd_width_of_v(self):
        """A V that is too wide to be searched is refused with the limit."""
        with pytest.raises(TilingError, match=str(WIDEST_DV)):
            _old(tile_first, _dims(dv=WIDEST_DV + 1))

    @given(dk=st.integers(1, 300), dv=st.integers(1, 700), ub=st.integers(0, 400000), chunk=st.integers(1, 128))
    @settings(max_examples=80, deadline=None)
    def test_equals_the_literal_model(self, dk, dv, ub, chunk):
        """Step and bytes equal those of a model written down literally."""
        found = _old(tile_first, _dims(dk=dk, dv=dv), ub_bytes=ub, chunk_size=chunk)
        assert (found.v_step, found.tbuf, found.out_queue) == _literal_first(dk, dv, ub, chunk)


class TestVendor910B:
    DIMS = ShapeDims(t=200, hqk=2, dk=64, hv=4, dv=64, batch=2)

    def _tiled(self, dims=DIMS, **changes):
        return tile_910b(dims, **{"cores": 20, "has_gamma": True, "scale_value": 0.125, **changes})

    def test_low_precision_workspace_by_hand(self):
        """With 20 cores a group is 2560 tokens; the workspace is 16 MiB + 9347072 + 3932160 bytes."""
        found = self._tiled()
        rows = 4 * 2560
        inter = 4 * rows + 5 * 2 * rows * 64 + 2 * rows * 64 + 4 * 2 * 4 * 64 * 64 + 4 * 4096 * 20 * 4
        assert (found.max_group_length, found.inter_bytes, found.stage.bytes) == (2560, inter, 3932160)
        assert inter == 9347072
        assert found.workspace == 16777216 + 9347072 + 3932160

    def test_float32_intermediates_by_hand(self):
        """The earlier version needs 17211392 bytes between the stages and two tasks in flight."""
        found = self._tiled(precision=FP32_INTERMEDIATES)
        assert (found.inter_bytes, found.stage.bytes, found.parallel) == (17211392, 3932160, 2)

    def test_launch(self):
        """All Cube cores run, together, with key 0."""
        found = self._tiled()
        assert (found.block_dim, found.tiling_key, found.schedule_mode) == (20, 0, 1)

    def test_scalars_of_the_tiling_data(self):
        """The bytes before the library's part are 13 fields of eight bytes and the scale."""
        data = self._tiled().tiling_data()
        expected = (20, 200, 2, 64, 4, 64, 2, 1, 64, 2560, 9347072, 3932160, 4)
        assert len(data) == 108
        assert struct.unpack("<13qf", data) == (*expected, 0.125)

    @pytest.mark.parametrize(
        ("change", "said"),
        [({"hv": 65, "hqk": 65}, "Nk is 65, 1 more than the 64"), ({"hv": 66}, "Nv is 66, 2 more than the 64"),
         ({"dk": 129}, "Dk is 129"), ({"dv": 200}, "72 more than the 128"), ({"hv": 5}, "no multiple of Nk = 2"),
         ({"t": 0}, "T is 0"), ({"batch": -1}, "B is -1")],
    )  # fmt: skip
    def test_limits(self, change, said):
        """Each limit of the operator is refused by name and number."""
        with pytest.raises(TilingError, match=said):
            self._tiled(replace(self.DIMS, **change))

    def test_no_cores(self):
        """A platform without Cube cores is refused."""
        with pytest.raises(TilingError, match="0 Cube cores"):
            self._tiled(cores=0)


class TestTable:
    def test_every_variant_runs(self):
        """Each name gives a tiling with block dim, workspace and tiling data."""
        request = TilingRequest(_dims(), has_gamma=True, scale_value=None, cores=8, ub_bytes=262144)
        assert request.scale == 1.0
        for variant in VARIANTS.values():
            found = variant.run(request)
            assert found.block_dim == 8
            assert found.workspace >= 33554432 or variant.cube_cores
            assert len(found.tiling_data()) == (108 if variant.cube_cores else 64)

    @given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=6, max_size=6), st.sampled_from(list(VARIANTS)))
    @settings(max_examples=60, deadline=None)
    def test_any_dimension_is_answered(self, dims, name):
        """Whatever the six 64-bit dimensions are, each version gives a tiling or a TilingError."""
        try:
            found = VARIANTS[name].run(TilingRequest(ShapeDims(*dims), True, 1.0, 8, 262144))
        except TilingError:
            return
        assert 1 <= found.block_dim <= 8
