"""Host tiling against the worked table of the reference, its log values, and hand-made sums."""

from __future__ import annotations

import struct
from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from emu_core.tiling import TilingError
from emu_plugins.cgdr import constants
from emu_plugins.cgdr.tiling import (
    ChunkPath,
    ShapeDims,
    align_k_of,
    block_dim_of,
    ceil_align_u32,
    div_ceil_u32,
    out_queue_bytes,
    plan_of,
    select_cube_dk,
    solve_v_step,
    tile,
    tiling_key_of,
    tmp_buff_bytes,
    tmp_buff_terms,
)
from emu_plugins.cgdr.tiling_budget import largest_fitting
from emu_plugins.cgdr.tiling_data import C_NAMES, CgdrTilingData, to_float32

U32 = (1 << 32) - 1

# dk, dv, B, Hv, T, cores, UB | bucket, alignK, vStep, vTiles, key, blockDim, outQueue, tbuf, restBytes, workspace, need
# (reference/cgdr.md 4). tbuf 125312 of dk = dv = 80 is a published hardware log value.
CUBE, VECTOR, INVERSE = ChunkPath.CUBE, ChunkPath.VECTOR, ChunkPath.VECTOR_CUBE_INVERSE
WORKED = (
    ( 16,  16, 1,  8,   64,  8, 262144,  64,  64,  64, 1, 0, 8,  8192,  99584, 253952, 33554432,  1056768, CUBE),
    ( 48,  64, 1,  4,   64,  8, 262144,  64,  64,  64, 1, 0, 4,  8192,  99584, 253952, 33554432,   573440, CUBE),
    ( 63,  63, 2,  8,  200,  8, 262144,  64,  64,  64, 1, 0, 8,  8192,  99584, 253952, 33554432,  1306624, CUBE),
    ( 64,  64, 1, 32, 1024,  8, 262144,  64,  64,  64, 1, 0, 8,  8192,  99584, 253952, 33554432,  1572864, CUBE),
    ( 64, 128, 1,  8,   64,  8, 262144,  64,  64,  64, 2, 0, 8,  8192,  99584, 253952, 33554432,  1310720, CUBE),
    ( 65,  48, 1,  8,  130,  8, 262144,  80,  80,  80, 1, 1, 8, 12800, 125312, 249344, 33554432,  1148416, CUBE),
    ( 79, 100, 1, 16, 4096,  8, 262144,  80,  80,  80, 2, 1, 8, 12800, 125312, 249344, 33554432,  1574400, CUBE),
    ( 80,  80, 1,  8,  192,  8, 262144,  80,  80,  80, 1, 1, 8, 12800, 125312, 249344, 33554432,  1253376, CUBE),
    ( 80,  80, 1,  8,  192,  1, 262144,  80,  80,  80, 1, 1, 1, 12800, 125312, 249344, 33554432,   335872, CUBE),
    ( 81,  96, 2,  4,  512,  8, 262144,  96,  96,  96, 1, 2, 8, 18432, 153088, 243712, 33554432,  1297408, CUBE),
    ( 95,  95, 1,  2,  127,  8, 262144,  96,  96,  96, 1, 2, 2, 18432, 153088, 243712, 33554432,   335104, CUBE),
    ( 96, 160, 1,  4,  128,  8, 262144,  96,  96,  96, 2, 2, 8, 18432, 153088, 243712, 33554432,  1294336, CUBE),
    ( 97, 128, 1,  8,   96,  8, 262144, 128, 128, 128, 1, 3, 8, 32768, 214784, 229376, 33554432,  1445888, CUBE),
    (127, 128, 1,  8,   96,  8, 262144, 128, 128, 128, 1, 3, 8, 32768, 214784, 229376, 33554432,  1568768, CUBE),
    (128, 128, 1, 32, 8192,  8, 262144, 128, 128, 128, 1, 3, 8, 32768, 214784, 229376, 33554432,  3145728, CUBE),
    (128, 128, 4, 32, 8192,  8, 262144, 128, 128, 128, 1, 3, 8, 32768, 214784, 229376, 33554432,  9437184, CUBE),
    (128, 256, 1,  2,  128,  8, 262144, 128, 128, 128, 2, 3, 4, 32768, 214784, 229376, 33554432,   786432, CUBE),
    (128, 512, 1,  4,  128,  8, 262144, 128, 128, 128, 4, 3, 8, 32768, 214784, 229376, 33554432,  2097152, CUBE),
    (129, 128, 1,  4,  128,  8, 262144,   0, 144, 112, 2, 2, 8, 32256, 213888, 229888, 33554432,  1312768, INVERSE),
    (144,  64, 1,  8,   80,  8, 262144,   0, 144,  64, 1, 2, 8, 18432, 161664, 243712, 33554432,  1343488, VECTOR),
    (144, 128, 1,  8,   80,  8, 262144,   0, 144, 112, 2, 2, 8, 32256, 213888, 229888, 33554432,  1638400, INVERSE),
    (192,  96, 1,  2,   64,  8, 262144,   0, 192,  80, 2, 2, 4, 30720, 219392, 231424, 33554432,   671744, VECTOR),
    (192, 128, 1,  2,   64,  8, 262144,   0, 192,  80, 2, 2, 4, 30720, 219392, 231424, 33554432,   720896, VECTOR),
    (256, 128, 1,  1,   64,  8, 262144,   0, 256,  48, 3, 2, 3, 24576, 224000, 237568, 33554432,   524288, VECTOR),
    (128, 128, 1, 32, 8192,  8, 253952, 128, 128, 128, 1, 3, 8, 32768, 214784, 221184, 33554432,  3145728, CUBE),
    (128, 128, 1, 32, 8192,  8, 196608, 128, 128,  80, 2, 3, 8, 20480, 165632, 176128, 33554432,  3145728, VECTOR),
    ( 80,  80, 1,  8,  192,  8, 131072,  80,  80,  64, 2, 1, 8, 10240, 112000, 120832, 33554432,  1253376, VECTOR),
    ( 80,  80, 1,  8,  192,  8, 138112,  80,  80,  80, 1, 1, 8, 12800, 125312, 125312, 33554432,  1253376, CUBE),
    ( 80,  80, 1,  8,  192,  8, 138111,  80,  80,  64, 2, 1, 8, 10240, 112000, 127871, 33554432,  1253376, VECTOR),
    (128, 256, 8, 64, 1024,  8, 262144, 128, 128, 128, 2, 3, 8, 32768, 214784, 229376, 68157440, 68157440, CUBE),
    ( 64,  64, 1,  2,   64, 20, 107776,  64,  64,  64, 1, 0, 2,  8192,  99584,  99584, 33554432,   294912, CUBE),
    ( 64,  64, 1,  2,   64, 20, 107775,  64,  64,  48, 2, 0, 4,  6144,  91392, 101631, 33554432,   557056, VECTOR),
)  # fmt: skip

