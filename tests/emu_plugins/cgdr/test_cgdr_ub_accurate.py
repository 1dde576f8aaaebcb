"""UB as bytes: the values of the arrays where the layout is right, those of the overlap where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core.errors import DeviceFault
from emu_plugins.cgdr.chunk_buffers import Columns
from emu_plugins.cgdr.codecs import CODECS
from emu_plugins.cgdr.faithful import settings_of
from emu_plugins.cgdr.fp32 import SequenceArrays
from emu_plugins.cgdr.item_group import ItemGroup
from emu_plugins.cgdr.kernel import run_float16
from emu_plugins.cgdr.tiling import ShapeDims, tile
from emu_plugins.cgdr.tiling_data import CgdrTilingData
from emu_plugins.cgdr.ub_item import STEPS, UbItem
from emu_plugins.cgdr.ub_layout import UbLayout
from emu_plugins.cgdr.ub_memory import UbMemory, UbOverrunError

OFFSETS = {
    64: (0, 16384, 32768, 49152, 65536, 81920, 98304, 98560, 98816, 99072, 99328, 99584),
    80: (0, 20480, 40960, 57344, 77824, 103424, 123904, 124160, 124480, 124800, 125056, 125312),
    96: (0, 24576, 49152, 65536, 90112, 126976, 151552, 151808, 152192, 152576, 152832, 153088),
    128: (0, 32768, 65536, 81920, 114688, 180224, 212992, 213248, 213760, 214272, 214528, 214784),
}
"""Byte offsets inside the big buffer, and its end (`reference/cgdr.md` 7)."""

SHAPES = {
    "full chunk, odd widths": ([64], 1, 2, 63, 63),
    "two chunks of the 80 bucket": ([128], 1, 1, 80, 80),
    "V tiles of the 96 bucket, lengths": ([64, 3, 0, 66], 1, 1, 96, 160),
    "widest, tail of 2": ([66], 1, 1, 128, 128),
    "V step over Dv": ([64], 1, 3, 64, 40),
    "no bucket": ([65], 1, 1, 136, 16),
}


def random_arrays(lengths, hqk, hv, dk, dv, *, seed=0):
    """Keys and queries of length 1, beta in (0, 1), g in (-1, 0)."""
    rng = np.random.default_rng(seed)
    t = sum(lengths)

    def unit(*shape):
        x = rng.standard_normal(shape)
        return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float16)

    return {
        "query": unit(t, hqk, dk), "key": unit(t, hqk, dk),
        "value": rng.standard_normal((t, hv, dv)).astype(np.float16), "beta": rng.random((t, hv)).astype(np.float16),
        "initial_state": (0.3 * rng.standard_normal((len(lengths), hv, dv, dk))).astype(np.float16),
        "actual_seq_lengths": np.array(lengths, np.int32), "scale": np.float32(dk**-0.5),
        "g": -rng.random((t, hv), np.float32),
    }  # fmt: skip


def results(make_board, arrays, **policies):
    """Bytes of out, final state and used workspace."""
    made = make_board(arrays, {f"cgdr.{name}": value for name, value in policies.items()})
    run_float16(made.launch())
    workspace = made.board.memory.read(made.words[9], made.tiling.workspace_need)
    return made.out().tobytes(), made.final_state().tobytes(), workspace


class Item:
    """One head of one sequence outside a launch, as arrays and in UB."""

    def __init__(self, policies, dk=80, dv=80, tokens=64):
        arrays = random_arrays([tokens], 1, 1, dk, dv)
        tiling = tile(ShapeDims(tokens, 1, dk, 1, dv, 1), cores=8, ub_bytes=262144, has_gamma=True, scale_value=0.1)
        data = CgdrTilingData.unpack(tiling.tiling_data())
        self.settings = settings_of(data, tiling.tiling_key, policies)
        self.arrays = arrays
        self.columns = Columns(0, 0, 0, min(dv, tiling.v_step))

    def _sequence(self):
        a, codec = self.arrays, CODECS["float16"]
        out = np.zeros_like(a["value"])
        final = np.zeros_like(a["initial_state"][0])
        return SequenceArrays(
            a["query"], a["key"], a["value"], a["beta"], a["g"], a["initial_state"][0], out, final, 0.1, codec, codec
        )

    def expected(self):
        """By arrays."""
        sequence = self._sequence()
        ItemGroup(self.settings, sequence, [self.columns]).run()
        return sequence.out, sequence.final_state

    def in_ub(self, size=262144, **choices):
        """In UB: both results, and the overlaps."""
        sequence, ub = self._sequence(), UbMemory(size)
        UbItem(self.settings, sequence, self.columns, ub, **choices).run()
        return sequence.out, sequence.final_state, ub.overlaps


@pytest.fixture
def item(make_board):
    """An item of Dk = Dv = 80 with the default policies."""
    policies = make_board(random_arrays([1], 1, 1, 16, 16)).board.policies
    return lambda **shape: Item(policies, **shape)


class TestLayout:
    @pytest.mark.parametrize("width", OFFSETS)
    def test_offsets_of_every_bucket(self, width):
        """The big buffer lies behind the out queue and is cut as the reference's table says."""
        layout = UbLayout.of(width, width)
        queue = 2 * width * width if width > 64 else 8192
        assert [place.offset - queue for place in layout.places[1:]] == list(OFFSETS[width][:-1])
        assert layout.end - queue == OFFSETS[width][-1]
        assert list(layout.clashes(262144)) == []

    def test_a_small_ub_is_named(self):
        """For the 80 bucket 138112 bytes are enough, and with one byte less the last buffer passes the end."""
        layout = UbLayout.of(80, 80)
        assert list(layout.clashes(138112)) == []
        assert list(layout.clashes(138111)) == ["beta [137856, 138112) passes the end of UB at 138111 by 1 bytes"]


