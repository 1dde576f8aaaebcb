"""Errors of the device's arithmetic against the stored float64 results, as a whole and stage by stage."""

from __future__ import annotations

import numpy as np
import pytest

from emu_plugins.accuracy import normalised_rms
from emu_plugins.cgdr.chunk_buffers import Columns
from emu_plugins.cgdr.codecs import CODECS
from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.fp32 import SequenceArrays
from emu_plugins.cgdr.item_group import ItemGroup, Settings
from emu_plugins.cgdr.items import live_sequences
from emu_plugins.cgdr.kernel import run_float16
from emu_plugins.cgdr.numerics import Numerics
from emu_plugins.cgdr.paths import VECTOR_STEPS, Geometry, full_chunk_steps


def largest(found, want):
    """Largest error over largest reference."""
    return float(np.abs(found.astype(np.float64) - want).max() / np.abs(want).max())


class TestTwoTerm:
    def test_stored_cases(self, make_board, load_case, case_name):
        """Out and state stay within 5e-4 in normalised RMS and 1.2e-3 in largest error; nothing unwritten is read."""
        arrays = load_case(case_name)
        made = make_board(arrays)
        run_float16(made.launch())
        for found, name in ((made.out(), "out"), (made.final_state(), "final_state")):
            assert normalised_rms(found, arrays[name]) <= 5e-4
            assert largest(found, arrays[name]) <= 1.2e-3
        assert made.board.unwritten == []

    def test_the_low_half_is_worth_something(self, load_case):
        """Before the cast, dropping the low halves costs at least a quarter more error (2.9e-4 against 4.2e-4)."""
        two, plain = (_before_cast(load_case("c04_dk80_dv80"), Numerics(product=p)) for p in ("two_term", "plain_fp16"))
        assert 2e-4 < two["out"] < 3.2e-4
        assert plain["out"] > 1.25 * two["out"]

    def test_four_terms_everywhere(self, load_case):
        """Splitting the right operand too leaves at most 1e-5 before the cast."""
        assert _before_cast(load_case("c04_dk80_dv80"), Numerics(product="four_term"))["out"] <= 1e-5

    def test_accumulation_in_float64(self, load_case):
        """Sums in float64 change the error by less than a twentieth: rounding of operands is what is left."""
        arrays = load_case("c07_dk128_dv128_gqa_nog")
        single, double = (_before_cast(arrays, Numerics(accumulate=a))["out"] for a in ("fp32", "fp64"))
        assert single == pytest.approx(double, rel=0.05)

    def test_other_exponential(self, load_case):
        """The source of the exponential is far below the rounding of operands."""
        arrays = load_case("c09_dk128_dv128_strongg")
        ours, exact = (_before_cast(arrays, Numerics(exp_source=e))["out"] for e in ("numpy", "float64"))
        assert ours == pytest.approx(exact, rel=0.05)


class TestVectorPath:
    @pytest.mark.parametrize("fma", [False, True], ids=["twice", "fused"])
    def test_wide_heads_before_and_after_the_cast(self, make_board, load_case, fma):
        """Heads without a bucket stay within 2e-6 before the cast and 2.5e-4 after it, fused or not."""
        arrays = load_case("c08_dk144_dv64_fallback")
        errors = _before_cast(arrays, Numerics(fma=fma))
        assert max(errors.values()) <= 2e-6
        made = make_board(arrays, {"cgdr.fma": "on" if fma else "off"})
        run_float16(made.launch())
        assert normalised_rms(made.out(), arrays["out"]) <= 2.5e-4
        assert normalised_rms(made.final_state(), arrays["final_state"]) <= 2.5e-4

    def test_stored_cases_without_the_cube(self, load_case, case_name):
        """Every case, its full chunks forced onto the Vector unit, stays within 2e-6 before the cast."""
        assert max(_before_cast(load_case(case_name), Numerics(), VECTOR_STEPS).values()) <= 2e-6