# dk, dv, B, Hv, T, cores, UB, bytes that the smallest step (16 columns) needs beyond the UB, worked out by hand:
# K width 256: two K tiles 131072, mask 16384, two V tiles 8192, prefix 256, delta 1024, dot 1024, exp 256, beta 256,
# scores or state 16384 are 174848 of buffers, the queue takes 8192, and 183040 - 131072 = 51968.
# K width 128: 65536 + 16384 + 8192 + 256 + 512 + 512 + 256 + 256 + 16384 = 108288, the queue 4096, - 98304 = 14080.
FAILING = (
    (256, 128, 1, 1, 64, 8, 131072, 51968),
    (128, 128, 1, 8, 64, 8, 98304, 14080),
)

EXAMPLE_HEX = (
    "080000000000040000ce0300c00000000800000050000000080000005000000040000000030000000100000000000000010000002ef9e43d"
    "5000000000000000"
)
EXAMPLE_LINE = (
    "ChunkGatedDeltaRule tiling: T=192, chunkSize=64, numChunks=3, hqk=8, dk=80, hv=8, dv=80, scaleValue=0.111803, "
    "ubSize=262144, vStep=80, blockDim=8, outQueue=12800, tbuf=125312, restBytes=249344"
)


def _tiled(t=192, hqk=8, dk=80, hv=8, dv=80, batch=1, **changes):
    settings = {"cores": 8, "ub_bytes": 262144, "has_gamma": True, "scale_value": 80**-0.5, **changes}
    return tile(ShapeDims(t, hqk, dk, hv, dv, batch), **settings)