class TestRightLayout:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_all_bytes_are_those_of_the_arrays(self, make_board, shape):
        """Outputs, float32 states and staging slots are the same bytes, and no buffer overlaps another."""
        arrays = random_arrays(*SHAPES[shape])
        assert results(make_board, arrays, ub="checked") == results(make_board, arrays)

    @pytest.mark.parametrize("product", ["four_term", "plain_fp16"])
    def test_every_product(self, make_board, product):
        """The other products give the same bytes too."""
        arrays = random_arrays([64], 1, 1, 96, 96)
        assert results(make_board, arrays, ub="checked", product=product) == results(
            make_board, arrays, product=product
        )

    def test_without_a_log_decay(self, make_board):
        """An absent g is zero in UB as well."""
        arrays = random_arrays([70], 1, 1, 16, 16)
        del arrays["g"]
        assert results(make_board, arrays, ub="checked") == results(make_board, arrays)

    def test_blocked_inverse_without_a_bucket(self, make_board):
        """The Cube's inverse in an instance whose other steps are on the Vector unit."""
        arrays, choice = random_arrays([64], 1, 1, 129, 112), {"fallback_inverse": "blocked"}
        assert results(make_board, arrays, ub="checked", **choice) == results(make_board, arrays, **choice)

    def test_spilled_rows(self, make_board):
        """Defect D4 spills the same zeros."""
        arrays = random_arrays([5], 1, 2, 16, 24)
        arrays["actual_seq_lengths"][:] = 4  # the last token's row would spill past the tensor
        assert results(make_board, arrays, ub="accurate", defects="D4") == results(make_board, arrays, defects="D4")


class TestDefectsThatAreOverlaps:
    @pytest.mark.parametrize(("defect", "shape"), [("D1", ([64], 1, 4, 16, 16)), ("D3", ([64], 1, 1, 64, 64))])
    def test_the_bytes_give_the_modelled_values(self, make_board, defect, shape):
        """What D1 and D3 compute as a rule is what falls out of the bytes when buffers lie as shipped."""
        arrays = random_arrays(*shape)
        shown = results(make_board, arrays, ub="accurate", defects=defect)
        assert shown == results(make_board, arrays, defects=defect)
        assert shown != results(make_board, arrays)

    def test_d3_names_both_buffers(self, make_board):
        """The fifth segment of the last level covers 4096 bytes of the scores, which start at 8192 + 65536."""
        made = make_board(random_arrays([64], 1, 1, 64, 64), {"cgdr.ub": "checked", "cgdr.defects": "D3"})
        with pytest.raises(DeviceFault) as caught:
            run_float16(made.launch())
        assert caught.value.id == "cgdr.ub-overlap"
        assert "scores/state: scores [73728, 90112)" in caught.value.what
        assert "chunkV: inverse product [73728, 77824)" in caught.value.what

    def test_d1_names_both_buffers(self, make_board):
        """The float32 image overwrites the float16 values behind it in chunkV, at 8192 + 49152."""
        made = make_board(random_arrays([64], 1, 4, 16, 16), {"cgdr.ub": "checked", "cgdr.defects": "D1"})
        with pytest.raises(DeviceFault) as caught:
            run_float16(made.launch())
        assert "chunkV: beta as float16 [57344, 57856)" in caught.value.what
        assert "chunkV: slab [57344, 58368)" in caught.value.what


