"""The float32 chunked form, the inverse, the element types and the float64 reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from emu_plugins.accuracy import normalised_rms
from emu_plugins.cgdr.codecs import CODECS, bfloat16_to_float32, float32_to_bfloat16
from emu_plugins.cgdr.fp32 import SequenceArrays, job_runner, sequence_jobs
from emu_plugins.cgdr.inverse import UnitLowerInverse
from emu_plugins.cgdr.items import live_sequences
from emu_plugins.cgdr.reference import reference


def _computed(arrays, out_codec, workers=1):
    """`out` and `final_state` of the float32 form in another element type; what it does not write is NaN."""
    carrier = CODECS[out_codec].carrier
    out = np.full(arrays["value"].shape, np.nan, carrier)
    final = np.full(arrays["initial_state"].shape, np.nan, carrier)
    with job_runner(workers) as run_jobs:
        for sequence in live_sequences(arrays["actual_seq_lengths"].tolist()):
            rows = slice(sequence.start, sequence.start + sequence.length)
            of_rows = {name: arrays[name][rows] for name in ("query", "key", "value", "beta")}
            g = arrays["g"][rows] if "g" in arrays else None
            run_jobs(
                sequence_jobs(
                    SequenceArrays(
                        **of_rows, g=g, initial_state=arrays["initial_state"][sequence.batch], out=out[rows],
                        final_state=final[sequence.batch], scale=float(arrays["scale"]), codec=CODECS["float16"],
                        out_codec=CODECS[out_codec],
                    )
                )
            )  # fmt: skip
    return out, final


def _random_arrays(lengths, hqk, hv, dk, dv, *, seed=0, g=True):
    """Inputs like those of the stored cases."""
    rng = np.random.default_rng(seed)
    t = sum(n for n in lengths if n > 0)

    def unit(*shape):
        x = rng.standard_normal(shape)
        return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float16)

    arrays = {
        "query": unit(t, hqk, dk), "key": unit(t, hqk, dk), "beta": rng.random((t, hv)).astype(np.float16),
        "value": rng.standard_normal((t, hv, dv)).astype(np.float16), "scale": np.float32(dk**-0.5),
        "initial_state": (0.3 * rng.standard_normal((len(lengths), hv, dv, dk))).astype(np.float16),
        "actual_seq_lengths": np.array(lengths, np.int32),
    }  # fmt: skip
    return arrays | ({"g": -rng.random((t, hv), np.float32)} if g else {})


class TestStoredCases:
    def test_before_the_cast(self, load_case, case_name):
        """Before the last cast the error against float64 is at most 2e-6 for out and state."""
        arrays = load_case(case_name)
        out, final = _computed(arrays, "float32")
        assert normalised_rms(out, arrays["out"]) <= 2e-6
        assert normalised_rms(final, arrays["final_state"]) <= 2e-6

    def test_after_the_cast(self, load_case, case_name):
        """After the cast to float16 the error against float64 is at most 2.5e-4 for out and state."""
        arrays = load_case(case_name)
        out, final = _computed(arrays, "float16")
        assert normalised_rms(out, arrays["out"]) <= 2.5e-4
        assert normalised_rms(final, arrays["final_state"]) <= 2.5e-4

    def test_our_reference(self, load_case, case_name):
        """Our float64 recurrence meets the stored results to 1e-14, or to float32 where they are stored so."""
        arrays = load_case(case_name)
        found = reference(arrays, float(arrays["scale"]))
        for name in ("out", "final_state"):
            limit = 1e-14 if arrays[name].dtype == np.float64 else 1e-7
            assert normalised_rms(found[name], arrays[name]) <= limit

    def test_stored_inverse(self, load_case):
        """The inverse of the stored A is the stored U, in float32."""
        arrays = load_case("x04_intermediates_dk80_head0")
        matrices = arrays["A"].astype(np.float32)
        UnitLowerInverse(matrices).run()
        assert np.abs(matrices - arrays["U"]).max() <= 1e-6


class TestChunkedForm:
    @pytest.mark.parametrize("hv", [1, 2, 5, 8])
    def test_bytes_do_not_depend_on_workers(self, hv):
        """One worker, two and four give the same bytes."""
        arrays = _random_arrays([70, 64], 1, hv, 33, 17)
        first, *others = [[part.tobytes() for part in _computed(arrays, "float16", workers)] for workers in (1, 2, 4)]
        assert others == [first, first]

    @given(
        lengths=st.lists(st.integers(0, 90), min_size=1, max_size=3),
        hqk=st.integers(1, 2),
        ratio=st.integers(1, 3),
        dk=st.integers(1, 150),
        dv=st.integers(1, 70),
        g=st.booleans(),
    )
    @settings(max_examples=25, deadline=None)
    def test_any_shape_equals_the_recurrence(self, lengths, hqk, ratio, dk, dv, g):
        """Any widths, heads, lengths and tails give the recurrence, and skipped sequences stay unwritten."""
        arrays = _random_arrays(lengths, hqk, hqk * ratio, dk, dv, g=g)
        out, final = _computed(arrays, "float32")
        want = reference(arrays, float(arrays["scale"]))
        # Absolute: with heads of width 1 a result is one number that may cancel to nearly nothing.
        np.testing.assert_allclose(out, want["out"], rtol=0, atol=1e-5)
        for batch, length in enumerate(lengths):
            if length:
                np.testing.assert_allclose(final[batch], want["final_state"][batch], rtol=0, atol=1e-5)
            else:
                assert np.isnan(final[batch]).all()

    def test_nearly_equal_keys(self):
        """Keys in one direction with beta near 1, where doubling the inverse explodes, stay accurate."""
        arrays = _random_arrays([128], 1, 1, 64, 64, g=False)
        arrays["key"] = np.broadcast_to(arrays["key"][:1], arrays["key"].shape).copy()
        arrays["beta"][...] = 0.98
        out, _ = _computed(arrays, "float32")
        assert normalised_rms(out, reference(arrays, float(arrays["scale"]))["out"]) <= 5e-6

    def test_very_strong_decay(self):
        """Decay far below what exp can hold gives zeros, no NaN and no warning."""
        arrays = _random_arrays([130], 1, 2, 16, 16)
        arrays["g"][...] = -1000
        out, final = _computed(arrays, "float32")
        want = reference(arrays, float(arrays["scale"]))
        assert normalised_rms(out, want["out"]) <= 1e-6
        assert np.isfinite(final).all()

    @pytest.mark.parametrize("name", ["query", "key", "value", "beta", "g", "initial_state"])
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_values_that_are_no_numbers_propagate(self, name, bad):
        """NaN and infinity in any input reach their own head's output without exception or warning, and no other."""
        arrays = _random_arrays([70], 2, 2, 16, 16)
        arrays[name][0, 0] = bad
        out, _ = _computed(arrays, "float16")
        assert not np.isfinite(out[:, 0]).all() or (name == "g" and bad == -np.inf)
        assert np.isfinite(out[:, 1]).all()

    def test_overflow_of_the_cast_is_infinite(self):
        """An output beyond float16 becomes infinite without a warning."""
        arrays = _random_arrays([3], 1, 1, 4, 4)
        arrays["scale"] = np.float32(1e9)
        out, _ = _computed(arrays, "float16")
        assert np.isinf(out).any()