class TestWorkedTable:
    @pytest.mark.parametrize("row", WORKED, ids=lambda row: "-".join(str(n) for n in row[:7]))
    def test_every_number_of_the_row(self, row):
        """Each row of the worked table comes out number by number."""
        dk, dv, batch, hv, t, cores, ub, *expected = row
        found = _tiled(t=t, dk=dk, hv=hv, dv=dv, batch=batch, cores=cores, ub_bytes=ub)
        names = (
            "bucket", "align_k", "v_step", "v_tiles", "tiling_key", "block_dim", "out_queue", "tbuf", "rest_bytes",
            "workspace", "workspace_need", "path",
        )  # fmt: skip
        assert {name: getattr(found, name) for name in names} == dict(zip(names, expected, strict=True))

    def test_published_log_of_the_final_version(self):
        """The UB total that hardware logged for Dk = Dv = 80 is met."""
        assert _tiled().tbuf == 125312

    def test_published_log_of_the_three_bucket_version(self):
        """The UB total that hardware logged while Dk 80 still ran 96 wide is met by the same sum."""
        assert tmp_buff_bytes(96, 96) == 153088

    @pytest.mark.parametrize("row", FAILING, ids=lambda row: "-".join(str(n) for n in row[:7]))
    def test_what_does_not_fit_is_refused_with_the_missing_bytes(self, row):
        """A shape without a fitting V step is an error that says how many bytes are missing."""
        dk, dv, batch, hv, t, cores, ub, missing = row
        with pytest.raises(TilingError, match=f"{missing} more than the {ub}") as caught:
            _tiled(t=t, dk=dk, hv=hv, dv=dv, batch=batch, cores=cores, ub_bytes=ub)
        assert caught.value.detail["over_bytes"] == missing
        assert caught.value.detail["needed_bytes"] == ub + missing

    @pytest.mark.parametrize(("bucket", "needed"), [(64, 107776), (80, 138112), (96, 171520), (128, 247552)])
    def test_smallest_ub_of_each_bucket(self, bucket, needed):
        """A bucket is chosen as V step with exactly its bytes of UB and given up with one byte less."""
        assert solve_v_step(bucket, needed, bucket, bucket).v_step == bucket
        assert solve_v_step(bucket, needed - 1, bucket, bucket).v_step == bucket - 16