class TestWrongLayout:
    def test_the_buffers_are_right_by_default(self, item):
        """Without a mutation the item gives the arrays' values and no overlap."""
        made = item()
        out, final, overlaps = made.in_ub()
        assert overlaps == ()
        for got, expected in zip((out, final), made.expected(), strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_a_bucket_one_smaller(self, item):
        """Rows of 80 in buffers cut for 64: K reaches 4096 bytes into beta K, which is written later."""
        made = item()
        out, _, overlaps = made.in_ub(layout=UbLayout.of(64, 64))
        assert not np.array_equal(out, made.expected()[0])
        first = {(o.reader.name, o.writer.name): o for o in overlaps}["chunkK: K", "kCumdecay: beta K"]
        assert (first.reader.offset, first.reader.size) == (8192, 20480)
        assert (first.writer.offset, first.writer.size) == (8192 + 16384, 20480)
        assert (first.first, first.bytes) == (8192 + 16384, 4096)

    def test_a_v_step_one_smaller(self, item):
        """V tiles of 80 columns in buffers cut for 64: the end of V is under the scores or the state."""
        made = item()
        out, _, overlaps = made.in_ub(layout=UbLayout.of(80, 64))
        assert not np.array_equal(out, made.expected()[0])
        pairs = {(o.reader.name, o.writer.name) for o in overlaps}
        assert ("chunkV: V", "scores/state: state") in pairs or ("scores/state: scores", "chunkV: V") in pairs

    def test_the_state_loaded_before_the_scores_are_dead(self, item):
        """Scores and state share their place; loaded too early, the state replaces all 16384 bytes of the scores."""
        made = item()
        order = [step for step in STEPS if step != "load_state"]
        order.insert(order.index("inverse"), "load_state")
        out, _, overlaps = made.in_ub(order=order)
        assert not np.array_equal(out, made.expected()[0])
        first = overlaps[0]
        assert (first.reader.name, first.writer.name) == ("scores/state: scores", "scores/state: state")
        assert first.reader.offset == first.writer.offset == 12800 + 77824
        assert (first.reader.size, first.writer.size) == (16384, 25600)
        assert first.step == "inverse"

    def test_a_step_that_is_left_out_reads_what_nobody_wrote(self, item):
        """Bytes that nobody wrote are named as such."""
        made = item()
        _, _, overlaps = made.in_ub(order=[step for step in STEPS if step != "coefficients"])
        assert overlaps[0].writer.text() == "nothing yet"
        assert overlaps[0].reader.name == "gCumsum: G"
        assert overlaps[0].bytes == 256

    def test_a_ub_that_is_too_small(self, item):
        """A buffer past the end of UB stops the item, with its place."""
        made = item()
        with pytest.raises(UbOverrunError) as caught:
            made.in_ub(size=138111)
        assert caught.value.place.end == 138112

    def test_as_a_fault(self, make_board):
        """A launch whose chip has less UB than its tiling was made for."""
        made = make_board(random_arrays([3], 1, 1, 16, 16), {"cgdr.ub": "accurate"})
        made.board.chip = replace(made.board.chip, ub_bytes=100000)
        with pytest.raises(DeviceFault) as caught:
            run_float16(made.launch())
        assert caught.value.id == "cgdr.ub"
        assert "passes the end of UB at 100000" in caught.value.what