class TestInverse:
    @pytest.mark.parametrize("n", [8, 16, 32, 64])
    def test_product_with_the_matrix_is_one(self, n):
        """U times I - A is the identity for every size, and what stood above the diagonal does not matter."""
        full = np.random.default_rng(n).standard_normal((3, n, n)).astype(np.float32) * 0.2
        lower = np.tril(full, -1)
        UnitLowerInverse(full).run()
        assert np.abs(full @ (np.eye(n, dtype=np.float32) - lower) - np.eye(n)).max() < 1e-4
        assert np.array_equal(full, np.tril(full))


class TestBfloat16:
    @pytest.mark.parametrize(
        ("value", "bits"),
        [
            (1.0, 0x3F80), (-2.5, 0xC020), (0.0, 0x0000), (-0.0, 0x8000), (float("inf"), 0x7F80), (3.4e38, 0x7F80),
            (1.00390625, 0x3F80), (1.01171875, 0x3F82), (1.00390637, 0x3F81),
        ],
    )  # fmt: skip
    def test_known_values(self, value, bits):
        """Exact values keep their upper half, ties go to the even neighbour, too large values to infinity."""
        assert float32_to_bfloat16(np.array([value], np.float32)).tolist() == [bits]

    def test_every_pattern_survives(self):
        """All 65536 patterns come back after a trip through float32, NaN as a NaN."""
        bits = np.arange(1 << 16, dtype=np.uint16)
        values = bfloat16_to_float32(bits)
        back = float32_to_bfloat16(values)
        number = ~np.isnan(values)
        assert np.array_equal(back[number], bits[number])
        assert np.isnan(bfloat16_to_float32(back[~number])).all()

    @given(hnp.arrays(np.float32, 8, elements=st.floats(width=32, allow_nan=False, allow_infinity=False)))
    def test_nothing_nearer_exists(self, values):
        """The result is at most half a step away from the value."""
        with np.errstate(over="ignore"):
            found = bfloat16_to_float32(float32_to_bfloat16(values)).astype(np.float64)
        step = 2.0 ** (np.maximum(np.frexp(values.astype(np.float64))[1], -125) - 8)
        finite = np.isfinite(found)
        assert (np.abs(found - values)[finite] <= step[finite] / 2).all()

    def test_codec_round_trip(self):
        """The bfloat16 codec loads and stores into arrays of any layout."""
        codec, bits = CODECS["bfloat16"], np.array([[0x3F80, 0x4000], [0xC020, 0x0000]], np.uint16)
        values, back = np.empty((2, 2), np.float32), np.empty((2, 2), np.uint16)
        codec.load(bits.T, values)
        codec.store(values, back)
        assert values.tolist() == [[1.0, -2.5], [2.0, 0.0]]
        assert np.array_equal(back, bits.T)


class TestErrorMeasure:
    def test_normalised_rms(self):
        """An error of 0.5 on values of RMS 2 is 0.25; against zeros the error itself; of nothing, zero."""
        assert normalised_rms(np.array([2.5, 1.5]), np.array([2.0, 2.0])) == 0.25
        assert normalised_rms(np.array([3.0, 3.0]), np.zeros(2)) == 3.0
        assert normalised_rms(np.zeros(0), np.zeros(0)) == 0.0