class TestStages:
    @pytest.mark.parametrize(
        ("numerics", "steps", "exact", "rounded"),
        [
            (Numerics(), None, 2e-6, 5e-4),
            (Numerics(product="four_term"), None, 2e-6, 1e-5),
            (Numerics(), VECTOR_STEPS, 2e-6, 2e-6),
        ],
        ids=["two_term", "four_term", "vector"],
    )
    def test_stored_intermediates(self, load_case, numerics, steps, exact, rounded):
        """Two chunks of one head match the stored tensors stage by stage; rounding starts where B is rounded, at W."""
        arrays, want = load_case("c04_dk80_dv80"), load_case("x04_intermediates_dk80_head0")
        seen = _observed(arrays, numerics, steps)
        for c in range(2):
            stages = {name: value[c] for name, value in want.items()}
            for name in ("g_cumsum", "decay", "A", "U", "attn_i"):
                assert normalised_rms(seen[name][c], stages[name]) <= exact, name
            for name in ("k_cumdecay", "v_new", "out", "state_after"):
                assert normalised_rms(seen[name][c], stages[name]) <= rounded, name
            # V' is one accumulator, so U (beta V) is no stage of its own; it follows from two that are.
            assert normalised_rms(seen["U"][c] @ seen["v"][c], stages["u_vbeta"]) <= exact


def _sequences(arrays, steps_given, numerics, observe=None):
    """The sequences of a case in float32 at both ends; yields outputs with what they should be."""
    t, hqk, dk = arrays["query"].shape
    hv, dv = arrays["value"].shape[1:]
    width = next((w for w in (64, 80, 96, 128) if dk <= w), 96)
    k = width if dk <= width else -(-dk // 16) * 16
    v_step = width if dk <= width else -(-dv // 16) * 16
    geometry = Geometry(width, k, v_step, dk, dv, hv, v_step, float(arrays["scale"]))
    steps = full_chunk_steps(geometry) if steps_given is None else steps_given
    out, final = np.zeros((t, hv, dv), np.float32), np.zeros(arrays["initial_state"].shape, np.float32)
    for sequence in live_sequences(arrays["actual_seq_lengths"].tolist()):
        rows = slice(sequence.start, sequence.start + sequence.length)
        given = SequenceArrays(
            **{name: arrays[name][rows] for name in ("query", "key", "value", "beta")},
            g=arrays["g"][rows] if "g" in arrays else None, initial_state=arrays["initial_state"][sequence.batch],
            out=out[rows], final_state=final[sequence.batch], scale=float(arrays["scale"]), codec=CODECS["float16"],
            out_codec=CODECS["float32"],
        )  # fmt: skip
        states = np.full((hv, dk, geometry.state_stride), np.nan, np.float32)
        for h in range(hv):
            items = [Columns(h, h * hqk // hv, v, min(v_step, dv - v)) for v in range(0, dv, v_step)]
            ItemGroup(Settings(geometry, numerics, steps), given, items, states, observe=observe).run()
            observe = None
    return out, final


def _before_cast(arrays, numerics, steps=None):
    """Normalised RMS of out and state before they become float16."""
    out, final = _sequences(arrays, steps, numerics)
    found = {"out": out, "final_state": final}
    return {name: normalised_rms(found[name], arrays[name]) for name in found}


def _observed(arrays, numerics, steps):
    """The stages of head 0, by the names of the stored tensors."""
    seen: dict[str, list[np.ndarray]] = {}

    def observe(stage, start, b):
        parts = {
            "loaded": {"g_cumsum": b.g, "decay": np.tril(b.decay), "v": b.v},
            "scores": {"A": b.u, "attn_i": b.products[:, CHUNK_SIZE:]},
            "inverse": {"U": b.u},
            "w": {"k_cumdecay": b.w},
            "v_new": {"v_new": b.v_new},
            "out": {"out": b.out},
            "state": {"state_after": b.state},
        }
        for name, value in parts[stage].items():
            seen.setdefault(name, []).append(value[0].copy())

    _sequences(arrays, steps, numerics, observe)
    return seen