class TestPieces:
    @pytest.mark.parametrize(
        ("dk", "bucket"),
        [(1, 64), (63, 64), (64, 64), (65, 80), (79, 80), (80, 80), (81, 96), (95, 96), (96, 96), (97, 128), (127, 128),
         (128, 128), (129, 0), (1 << 31, 0)],
    )  # fmt: skip
    def test_bucket_boundaries(self, dk, bucket):
        """Each bucket ends at its own width and the next one starts one above."""
        assert select_cube_dk(dk) == bucket

    @pytest.mark.parametrize(("dk", "key"), [(64, 0), (80, 1), (96, 2), (128, 3), (129, 2), (4096, 2)])
    def test_tiling_keys(self, dk, key):
        """Keys count the buckets, and a head without one runs in the 96-wide instance."""
        assert tiling_key_of(dk) == key

    @pytest.mark.parametrize(("dk", "width"), [(80, 80), (70, 80), (129, 144), (144, 144), (145, 160)])
    def test_k_width(self, dk, width):
        """Without a bucket the K width is the head width in whole blocks."""
        assert align_k_of(dk) == width

    def test_terms_of_dk_80(self):
        """The sum 125312 consists of the terms that the public hand calculation lists."""
        found = {term.name: term.bytes for term in tmp_buff_terms(80, 80)}
        assert list(found.values()) == [40960, 16384, 40960, 256, 320, 320, 256, 256, 25600]
        assert found["scores or state"] == 25600

    def test_terms_of_a_tiling_add_up(self):
        """A tiling can show the terms behind its `tbuf`."""
        found = _tiled(dk=129, dv=128, hv=4)
        assert sum(term.bytes for term in found.tbuf_terms()) == found.tbuf == 213888

    def test_stage_bytes(self):
        """A core stages 128 KiB, in two slots of 64 KiB."""
        assert constants.STAGE_BYTES_PER_CORE == 131072 == 2 * constants.DEVICE_STAGE_SLOT_BYTES

    def test_uint32_rounding_wraps(self):
        """Rounding up past 2**32 wraps to small numbers as C does."""
        assert ceil_align_u32(U32, 16) == 0
        assert div_ceil_u32(U32, 64) == 0

    def test_out_queue_is_the_larger_of_state_and_chunk(self):
        """A narrow K gives a queue for 64 rows, a wide one a queue for the state tile."""
        assert out_queue_bytes(48, 32) == 64 * 48 * 2
        assert out_queue_bytes(112, 144) == 32256

    def test_block_dim_limits(self):
        """Blocks are limited by items, cores and 1, and the item product by 2**32 - 1."""
        assert block_dim_of(1, 3, 1, 8) == 3
        assert block_dim_of(1, 0, 1, 8) == 1
        assert block_dim_of(1, 8, 1, 0) == 1
        assert block_dim_of(U32, U32, 1, 8) == 8

    def test_dk_64_with_dv_32_has_one_tile_of_64(self):
        """The step is not pressed back to dv: dk 64 and dv 32 give vStep 64 and one V tile."""
        found = _tiled(dk=64, dv=32)
        assert (found.v_step, found.v_tiles) == (64, 1)

    def test_v_step_may_exceed_dv(self):
        """A V narrower than the bucket keeps the bucket as step and one tile."""
        found = _tiled(dk=65, dv=17)
        assert (found.v_step, found.v_tiles) == (80, 1)

    @pytest.mark.parametrize("ub", [0, -1, -(1 << 63)])
    def test_no_ub_is_an_error(self, ub):
        """A platform that reports no UB is refused."""
        with pytest.raises(TilingError, match="bytes of UB"):
            _tiled(ub_bytes=ub)

    def test_padding_and_chunks_use_the_packed_tokens(self):
        """130 tokens are three chunks with 62 rows missing; a multiple of 64 misses none."""
        assert (_tiled(t=130).pad_size, _tiled(t=130).num_chunks) == (62, 3)
        assert (_tiled(t=128).pad_size, _tiled(t=128).num_chunks) == (0, 2)


class TestTilingData:
    def test_example_bytes(self):
        """The published example comes out byte for byte."""
        assert _tiled().tiling_data().hex() == EXAMPLE_HEX

    def test_reading_back(self):
        """The kernel's view of the bytes has every field in its place."""
        found = CgdrTilingData.unpack(bytes.fromhex(EXAMPLE_HEX))
        assert (found.cores, found.ub_bytes, found.rest_bytes, found.t, found.v_step) == (8, 262144, 249344, 192, 80)
        assert (found.hqk, found.dk, found.hv, found.dv, found.batch, found.has_gamma) == (8, 80, 8, 80, 1, 1)
        assert found.scale_value == struct.unpack("<f", struct.pack("<f", 80**-0.5))[0]
        assert (found.chunk_size, found.num_chunks, found.pad_size, found.debug) == (64, 3, 0, 0)

    def test_the_second_copy_of_the_struct_agrees(self):
        """The format registry reads the same values under the public names (contract C3); a float as its bits."""
        ours = CgdrTilingData.unpack(bytes.fromhex(EXAMPLE_HEX))
        theirs = formats.get("runtime", "CgdrTilingData").parse(bytes.fromhex(EXAMPLE_HEX))
        expected = dict(zip(C_NAMES, astuple(ours), strict=True)) | {"scaleValue": 0x3DE4F92E}
        assert {name: theirs[name] for name in C_NAMES} == expected

    @given(st.binary(min_size=64, max_size=64).filter(lambda raw: raw[55] & 0x7F != 0x7F or raw[54] < 0x80))
    def test_any_bytes_survive(self, raw):
        """Unpacking and packing gives the same 64 bytes for every content whose scale is a number."""
        assert CgdrTilingData.unpack(raw).pack() == raw

    def test_debug_line(self):
        """The debug line of the example matches character by character."""
        assert _tiled().debug_line() == EXAMPLE_LINE

    def test_scale_is_rounded_to_float32(self):
        """A scale is kept as float32; one beyond its range is infinite."""
        assert to_float32(0.1) == 0.10000000149011612
        assert to_float32(-1e39) == float("-inf")
        assert "scaleValue=inf" in _tiled(scale_value=1e300).debug_line()


