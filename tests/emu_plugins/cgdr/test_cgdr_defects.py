"""Defects of shipped kernels: each comes back under its id, and the default has none."""

from __future__ import annotations

import numpy as np
import pytest

from emu_core.errors import DeviceFault, OptionError
from emu_core.policies import PolicySet
from emu_plugins.accuracy import normalised_rms
from emu_plugins.cgdr.defects import AS_SHIPPED, VALUES, defects_of
from emu_plugins.cgdr.kernel import run_float16
from emu_plugins.cgdr.policies import POLICIES
from emu_plugins.cgdr.reference import reference


def _arrays(t, h, dk, dv, *, seed=1, lengths=None):
    """Normalised q and k, normal values, beta a sigmoid of 1.5 * normal, g uniform in (-1, 0)."""
    rng = np.random.default_rng(seed)

    def unit(*shape):
        x = rng.standard_normal(shape)
        return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float16)

    lengths = [t] if lengths is None else lengths
    return {
        "query": unit(t, h, dk), "key": unit(t, h, dk), "value": rng.standard_normal((t, h, dv)).astype(np.float16),
        "beta": (1 / (1 + np.exp(-1.5 * rng.standard_normal((t, h))))).astype(np.float16),
        "g": -rng.random((t, h)).astype(np.float32), "scale": np.float32(dk**-0.5),
        "initial_state": (0.3 * rng.standard_normal((len(lengths), h, dv, dk))).astype(np.float16),
        "actual_seq_lengths": np.array(lengths, np.int32),
    }  # fmt: skip


def _run(make_board, arrays, defects="none"):
    made = make_board(arrays, {"cgdr.defects": defects})
    run_float16(made.launch())
    return made


def _cosine(found, want):
    found = found.astype(np.float64)
    return float((found * want).sum() / np.sqrt((found**2).sum() * (want**2).sum()))


class TestPolicy:
    @pytest.mark.parametrize(
        ("value", "ids"),
        [("none", set()), ("as_shipped", AS_SHIPPED), ("D3", {"D3"}), ("D1,D4,D6", {"D1", "D4", "D6"})],
    )
    def test_values(self, value, ids):
        """None, the shipped set, one id, or a list of ids."""
        assert PolicySet(POLICIES, {"cgdr.defects": value})["cgdr.defects"] == value
        assert defects_of(value) == ids

    @pytest.mark.parametrize("value", ["", "D8", "D1,D1", "D1,none", "d3", "D1 D2"])
    def test_refused_values(self, value):
        """Unknown ids, an id twice, words in a list and other separators are refused."""
        with pytest.raises(OptionError) as caught:
            PolicySet(POLICIES, {"cgdr.defects": value})
        assert caught.value.id == "policy.value"

    def test_only_words_are_values(self):
        """What is no text is no value."""
        assert 3 not in VALUES
        assert "D3,D4" in VALUES

    def test_the_shipped_set(self):
        """The stored versions have D3, D4, D5 and D7."""
        assert defects_of("as_shipped") == {"D3", "D4", "D5", "D7"}


class TestInverseScratch:
    @pytest.mark.parametrize("defects", ["D3", "as_shipped"])
    def test_recorded_failure(self, make_board, defects):
        """512 tokens, two heads of 64: cosine about 0.9996, normalised RMS about 0.027, beyond the limit of 0.02."""
        arrays = _arrays(512, 2, 64, 64)
        out = _run(make_board, arrays, defects).out()
        want = reference(arrays, float(arrays["scale"]))["out"]
        assert 0.9995 < _cosine(out, want) < 0.9997
        assert 0.025 < normalised_rms(out, want) < 0.029

    def test_default_does_not_fail(self, make_board):
        """Corrected, the same launch has a normalised RMS of about 3.6e-4."""
        arrays = _arrays(512, 2, 64, 64)
        want = reference(arrays, float(arrays["scale"]))["out"]
        assert normalised_rms(_run(make_board, arrays).out(), want) <= 5e-4

    def test_rows_of_the_first_chunk(self, make_board):
        """In the first chunk rows 1 to 15 are wrong, row 0 and rows 16 to 63 are not touched."""
        arrays = _arrays(64, 1, 64, 64)
        sound, broken = _run(make_board, arrays).out(), _run(make_board, arrays, "D3").out()
        differs = (sound != broken).any(axis=(1, 2))
        # Row i of out uses rows up to i of V', so later rows inherit the error through P.
        assert not differs[0]
        assert differs[1:16].all()

    @pytest.mark.parametrize("dk", [80, 96, 128])
    def test_wider_buckets_have_room(self, make_board, dk):
        """Five segments of 1024 floats fit a V tile of 80 columns or more."""
        arrays = _arrays(64, 1, dk, 64)
        assert np.array_equal(_run(make_board, arrays).out(), _run(make_board, arrays, "D3").out())


