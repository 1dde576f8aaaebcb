"""Rounding without casts, fused multiply-add, prefix sums, exponentials, dot products, paths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.cgdr.codecs import CODECS
from emu_plugins.cgdr.items import live_sequences
from emu_plugins.cgdr.numerics import Numerics, fused_multiply_add
from emu_plugins.cgdr.paths import Geometry, PathFacts, Steps, full_chunk_steps, path_facts
from emu_plugins.cgdr.primitives import (
    dot_rows,
    prefix_sum,
    reduced,
    scalar_exp,
    slab_is_dma,
    widened_in_place,
)
from emu_plugins.cgdr.rounding import Scratch, half_bits, halves, round_half, split_half
from emu_plugins.cgdr.tiling import ShapeDims, tile

F32 = np.float32


def _rounded(x):
    out, work = np.empty_like(x), np.empty_like(x)
    round_half(x, out, work)
    return out


def _all_halves():
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return bits[np.isfinite(bits)].astype(F32)


class TestRounding:
    def test_every_half_value_is_kept(self):
        """Each finite float16 value rounds to itself."""
        values = _all_halves()
        np.testing.assert_array_equal(_rounded(values), values)

    def test_midpoints_and_their_neighbours(self):
        """Halfway between two float16 values goes to the even one, and one float32 step decides otherwise."""
        values = np.unique(_all_halves())
        middle = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(F32)
        for around in (middle, np.nextafter(middle, F32(np.inf)), np.nextafter(middle, F32(-np.inf))):
            np.testing.assert_array_equal(_rounded(around), around.astype(np.float16).astype(F32))

    @given(st.lists(st.floats(width=32, min_value=-65504, max_value=65504), min_size=1, max_size=20))
    def test_any_value_in_range(self, values):
        """What a cast gives, for any float32 value in range."""
        x = np.array(values, F32)
        np.testing.assert_array_equal(_rounded(x), x.astype(np.float16).astype(F32))

    def test_beyond_the_range(self):
        """Larger magnitudes saturate, infinity too; NaN stays; -0 becomes +0."""
        x = np.array([65520, 1e9, -1e9, np.inf, -np.inf, np.nan, -0.0], F32)
        with np.errstate(invalid="ignore"):
            found = _rounded(x)
        np.testing.assert_array_equal(found, np.array([65504, 65504, -65504, 65504, -65504, np.nan, 0], F32))
        assert not np.signbit(found[-1])

    @given(st.lists(st.floats(width=32, min_value=-130000, max_value=130000), min_size=1, max_size=20))
    def test_sum_of_both_halves_is_exact(self, values):
        """Both parts add up in float32 as in float64, and each is what a saturating cast gives."""
        x = np.array(values, F32)
        high, low = halves(x)
        wanted = np.clip(x, -65504, 65504).astype(np.float16)
        np.testing.assert_array_equal(high, wanted.astype(F32))
        np.testing.assert_array_equal(low, np.clip(x - high, -65504, 65504).astype(np.float16).astype(F32))
        out = np.empty_like(x)
        split_half(x, out, Scratch(x.size))
        np.testing.assert_array_equal(out.astype(np.float64), high.astype(np.float64) + low)

    def test_bits(self):
        """Float16 bits of every finite value, subnormals and both signs included."""
        values = _all_halves()
        np.testing.assert_array_equal(half_bits(values), values.astype(np.float16).view(np.uint16))


class TestMultiplyAdd:
    @pytest.mark.parametrize(
        ("a", "b", "c", "fused", "twice"),
        [
            # (1 + e)^2 = 1 + 2e + e^2 with e = 2^-23: the square's last term survives only when it is not rounded away.
            (1 + 2**-23, 1 + 2**-23, -1 - 2**-22, 2**-46, 0.0),
            (3.0, 5.0, 7.0, 22.0, 22.0),
        ],
    )
    def test_known_values(self, a, b, c, fused, twice):
        """One rounding or two, worked out by hand."""
        a, b, c = (np.array([x], F32) for x in (a, b, c))
        for fma, want in ((True, fused), (False, twice)):
            total = c.copy()
            Numerics(fma=fma).axpy(total, a, b)
            assert total.tolist() == [want]

    @given(*[st.floats(width=32, min_value=-(2.0**60), max_value=2.0**60, allow_subnormal=False)] * 3)
    def test_rounds_once(self, a, b, c):
        """No float32 is nearer to the exact result, and ties go to the even one."""
        a, b, c = (np.array([x], F32) for x in (a, b, c))
        exact = Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(c[0]))
        if exact and abs(exact) < Fraction(1, 2**100):
            return
        with np.errstate(all="ignore"):
            found = fused_multiply_add(a, b, c)[0]
        error = abs(Fraction(float(found)) - exact)
        for other in (np.nextafter(found, F32(np.inf)), np.nextafter(found, F32(-np.inf))):
            theirs = abs(Fraction(float(other)) - exact)
            assert error < theirs or (error == theirs and int(found.view(np.uint32)) % 2 == 0)

    def test_a_double_rounding_is_avoided(self):
        """The smallest float32 beside a tie decides it, although a sum rounded to float64 first loses it."""
        # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, halfway between two float32 values; the lower one is even.
        x, above = np.array([1 + 2.0**-12], F32), np.nextafter(F32(0), F32(1)).reshape(1)
        assert fused_multiply_add(x, x, above)[0] == F32(1 + 2.0**-11 + 2.0**-23)
        assert fused_multiply_add(x, x, np.zeros_like(x))[0] == F32(1 + 2.0**-11)
        assert fused_multiply_add(x, x, -above)[0] == F32(1 + 2.0**-11)


class TestPrimitives:
    def test_prefix_sums(self):
        """Both orders give exact sums of small integers; one rounds where the other does not."""
        for doubling in (True, False):
            g = np.arange(1, 65, dtype=F32)[None].copy()
            prefix_sum(g, doubling=doubling)
            assert g[0, [0, 1, 2, 63]].tolist() == [1, 3, 6, 2080]
        # 2^24 + 1 + 1: one after the other both ones vanish, by doubling they meet first.
        plain, doubled = np.array([2.0**24, 1, 1, 0], F32), np.array([2.0**24, 1, 1, 0], F32)
        prefix_sum(plain, doubling=False)
        prefix_sum(doubled, doubling=True)
        assert (plain[2], doubled[2]) == (2.0**24, 2.0**24 + 2)

    @pytest.mark.parametrize(
        ("rows", "heads", "size", "dma"),
        [(64, 8, 2, True), (64, 81, 2, False), (5, 2, 2, False), (8, 2, 2, True), (4, 2, 4, True), (3, 2, 4, False)],
    )
    def test_slab_conditions(self, rows, heads, size, dma):
        """A block of tokens is loaded at once if it fits the V tile of 80 and is a whole number of 32 bytes."""
        assert slab_is_dma(rows, heads, size, 80) is dma

    @pytest.mark.parametrize("x", [0.0, -0.25, -1.0, -3.7, -20.0, -80.0, 5.0])
    def test_scalar_exponential(self, x):
        """Within 6e-6 of the exponential."""
        assert scalar_exp(np.array([x], F32))[0] == pytest.approx(np.exp(x), rel=1e-5)

    def test_scalar_exponential_far_out(self):
        """Below -88.72 the reciprocal of an overflow is exactly 0, as for minus infinity; NaN stays."""
        with np.errstate(all="ignore"):
            found = scalar_exp(np.array([-88.8, -1e30, -np.inf, np.inf, np.nan], F32))
        assert found[:4].tolist() == [0, 0, 0, np.inf]
        assert np.isnan(found[4])

    def test_dot_products(self):
        """Products of small integers are exact for every count: no group, one, two and a rest."""
        for depth in (1, 63, 64, 65, 130):
            left = np.arange(2 * depth, dtype=F32).reshape(1, 2, depth) % 7
            right = np.arange(3 * depth, dtype=F32).reshape(1, 3, depth) % 5
            assert np.array_equal(dot_rows(left, right)[0], left[0] @ right[0].T)

    def test_order_inside_a_group(self):
        """The tree of halves adds elements 32 apart first: 2^24 and 1 meet late enough for 1 + 1 to survive."""
        group = np.zeros(64, F32)
        group[[0, 1, 33]] = [2.0**24, 1, 1]
        assert reduced(group) == 2.0**24 + 2

    def test_widening_over_itself(self):
        """Up to 64 values survive a cast over themselves; of 128, the second half is read from the first's results."""
        values = np.arange(1, 129, dtype=np.float16)
        assert widened_in_place(values[:64]).tolist() == list(range(1, 65))
        damaged = widened_in_place(values)
        assert damaged[:64].tolist() == list(range(1, 65))
        # Float 33 is 0x42040000: its upper half, 0x4204, reads as the float16 3.0078125; its lower half is 0.
        assert damaged[64:66].tolist() == [0.0, 3.0078125]