class TestHostileShapes:
    @given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=6, max_size=6))
    @settings(max_examples=60, deadline=None)
    def test_any_dimension_is_answered(self, dims):
        """Whatever the six 64-bit dimensions are, the answer is a tiling within 32 bits or a TilingError."""
        try:
            found = tile(ShapeDims(*dims), cores=8, ub_bytes=262144, has_gamma=False, scale_value=1.0)
        except TilingError:
            return
        assert len(found.tiling_data()) == 64
        assert 1 <= found.block_dim <= 8
        assert found.tbuf + found.out_queue <= 262144

    @pytest.mark.parametrize("size", [10**18, U32, 1 << 32, (1 << 63) - 1])
    @pytest.mark.parametrize("axis", range(6))
    def test_absurd_dimensions_are_narrowed(self, size, axis):
        """One absurd dimension gives what its low 32 bits give."""
        dims = [192, 8, 80, 8, 80, 1]
        dims[axis] = size
        narrow = [*dims[:axis], size & U32, *dims[axis + 1 :]]
        answers = []
        for each in (dims, narrow):
            try:
                answers.append(tile(ShapeDims(*each), cores=8, ub_bytes=262144, has_gamma=False, scale_value=1.0))
            except TilingError as error:
                answers.append(error.detail)
        assert answers[0] == answers[1]

    def test_the_widest_dv_takes_no_long_search(self):
        """The largest dv without a bucket is answered within 128 runs of 129 tries, not 2**28."""
        tries = []
        found = largest_fitting(U32 - 15, 262144, lambda v_step: tries.append(v_step) or plan_of(v_step, 4096))
        assert found is None
        assert 0 < len(tries) <= 128 * 129

    @given(dv=st.integers(1, 20000), align_k=st.sampled_from([64, 144, 160, 512]), ub=st.integers(1, 400000))
    @settings(max_examples=80, deadline=None)
    def test_search_equals_the_plain_loop(self, dv, align_k, ub):
        """The V step equals that of a loop over every multiple of 16 from the top."""
        tries = range((dv + 15) // 16 * 16, 15, -16)
        want = next((vs for vs in tries if tmp_buff_bytes(vs, align_k) + out_queue_bytes(vs, align_k) <= ub), None)
        try:
            found = solve_v_step(dv, ub, align_k, 0).v_step
        except TilingError:
            found = None
        assert found == want

    @given(above=st.integers(0, 40), align_k=st.sampled_from([144, 1 << 20]), period=st.integers(1, 127))
    @settings(max_examples=40, deadline=None)
    def test_search_across_the_wrap_equals_the_plain_loop(self, above, align_k, period):
        """Where the wrapped sums become small again, the skipping search stops at the same step as a plain loop."""
        top = period * (1 << 25) + 16 * above
        tries = range(top, top - 16 * 400, -16)
        want = next((vs for vs in tries if tmp_buff_bytes(vs, align_k) + out_queue_bytes(vs, align_k) <= 262144), None)
        try:
            found = solve_v_step(top, 262144, align_k, 0).v_step
        except TilingError:
            found = None
        assert want in (found, None)

    def test_dv_of_zero_without_a_bucket(self):
        """With nothing to try the error says which dv is possible."""
        with pytest.raises(TilingError, match="dv=0"):
            _tiled(dk=144, dv=0)