class TestBetaStaging:
    def test_few_values_survive(self, make_board):
        """Up to 64 values are widened in one go."""
        arrays = _arrays(64, 1, 32, 32)
        assert np.array_equal(_run(make_board, arrays).out(), _run(make_board, arrays, "D1").out())

    def test_more_are_overwritten(self, make_board):
        """With two heads the first 32 tokens keep their beta, the later ones do not."""
        arrays = _arrays(64, 2, 32, 32)
        sound, broken = _run(make_board, arrays).out(), _run(make_board, arrays, "D1").out()
        assert np.array_equal(sound[:32], broken[:32])
        assert (sound[33] != broken[33]).any()


class TestOutputRows:
    def test_zeros_spill_onto_the_next_token(self, make_board):
        """Two heads of 20 on one core: the last head's row ends 12 zeros into the next token, whose head 0 was done."""
        arrays = _arrays(66, 2, 16, 20, lengths=[65])
        made = make_board(arrays, {"cgdr.defects": "D4"})
        run_float16(made.launch(block_dim=1))
        sound = _run(make_board, arrays).out()
        broken = made.out()
        assert (broken[1:65, 0, :12] == 0).all()
        assert np.array_equal(broken[1:65, 0, 12:], sound[1:65, 0, 12:])
        assert np.array_equal(broken[:65, 1], sound[:65, 1])
        assert np.array_equal(broken[0], sound[0])

    def test_one_head_repairs_itself(self, make_board):
        """With one head each row is written after the one that spilled onto it; only what lies behind keeps zeros."""
        arrays = _arrays(66, 1, 16, 20, lengths=[65])
        broken, sound = _run(make_board, arrays, "D4"), _run(make_board, arrays)
        assert np.array_equal(broken.out()[:65], sound.out()[:65])
        assert broken.board.memory.unwritten(broken.words[7] + 65 * 40, 24) is None
        assert sound.board.memory.unwritten(sound.words[7] + 65 * 40, 24) == sound.words[7] + 65 * 40

    @pytest.mark.parametrize("dv", [63, 20])
    def test_last_row_leaves_the_tensor(self, make_board, dv):
        """The very last row goes past the end of `out`, up to 30 bytes: a fault with its name."""
        made = make_board(_arrays(64, 1, 16, dv), {"cgdr.defects": "as_shipped"})
        with pytest.raises(DeviceFault) as caught:
            run_float16(made.launch())
        assert caught.value.id == "memory.bounds"
        over = 2 * (-dv % 16)
        assert f"{over} bytes past the end of out" in caught.value.what

    def test_whole_blocks_do_not_spill(self, make_board):
        """Widths that are multiples of 16 are stored at once."""
        arrays = _arrays(64, 2, 16, 32)
        assert np.array_equal(_run(make_board, arrays).out(), _run(make_board, arrays, "D4").out())


class TestOthers:
    def test_final_state_of_the_wrong_shape(self, make_board):
        """D6: one element per sequence is given, the first write is a whole slice."""
        with pytest.raises(DeviceFault) as caught:
            _run(make_board, _arrays(64, 2, 16, 32), "D6")
        assert caught.value.id == "cgdr.state-shape"
        assert "2 bytes at" in caught.value.what
        assert "writes 2048" in caught.value.what

    @pytest.mark.parametrize("defects", ["D2", "D5,D7"])
    def test_defects_without_values(self, make_board, defects):
        """D2, D5 and D7 change no value, and the slice of an empty sequence stays unwritten either way."""
        arrays = _arrays(70, 2, 16, 16, lengths=[0, 70])
        made, sound = _run(make_board, arrays, defects), _run(make_board, arrays)
        assert np.array_equal(made.out(), sound.out())
        for each in (made, sound):
            assert each.board.memory.unwritten(each.words[8], 2) == each.words[8]