class TestPaths:
    @pytest.mark.parametrize(
        ("dk", "dv", "ub", "path"),
        [
            (16, 16, 262144, "cube"), (63, 63, 262144, "cube"), (65, 48, 262144, "cube"), (96, 160, 262144, "cube"),
            (128, 512, 262144, "cube"), (129, 128, 262144, "vector"), (144, 64, 262144, "vector"),
            (128, 128, 196608, "vector"), (80, 80, 131072, "vector"), (64, 64, 107776, "cube"),
            (64, 64, 107775, "vector"),
        ],
    )  # fmt: skip
    def test_worked_table(self, dk, dv, ub, path):
        """The last column of the worked examples, every Cube branch off for heads wider than 128."""
        tiled = tile(ShapeDims(64, 1, dk, 1, dv, 1), cores=8, ub_bytes=ub, has_gamma=True, scale_value=1.0)
        assert full_chunk_steps(Geometry.of(tiled.data_fields(), tiled.tiling_key)).name == path

    @pytest.mark.parametrize(("dk", "dv", "inverse"), [(129, 128, True), (144, 64, False), (192, 96, False)])
    def test_inverse_as_shipped(self, dk, dv, inverse):
        """Wide heads invert on the Cube where vStep reaches 96, if the shipped test is asked for."""
        tiled = tile(ShapeDims(64, 1, dk, 1, dv, 1), cores=8, ub_bytes=262144, has_gamma=True, scale_value=1.0)
        steps = full_chunk_steps(Geometry.of(tiled.data_fields(), tiled.tiling_key), "blocked")
        assert steps == Steps(inverse=inverse)
        assert steps.name == ("vector, inverse on cube" if inverse else "vector")

    def test_v_tiles_wider_than_the_instance(self):
        """A stale key that is too narrow for the V step takes the Cube for everything up to W."""
        assert full_chunk_steps(Geometry(64, 64, 128, 48, 128, 1, 128, 1.0)) == Steps(True, True, True, False)

    def test_facts(self):
        """Sequences of 130 and 5 tokens, two heads: four full chunks, four tails."""
        facts = path_facts(Geometry(64, 64, 64, 64, 64, 2, 64, 1.0), live_sequences([130, 0, 5]), 1)
        assert facts == PathFacts(4, 4, "cube")
        assert facts.text() == "4 chunks cube, 4 tails vector"
        assert PathFacts(0, 0, "cube").text() == "no chunk"


