"""The 910B operator: compiled for an ascend910b chip, run as an FFTS+ mix task, held against the definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core import Device
from emu_core.api import compile_graph
from emu_core.errors import DeviceFault
from emu_core.graph import CompileOptions
from emu_core.kernels import CoreType, Cost, MixType
from emu_core.plugins import PluginHost
from emu_core.tiling import TensorDesc, TilingError
from emu_core.trace import TaskDone
from emu_plugins.cgdr.codecs import bfloat16_to_float32, float32_to_bfloat16
from emu_plugins.cgdr.data_910b import Data910b, groups_of, stage_1_units, stage_2_heads, stage_3_units
from emu_plugins.cgdr.items import LiveSequence
from emu_plugins.cgdr.kernel_910b import SPEC_910B, cost_910b, run_910b
from emu_plugins.cgdr.operator_910b import FRACTAL_NZ, tiling_function_910b
from emu_plugins.cgdr.tiling import ShapeDims
from emu_plugins.cgdr.tiling_910b import tile_910b

OP = "ChunkGatedDeltaRule910b"
CHIP = "ascend910b3"
NAMES = ("query", "key", "value", "beta", "initial_state", "lengths", "g")


@pytest.fixture(scope="module")
def host():
    """The installed plugins."""
    return PluginHost()


def random_inputs(lengths, nk, nv, dk, dv, *, seed=0, g=True, t=None):
    """Bfloat16 bits as the vendor's tests draw them: uniform in [0, 1), q and k normalised, g = -uniform."""
    rng = np.random.default_rng(seed)
    t = sum(n for n in lengths if n > 0) if t is None else t

    def unit(*shape):
        x = rng.random(shape, np.float32)
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    values = {
        "query": unit(t, nk, dk), "key": unit(t, nk, dk), "value": rng.random((t, nv, dv), np.float32),
        "beta": rng.random((t, nv), np.float32), "initial_state": rng.random((len(lengths), nv, dv, dk), np.float32),
    }  # fmt: skip
    found = {name: float32_to_bfloat16(value) for name, value in values.items()}
    found["lengths"] = np.array(lengths, np.int32)
    return found | ({"g": -rng.random((t, nv), np.float32)} if g else {})


def graph_of(arrays, scale):
    """One operator on these arrays."""
    inputs = [
        {
            "name": name, "shape": list(arrays[name].shape),
            "dtype": {"lengths": "int32", "g": "float32"}.get(name, "bfloat16"),
        }
        for name in NAMES
        if name in arrays
    ]  # fmt: skip
    node = {
        "name": "c", "type": OP, "inputs": [name if name in arrays else None for name in NAMES],
        "outputs": ["out", "final_state"], "attrs": {"scale_value": scale},
    }  # fmt: skip
    return {
        "format": "sqemu-graph", "version": 1, "name": "c", "inputs": inputs, "nodes": [node],
        "outputs": ["out", "final_state"],
    }  # fmt: skip


def run(host, arrays, scale, **changes):
    """Outputs as float64, and the result."""
    result = execute(host, arrays, scale, **changes)
    found = [bfloat16_to_float32(result.outputs[name]).astype(np.float64) for name in ("out", "final_state")]
    return found, result


def execute(host, arrays, scale, *, sink=False, **changes):
    """The result of one execution on a new device."""
    graph = graph_of(arrays, scale) | {"options": {"ge.tiling_schedule_optimize": str(int(sink))}}
    blob = compile_graph(graph, CHIP, CompileOptions(offline=False), host)
    return Device(CHIP, plugins=host).load(blob).execute(arrays | changes)


def recurrence(arrays, scale):
    """The sequential definition in float64."""
    values = {n: bfloat16_to_float32(a).astype(np.float64) for n, a in arrays.items() if n not in ("lengths", "g")}
    nk, nv = arrays["query"].shape[1], arrays["value"].shape[1]
    out, final, t = np.zeros(values["value"].shape), np.zeros(values["initial_state"].shape), 0
    for b, n in enumerate(arrays["lengths"]):
        for h in range(nv):
            key, s = h // (nv // nk), values["initial_state"][b, h].T
            for i in range(t, t + n):
                k, q = values["key"][i, key], scale * values["query"][i, key]
                s = s * (np.exp(float(arrays["g"][i, h])) if "g" in arrays else 1.0)
                e = values["beta"][i, h] * (values["value"][i, h] - s.T @ k)
                s = s + np.outer(k, e)
                out[i, h] = s.T @ q
            final[b, h] = s.T
        t += n
    return out, final


