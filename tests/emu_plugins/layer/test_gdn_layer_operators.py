"""Each operator of the layer alone: values by hand or in float64, shapes that are refused, launches that cannot run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core import DeviceFault, KernelLaunch, ShapeError, TensorInfo, TilingError
from emu_core.memory import DeviceMemory, TaskMemory
from emu_core.policies import PolicySet
from emu_plugins.accuracy import normalised_rms
from emu_plugins.layer import OPS
from emu_plugins.layer.launching import Plan
from emu_plugins.layer.shapes import Heads

BY_TYPE = {op.type: op for op in OPS}
HALF, ROUNDING = np.float16, 3e-4
HEADS = {"key_heads": 2, "value_heads": 4, "key_width": 2, "value_width": 1}


def rng(seed=0):
    """A generator."""
    return np.random.Generator(np.random.PCG64(seed))


def halves(*shape, seed=0):
    """Normal float16 values."""
    return rng(seed).standard_normal(shape).astype(HALF)


def f16(*shape):
    """A float16 tensor."""
    return TensorInfo("float16", shape)


def f32(*shape):
    """A float32 tensor."""
    return TensorInfo("float32", shape)


class TestLinear:
    @pytest.mark.parametrize("tokens", [1, 3, 20])
    @pytest.mark.parametrize("columns", [5, 33])
    def test_product(self, run_one, tokens, columns):
        """Output y is x times the transposed weight, whether blocks share rows or columns."""
        x, w = halves(tokens, 7), halves(columns, 7, seed=1)
        (y,) = run_one("GdnLinear", [x, w], 1)
        assert normalised_rms(y, x.astype(float) @ w.astype(float).T) < ROUNDING

    def test_bfloat16(self, run_one):
        """1.5 times 2 is 3 in bfloat16, whose bits travel as uint16: 0x3FC0, 0x4000, 0x4040."""
        x, w = np.array([[0x3FC0]], np.uint16), np.array([[0x4000]], np.uint16)
        (y,) = run_one("GdnLinear", [x, w], 1, dtype="bfloat16", chip="ascend910b3")
        assert y.tolist() == [[0x4040]]


class TestSplit:
    def test_places(self, run_one):
        """Row 0 .. 15 of qkvz: per key head q, q, k, k, v, v, z, z; ba: per key head b, b, a, a."""
        qkvz, ba = np.arange(16, dtype=HALF)[None], np.arange(8, dtype=HALF)[None]
        mixed, z, b, a = run_one("GdnSplit", [qkvz, ba], 4, **HEADS)
        assert mixed.tolist() == [[0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13]]
        assert z[..., 0].tolist() == [[6, 7, 14, 15]]
        assert (b.tolist(), a.tolist()) == ([[0, 1, 4, 5]], [[2, 3, 6, 7]])


class TestConv:
    WEIGHT = np.array([[1, 10, 100]], HALF)
    STATE = np.array([[[5, 6]], [[7, 8]]], HALF)

    def test_by_hand(self, run_one):
        """Taps 1, 10, 100 over 5 6 | 1 2 3 give 165, 216, 321; over 7 8 | 4, 487; the state is the last two rows."""
        x = np.array([[1], [2], [3], [4]], HALF)
        y, final = run_one("GdnCausalConv1d", [x, self.WEIGHT, self.STATE, np.array([3, 1], np.int32)], 2, silu=0)
        assert y[:, 0].tolist() == [165, 216, 321, 487]
        assert final[:, 0].tolist() == [[2, 3], [8, 4]]

    def test_a_sequence_without_tokens_keeps_its_state(self, run_one):
        """Lengths 0 and 1: the first state is handed on as it was."""
        x = np.array([[4]], HALF)
        y, final = run_one("GdnCausalConv1d", [x, self.WEIGHT, self.STATE, np.array([0, 1], np.int32)], 2, silu=0)
        assert (y[:, 0].tolist(), final[:, 0].tolist()) == ([487], [[5, 6], [8, 4]])

    def test_silu(self, run_one):
        """SiLU of 2 is 2 / (1 + exp(-2)) = 1.7616, by default."""
        x, w = np.array([[2]], HALF), np.array([[0, 1]], HALF)
        y, _ = run_one("GdnCausalConv1d", [x, w, np.zeros((1, 1, 1), HALF), np.array([1], np.int32)], 2)
        assert y[0, 0] == HALF(1.7615942)

    @settings(max_examples=15, deadline=None)
    @given(st.lists(st.integers(1, 6), min_size=2, max_size=6), st.integers(2, 4))
    def test_calls_in_parts_are_one_call(self, run_one, parts, taps):
        """A sequence in parts, each from the state of the last, has the bits of the sequence in one call."""
        x, w = halves(sum(parts), 3), halves(3, taps, seed=1)
        start = halves(1, 3, taps - 1, seed=2)
        whole, end = run_one("GdnCausalConv1d", [x, w, start, np.array([len(x)], np.int32)], 2)
        rows, state, at = [], start, 0
        for n in parts:
            y, state = run_one("GdnCausalConv1d", [x[at : at + n], w, state, np.array([n], np.int32)], 2)
            rows.append(y)
            at += n
        assert np.concatenate(rows).tobytes() == whole.tobytes()
        assert state.tobytes() == end.tobytes()

    @pytest.mark.parametrize("lengths", [[2, 1], [-1, 1]])
    def test_lengths_that_do_not_fit(self, run_one, lengths):
        """Three tokens of two, and a negative length, are the fault layer.tokens."""
        x = np.zeros((2, 1), HALF)
        result = run_one("GdnCausalConv1d", [x, self.WEIGHT, self.STATE, np.array(lengths, np.int32)], 2)
        assert next(fault.id for fault in result.faults) == "layer.tokens"


def test_qkv_norm(run_one):
    """A head 3, 4 becomes 0.6, 0.8; zeros stay zeros; the values are moved only."""
    mixed = np.array([[3, 4, 0, 0, -3, 4, 6, 8, 1, 2, 3, 4]], HALF)
    query, key, value = run_one("GdnQkvNorm", [mixed], 3, **HEADS)
    assert query.tolist() == [[[HALF(0.6), HALF(0.8)], [0, 0]]]
    assert key.tolist() == [[[HALF(-0.6), HALF(0.8)], [HALF(0.6), HALF(0.8)]]]
    assert value[..., 0].tolist() == [[1, 2, 3, 4]]


def test_gate(run_one):
    """Softplus and sigmoid in float64, up to arguments whose exponential leaves float32 (least: 1.4e-45)."""
    a = np.array([[-200, -1, 0, 1, 200]], HALF)
    b = np.array([[-3, 0, 1, 30, -30]], HALF)
    a_log, bias = np.array([0, 1, -1, 0.5, 0], np.float32), np.array([0, 0.5, 0, -2, 1], np.float32)
    g, beta = run_one("GdnGate", [a, b, a_log, bias], 2)
    expected = -np.exp(a_log.astype(float)) * np.logaddexp(0, a.astype(float) + bias)
    np.testing.assert_allclose(g, expected, rtol=2e-6, atol=1.5e-45)
    np.testing.assert_allclose(beta, 1 / (1 + np.exp(-b.astype(float))), rtol=5e-4, atol=1e-7)
    assert (g.dtype, beta.dtype) == (np.float32, HALF)


def test_gated_norm(run_one):
    """Each head over its root mean square, weighted, times z sigmoid(z); y is flat."""
    x, z, w = halves(9, 3, 8), halves(9, 3, 8, seed=1), halves(8, seed=2)
    (y,) = run_one("GdnGatedRmsNorm", [x, z, w], 1, eps=1e-5)
    x64, z64 = x.astype(float), z.astype(float)
    expected = w * x64 / np.sqrt((x64**2).mean(2, keepdims=True) + 1e-5) * z64 / (1 + np.exp(-z64))
    assert y.shape == (9, 24)
    assert normalised_rms(y, expected.reshape(9, 24)) < ROUNDING


LENS = TensorInfo("int32", (2,))
REFUSED = [
    ("GdnLinear", (f16(3, 4), f16(5, 6)), {}, "weight"),
    ("GdnLinear", (f16(3, 4), TensorInfo("bfloat16", (5, 4))), {}, "weight"),
    ("GdnLinear", (None, f16(5, 4)), {}, "x"),
    ("GdnLinear", (f32(3, 4), f32(5, 4)), {}, "x"),
    ("GdnSplit", (f16(1, 15), f16(1, 8)), HEADS, "qkvz"),
    ("GdnSplit", (f16(1, 16), f16(2, 8)), HEADS, "ba"),
    ("GdnSplit", (f16(1, 16), f16(1, 8)), {**HEADS, "value_heads": 3}, ""),
    ("GdnCausalConv1d", (f16(3, 1), f16(1, 1), f16(2, 1, 0), LENS), {}, "weight"),
    ("GdnCausalConv1d", (f16(3, 1), f16(1, 3), f16(2, 1, 3), LENS), {}, "conv_state"),
    ("GdnCausalConv1d", (f16(3, 1), f16(1, 3), f16(3, 1, 2), LENS), {}, "actual_seq_lengths"),
    ("GdnQkvNorm", (f16(3, 11),), HEADS, "mixed"),
    ("GdnGate", (f16(3, 2), f16(3, 2), f16(2), f32(2)), {}, "a_log"),
    ("GdnGatedRmsNorm", (f16(3, 2, 4), f16(3, 2, 5), f16(4)), {}, "z"),
    ("GdnGatedRmsNorm", (f16(3, 0, 4), f16(3, 0, 4), f16(4)), {}, "x"),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "inputs", "attrs", "blamed"), REFUSED)
def test_shapes_that_are_refused(op_type, inputs, attrs, blamed):
    """A wrong shape, element type or head count names the input."""
    with pytest.raises(ShapeError) as caught:
        BY_TYPE[op_type].infer(inputs, attrs)
    assert caught.value.input == blamed


@pytest.mark.parametrize("weight", [f16(-2), f16(6, -1)])
def test_a_state_without_columns_is_told_how_many_it_needs(weight):
    """With an unknown number of taps, the refusal of a state of 0 columns says 2 taps, and so 1 column, at least."""
    with pytest.raises(ShapeError) as caught:
        BY_TYPE["GdnCausalConv1d"].infer((f16(-2), weight, f16(-1, 6, 0), LENS), {})
    assert (caught.value.input, caught.value.what) == ("conv_state", "shape [-1, 6, 0] has no columns")
    assert caught.value.remedy.startswith("use 1 column or more: 2 taps are the fewest")


def test_an_empty_axis_is_not_told_to_be_any():
    """An axis of 0 that may have any length from 1 is told so."""
    with pytest.raises(ShapeError) as caught:
        BY_TYPE["GdnGatedRmsNorm"].infer((f16(3, 0, 4), f16(3, 0, 4), f16(4)), {})
    assert "1 or more" in caught.value.remedy
    assert "any" not in caught.value.remedy


def test_unknown_dimensions_go_through():
    """An unknown number of tokens stays unknown, and an unknown rank takes what the other inputs say."""
    infer = BY_TYPE["GdnLinear"].infer
    assert infer((f16(-1, 4), f16(5, 4)), {}) == (f16(-1, 5),)
    assert infer((f16(-2), f16(5, 4)), {}) == (f16(-1, 5),)
    norm = BY_TYPE["GdnGatedRmsNorm"].infer
    assert norm((f16(-1, 2, 4), f16(-2), f16(4)), {}) == (f16(-1, 8),)


def test_sizes_of_heads():
    """Two key heads of 2 and four value heads of 1: 4 and 4 elements, 12 channels."""
    heads = Heads(2, 4, 2, 1)
    assert (heads.keys, heads.values, heads.mixed, heads.usable) == (4, 4, 12, True)


def test_slices_of_a_plan():
    """Ten units in four planned blocks are slices of three, the last of one."""
    plan = Plan(10, 4, (), 0.0)
    assert [plan.slice_of(b) for b in range(4)] == [(0, 3), (3, 6), (6, 9), (9, 10)]
    assert len(plan.pack()) == 44
    assert Plan.unpack(plan.pack()) == Plan(10, 4, (0,) * 8, 0.0)


class Bench:
    """A GdnLinear over device memory: x [4, 2], weight [3, 2]; `launch` starts it as asked."""

    def __init__(self, chip):
        self.chip, self.memory = chip, DeviceMemory(1 << 30)
        x, w = np.arange(8, dtype=HALF), np.ones(6, HALF)
        self.y = self.memory.allocate(24, label="y").address
        plan = Plan(4, 4, (4, 2, 3, 0), 0.0).pack()
        words = [self.place(x.tobytes()), self.place(w.tobytes()), self.y, 0, self.place(plan)]
        self.args = self.place(np.array(words, "<u8").tobytes())

    def place(self, data):
        """Address of a copy of `data`."""
        address = self.memory.allocate(len(data), label="part").address
        self.memory.write(address, data)
        return address

    def launch(self, block_dim, key=0):
        """The launch with `block_dim` and `key`."""
        policies = PolicySet(())
        return KernelLaunch(TaskMemory(self.memory), self.args, block_dim, key, self.chip, policies)


@pytest.fixture
def bench(layer_host):
    """A bench on 310P3."""
    return Bench(layer_host.chips["ascend310p3"])


class TestLaunches:
    def test_every_block(self, bench):
        """Rows x = [0 1; 2 3; 4 5; 6 7] with weights of ones gives rows of 1, 5, 9, 13."""
        BY_TYPE["GdnLinear"].run(bench.launch(4))
        y = np.frombuffer(bench.memory.read(bench.y, 24), HALF).reshape(4, 3)
        assert y.tolist() == [[1] * 3, [5] * 3, [9] * 3, [13] * 3]

    def test_a_block_that_was_not_launched_writes_nothing(self, bench):
        """Three of four planned blocks leave the last row zero."""
        BY_TYPE["GdnLinear"].run(bench.launch(3))
        assert np.frombuffer(bench.memory.read(bench.y, 24), HALF)[9:].tolist() == [0] * 3

    @pytest.mark.parametrize(("block_dim", "key"), [(0, 0), (4, 2)])
    def test_launches_that_make_no_sense(self, bench, block_dim, key):
        """No block, or a tiling key without an element type, is the fault layer.launch."""
        with pytest.raises(DeviceFault) as caught:
            BY_TYPE["GdnLinear"].run(bench.launch(block_dim, key))
        assert caught.value.id == "layer.launch"

    def test_tensors_are_checked_by_the_memory(self, bench):
        """Tiling data of a fifth row reads past x, which the device memory refuses."""
        plan = bench.place(Plan(50, 1, (50, 2, 3, 0), 0.0).pack())
        bench.memory.write(bench.args + 32, plan.to_bytes(8, "little"))
        with pytest.raises(DeviceFault):
            BY_TYPE["GdnLinear"].run(bench.launch(1))


class _Context:
    """A tiling context of GdnLinear without a platform, or without usable shapes."""

    def __init__(self, **changes):
        self.platform, self.attrs, self.shape, self.dtype = None, None, None, None
        self.__dict__.update(changes)

    def input_desc(self, _index):
        return self.dtype

    def input_shape(self, _index):
        return self.shape


def test_tilings_that_fail():
    """Without a platform, an element type or a shape there is no tiling."""
    platform, desc = type("P", (), {"core_num_aiv": 8}), type("D", (), {"dtype": 1})
    for context in (
        _Context(),
        _Context(platform=platform),
        _Context(platform=platform, dtype=type("D", (), {"dtype": 0})),
        _Context(platform=platform, dtype=desc),
    ):
        with pytest.raises(TilingError):
            BY_TYPE["GdnLinear"].tiling(context)
    with pytest.raises(TilingError):
        BY_TYPE["GdnSplit"].tiling(_Context(platform=platform, dtype=desc, shape=type("S", (), {"storage": (1, 16)})))


def test_cases_take_attributes_by_name():
    """A case has the inputs in IR order, attributes that are given, and outputs as references."""
    arrays = {"mixed": halves(1, 12), "query": halves(1, 2, 2), **{k: np.array(v) for k, v in HEADS.items()}}
    case = BY_TYPE["GdnQkvNorm"].case(arrays)
    assert case.attrs == HEADS
    assert list(case.references) == ["query"]
    with pytest.raises(KeyError):
        BY_TYPE["GdnQkvNorm"].case({"mixed": arrays["mixed"]})