class TestFloat16Codec:
    def test_every_pattern_is_widened(self):
        """All 65536 patterns become what a cast makes of them, with and without infinities among them."""
        bits = np.arange(1 << 16, dtype=np.uint16)
        for patterns in (bits, bits[np.isfinite(bits.view(np.float16))]):
            values = patterns.view("<f2")
            found = np.empty(values.shape, F32)
            CODECS["float16"].load(values, found)
            np.testing.assert_array_equal(found.view(np.uint32), values.astype(F32).view(np.uint32))

    def test_strided_sides(self):
        """Sources and targets may be any views."""
        source, target = np.arange(24, dtype="<f2").reshape(4, 6), np.zeros((3, 8), F32)
        CODECS["float16"].load(source[:, ::2].T, target[:, ::2])
        np.testing.assert_array_equal(target[:, ::2], source[:, ::2].T)
        back = np.zeros((4, 6), "<f2")
        CODECS["float16"].store(target[:, ::2], back[:, ::2].T)
        np.testing.assert_array_equal(back[:, ::2], source[:, ::2])

    def test_midpoints_are_stored_as_a_cast_does(self):
        """Ties, their neighbours, subnormals, both zeros and signs give the bits of a cast."""
        values = np.unique(_all_halves())
        values = values[np.abs(values) < 32768]
        middle = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(F32)
        given_values = np.concatenate([values, [-0.0, 1e-30, -1e-30], middle, np.nextafter(middle, F32(9))]).astype(F32)
        found = np.zeros(given_values.shape, "<f2")
        CODECS["float16"].store(given_values, found)
        np.testing.assert_array_equal(found.view(np.uint16), given_values.astype(np.float16).view(np.uint16))

    def test_large_values_and_nan(self):
        """Overflow becomes infinite without a warning, NaN stays."""
        found = np.zeros(4, "<f2")
        CODECS["float16"].store(np.array([1e9, -1e38, np.nan, 40000], F32), found)
        assert found[:2].tolist() == [np.inf, -np.inf]
        assert np.isnan(found[2])
        assert found[3] == 40000