def low(x):
    """Float64 rounded to bfloat16."""
    return bfloat16_to_float32(float32_to_bfloat16(x.astype(np.float32))).astype(np.float64)


def same_precision(arrays, scale):
    """The chunked form of section 1.2, each result of an operation rounded to bfloat16."""
    values = {n: bfloat16_to_float32(a).astype(np.float64) for n, a in arrays.items() if n not in ("lengths", "g")}
    nk, nv = arrays["query"].shape[1], arrays["value"].shape[1]
    out, final, first = np.zeros(values["value"].shape), np.zeros(values["initial_state"].shape), 0
    for b, n in enumerate(arrays["lengths"]):
        for h in range(nv):
            s = values["initial_state"][b, h].T
            for at in range(first, first + n, 64):
                rows = slice(at, min(at + 64, first + n))
                k, q = values["key"][rows, h // (nv // nk)], values["query"][rows, h // (nv // nk)]
                v, beta = values["value"][rows, h], values["beta"][rows, h, None]
                out[rows, h], s = chunk(q, k, v, beta, np.cumsum(arrays["g"][rows, h].astype(float)), s, scale)
            final[b, h] = s.T
        first += n
    return out, final


def chunk(q, k, v, beta, g, s, scale):
    """One chunk: output rows and the state behind it."""
    exp_g, d = np.exp(g)[:, None], np.exp(np.tril(g[:, None] - g[None, :]))
    u = low(np.linalg.inv(np.eye(len(g)) + np.tril(low(low(beta * k) @ k.T) * d, -1)))
    v_new = low(low(u @ low(beta * v)) - low(low(u @ low(beta * exp_g * k)) @ s))
    out = low(low(low(scale * exp_g * q) @ s) + low(low(np.tril(low(scale * low(q @ k.T)) * d)) @ v_new))
    return out, low(low(exp_g[-1] * s) + low(low(np.exp(g[-1] - g)[:, None] * k).T @ v_new))


def errors(found, golden):
    """Largest and mean relative error, and RMSE, as the vendor's test has them."""
    apart = np.abs(found - golden)
    relative = apart / (np.abs(golden) + 1e-3)
    return np.array([relative.max(), relative.mean(), np.sqrt((apart**2).mean())])


def assert_accurate(found, golden, benchmark):
    """Section 19.1: at once below 2^-7, else ratios to a same-precision run of 5, 1.5 and 1.5 (floor 2^-8)."""
    ours, theirs = errors(found, golden), errors(benchmark, golden)
    assert ours[0] < 2**-7 or (ours <= np.array([5, 1.5, 1.5]) * np.maximum(theirs, 2**-8)).all(), (ours, theirs)


SHAPES = {
    "one full chunk": ([64], 1, 1, 64, 64),
    "tail of 5": ([69], 1, 1, 32, 48),
    "shorter than half a chunk": ([20], 1, 2, 16, 16),
    "groups of value heads": ([130], 2, 4, 64, 32),
    "several lengths": ([64, 1, 37, 100], 1, 2, 48, 64),
    "widest": ([128], 1, 1, 128, 128),
    "more heads than cores": ([65], 1, 22, 16, 32),
    "odd widths": ([70], 1, 1, 63, 65),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_results_meet_the_definition(host, shape):
    """Out and state meet the float64 recurrence within the vendor's criteria and an RMS ratio of 5e-3."""
    lengths, nk, nv, dk, dv = SHAPES[shape]
    arrays, scale = random_inputs(lengths, nk, nv, dk, dv), float(np.float32(dk**-0.5))
    found, result = run(host, arrays, scale)
    golden, benchmark = recurrence(arrays, scale), same_precision(arrays, scale)
    for got, exact, same in zip(found, golden, benchmark, strict=True):
        assert_accurate(got, exact, same)
        assert np.sqrt(((got - exact) ** 2).mean() / (exact**2).mean()) <= 5e-3
    assert (result.hazards, dict(result.unwritten)) == ((), {})


def test_without_a_log_decay(host):
    """An absent g is zero."""
    arrays = random_inputs([66], 1, 1, 32, 32, g=False)
    found, _ = run(host, arrays, 0.25)
    benchmark = same_precision(arrays | {"g": np.zeros((66, 1), np.float32)}, 0.25)
    for got, exact, same in zip(found, recurrence(arrays, 0.25), benchmark, strict=True):
        assert_accurate(got, exact, same)


def test_more_tokens_than_a_group(host):
    """A sequence of more than 2 * 20 * 64 = 2560 tokens keeps its state in the workspace between two groups."""
    arrays = random_inputs([2563], 1, 1, 16, 16)
    found, _ = run(host, arrays, 0.25)
    for got, exact in zip(found, recurrence(arrays, 0.25), strict=True):
        assert np.sqrt(((got - exact) ** 2).mean() / (exact**2).mean()) <= 5e-3


def test_state_is_rounded_between_chunks(host):
    """With beta 0 the state only fades: after two chunks it is twice rounded to bfloat16, computed by hand.

    exp(0) = 1 in chunk 0 and exp(-0.5) in chunk 1; 1.0078125 * 0.60653066 = 0.61126918, of which the nearest bfloat16
    (steps of 2^-8 there) is 0.609375 = 156 / 256 or 0.61328125 = 157 / 256: 0.61126918 * 256 = 156.48.
    """
    arrays = random_inputs([128], 1, 1, 16, 16)
    arrays["beta"][...] = 0
    arrays["g"][...] = 0
    arrays["g"][127] = -0.5
    arrays["initial_state"][...] = float32_to_bfloat16(np.full((), 1.0078125, np.float32))
    (_, final), _ = run(host, arrays, 1.0)
    assert np.unique(final).tolist() == [156 / 256]


def test_an_empty_sequence_writes_nothing(host):
    """A length of 0 leaves its slice of final_state unwritten, and the next sequence starts where it would."""
    arrays = random_inputs([3, 0, 4], 1, 1, 16, 16)
    (out, final), _ = run(host, arrays, 1.0)
    exact = recurrence(arrays, 1.0)
    assert np.abs(out - exact[0]).max() < 0.05
    assert (final[1] == 0).all()


def test_it_is_a_mix_task_on_all_cube_cores(host):
    """The device runs key 0 as an FFTS+ entry on 20 cube cores with two vector cores each."""
    arrays = random_inputs([64], 1, 1, 16, 16)
    blob = compile_graph(graph_of(arrays, 1.0), CHIP, CompileOptions(offline=False), host)
    assert (blob.ops[0].tiling_key, blob.ops[0].tiling_block_dim) == (0, 20)
    _, result = run(host, arrays, 1.0)
    done = [event for event in result.trace if isinstance(event, TaskDone) and event.engine == "ffts_plus"]
    assert [event.detail for event in done] == [f"{OP} key 0 block dim 20 AIC with 2 of the other kind"]


def test_it_sinks(host):
    """With tiling sink the update patches the mix entry's context, and the bytes are the same."""
    arrays = random_inputs([70], 1, 2, 16, 32)
    plain, sunk = (execute(host, arrays, 1.0, sink=sink) for sink in (False, True))
    assert (len(plain.patches) > 0, len(sunk.patches) > 0) == (False, True)
    assert sunk.hazards == ()
    for name in ("out", "final_state"):
        np.testing.assert_array_equal(sunk.outputs[name], plain.outputs[name])


def test_the_record_of_the_kernel():
    """A mix of a cube and two vector cores, blocks that wait for each other, A2 and A3 only."""
    assert (SPEC_910B.core_type, SPEC_910B.mix.type, SPEC_910B.mix.ratio) == (CoreType.MIX, MixType.AIC_MAIN, 2)
    assert (SPEC_910B.sync_all, SPEC_910B.products, SPEC_910B.tiling_keys) == (True, ("A2", "A3"), (0,))


def test_tokens_past_the_end_are_a_fault(host):
    """65 tokens where T is 64 would read what lies behind the tensors."""
    arrays = random_inputs([64], 1, 1, 16, 16)
    result = execute(host, arrays, 1.0, lengths=np.array([65], np.int32))
    assert [fault.id for fault in result.faults] == ["cgdr.tokens"]


class TestLaunches:
    """Launches that no device run could survive, over device memory."""

    @pytest.fixture
    def board(self, make_board):
        """A launch of one block, T = 64, a head of 16; changes to words, ratio, key, block dim and tiling data."""

        def launch(*, data=None, words=None, ratio=2, **changes):
            small = {
                "query": np.zeros((64, 1, 16), np.float16), "value": np.zeros((64, 1, 16), np.float16),
                "initial_state": np.zeros((1, 1, 16, 16), np.float16), "scale": np.float32(1),
            }  # fmt: skip
            made = make_board(small)
            tiling = tile_910b(ShapeDims(64, 1, 16, 1, 16, 1), cores=1, has_gamma=False, scale_value=1.0)
            raw = bytearray(tiling.tiling_data())
            for offset, value in (data or {}).items():
                raw[offset : offset + 8] = value.to_bytes(8, "little")
            lengths = made.board.place(np.array([64], np.int32), "lengths")
            tensors = [made.board.reserve(4096, "tensor") for _ in range(5)]
            outputs = [made.board.reserve(4096, "output") for _ in range(2)]
            workspace = made.board.reserve(tiling.workspace, "workspace")
            all_words = [*tensors, lengths, 0, *outputs, workspace, made.board.place(np.frombuffer(raw, np.uint8), "t")]
            for index, value in (words or {}).items():
                all_words[index] = value
            found = made.board.launch(all_words, **{"block_dim": 1, "key": 0, **changes})
            return replace(found, ratio=ratio)

        return launch

    @pytest.mark.parametrize(
        ("changes", "id_"),
        [
            ({"key": 1}, "cgdr.tiling-key"),
            ({"block_dim": 2}, "cgdr.block-dim"),
            ({"ratio": 1}, "cgdr.vector-cores"),
            ({"words": {9: 0}}, "cgdr.workspace"),
            ({"data": {56: 1}}, "cgdr.gamma"),
            ({"data": {24: 129}}, "cgdr.tiling-data"),
            ({"data": {64: 32}}, "cgdr.tiling-data"),
            ({"data": {72: 64}}, "cgdr.tiling-data"),
        ],
    )
    def test_refusals(self, board, changes, id_):
        """Each has its id, the exception code of the AI Core, and costs nothing."""
        launch = board(**changes)
        with pytest.raises(DeviceFault) as caught:
            run_910b(launch)
        assert (caught.value.id, caught.value.ts_code) == (id_, 0x26)
        assert cost_910b(launch) == Cost()

    def test_the_cost_by_hand(self, board):
        """One chunk of one head, width 16.

        Multiply-adds: 3 * 64 * 64 * 16 + 2 * 32 ** 3 = 262144 on K, 2 * 64 * 64 * 16 + 3 * 64 * 16 * 16 = 180224 on V.
        Halves: 64 * (16 * 2 + 16 * 2 + 1) tensors, 64 * 2 * (5 * 16 + 64) handed on, 2 * 256 of states.
        """
        assert cost_910b(board()) == Cost(flops=2 * (262144 + 180224), bytes=2 * (4160 + 18432 + 512))


class TestSharing:
    def test_stage_1_gives_the_first_cores_one_more(self):
        """7 units of 3 chunks... on 3 cores are 3, 2 and 2; unit = chunk * Nv + head."""
        assert [len(units) for units in stage_1_units(7, 1, 3)] == [3, 2, 2]
        assert stage_1_units(2, 3, 2) == (((0, 0), (0, 1), (0, 2)), ((1, 0), (1, 1), (1, 2)))

    def test_stage_2_shares_heads(self):
        """22 heads on 20 cores are 2 each, so the last 9 cores have none."""
        heads = stage_2_heads(22, 20)
        assert heads[0] == (0, 1)
        assert [len(each) for each in heads] == [2] * 11 + [0] * 9

    def test_stage_3_goes_head_by_head(self):
        """Two chunks of two heads on two cores: a head each."""
        assert stage_3_units(2, 2, 2) == (((0, 0), (1, 0)), ((0, 1), (1, 1)))

    def test_groups(self):
        """300 tokens from token 7 on in groups of 128: 128, 128, 44, the last with one chunk of 44 rows."""
        groups = list(groups_of(LiveSequence(0, 7, 300), 128))
        assert [(group.start, group.length) for group in groups] == [(7, 128), (135, 128), (263, 44)]
        assert [group.first for group in groups] == [True, False, False]
        assert [group.last for group in groups] == [False, False, True]
        assert groups[2].chunks() == ((0, 44),)

    def test_areas_in_the_workspace(self):
        """Behind 16 MiB: prefix sums of 2 heads * 128 tokens are 1024 bytes, k_cumdecay of 16 columns 8192."""
        tiling = tile_910b(ShapeDims(64, 1, 16, 2, 16, 1), cores=1, has_gamma=True, scale_value=1.0)
        areas = Data910b.unpack(tiling.tiling_data()).areas()
        assert [areas[name] - (16 << 20) for name in ("G", "k_cumdecay", "v_inner")] == [0, 1024, 9216]


class TestTilingFunction:
    @pytest.fixture
    def context(self, make_context, fake_attrs):
        """All inputs but g, of the shapes of T = 192, eight heads of 80."""
        return make_context(attrs=fake_attrs([0.5]), descs=set(range(6)), tensors=set(range(6)))

    def test_what_it_sets(self, context):
        """Key 0, all eight Cube cores, schedule mode 1, and 108 bytes of tiling data."""
        tiling_function_910b(context)
        result = context.result
        assert (result["key"], result["block_dim"], result["mode"], len(result["data"])) == (0, 8, 1, 108)

    @pytest.mark.parametrize("parts", range(1, 7))
    def test_half_a_gamma_is_refused(self, context, parts):
        """Descriptor, tensor and shape of g come together or not at all."""
        if parts & 1:
            context.descs.add(6)
        if parts & 2:
            context.tensors.add(6)
        if parts & 4:
            context.shapes[6] = (192, 8)
        with pytest.raises(TilingError, match="optional input g has no"):
            tiling_function_910b(context)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({1: (191, 8, 80)}, "T of key is 191; the inputs before it have 192"),
            ({3: (192, 4)}, "Hv of beta is 4"),
            ({4: (1, 8, 80)}, "initial_state has rank 3"),
            ({5: (2,)}, "B of actual_seq_lengths is 2"),
            ({0: (192, 8, 129), 1: (192, 8, 129), 4: (1, 8, 80, 129)}, "Dk is 129, 1 more than the 128"),
            ({0: (192, 3, 80), 1: (192, 3, 80)}, "no multiple of Nk = 3"),
        ],
    )
    def test_shapes_are_compared(self, context, change, words):
        """Every axis of every input is compared, and the limits hold."""
        context.shapes.update(change)
        with pytest.raises(TilingError, match=words):
            tiling_function_910b(context)

    def test_nz_is_refused(self, context, monkeypatch):
        """A tensor in blocks of 16 is no tensor for this operator."""
        monkeypatch.setattr(context, "input_desc", lambda index: TensorDesc(27, FRACTAL_NZ) if index < 6 else None)
        with pytest.raises(TilingError, match="query has the format FRACTAL_NZ"):
            tiling_function_910b(context)

    def test_the_scale_is_required(self, context):
        """There is no default."""
        context.attrs = None
        with pytest.raises(TilingError, match="scale_value is missing"):
            tiling_function_910b(context)


def test_rounding_is_that_of_ml_dtypes():
    """Bfloat16 bits equal those of ml_dtypes for ties, their neighbours, subnormals, infinity and random bits."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    ties = (np.arange(1 << 16, dtype=np.uint32) << 16) | 0x8000
    rng = np.random.default_rng(0)
    bits = np.concatenate([ties - 1, ties, ties + 1, rng.integers(0, 1 << 32, 1 << 16, np.uint32)]).astype(np.uint32)
    values = bits.view(np.float32)
    values = values[~np.isnan(values)]
    with np.errstate(all="ignore"):
        expected = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    np.testing.assert_array_equal(float32_to_bfloat16(values), expected)
