"""AddCustomTilingSink: the sum when everything is fresh, visibly not the sum when anything is stale."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from emu_core.errors import DeviceFault
from emu_core.operators import ShapeError, TensorInfo
from emu_core.tiling import TilingError
from emu_plugins import kernels
from emu_plugins.kernels.add_custom_tiling_sink import (
    KERNEL,
    OPERATOR,
    add_case,
    add_cost,
    add_tiling,
    reference,
    run_add,
)

X = np.arange(1, 11, dtype=np.float16)
Y = np.full(10, 0.5, np.float16)
FLOAT32, FLOAT16 = 0, 1


def _tiled(context, n=None, elements=10, dtype=FLOAT16):
    """What the tiling sets for a value, or without one."""
    found = context({0: (elements,)}, {} if n is None else {2: struct.pack("<i", n)}, {0: dtype})
    add_tiling(found)
    return found.result


def _run(bench, result, *, x=X, y=Y, **stale):
    """Launch with the tiling of `result`, except for what is stale."""
    made = bench([x, y, np.int32([0])], x, result["data"])
    run_add(made.launch(**{"block_dim": result["block_dim"], "key": result["key"], **stale}))
    return made


class TestTiling:
    @pytest.mark.parametrize(
        ("n", "block_dim", "key", "tile", "origin"),
        [(4, 4, 0, 3, 0), (3, 3, 1, 4, 10), (0, 1, 0, 10, 0), (-1, 1, 1, 10, 10), (99, 8, 1, 2, 10)],
    )
    def test_from_the_value(self, context, n, block_dim, key, tile, origin):
        """Blocks follow n, the key its parity, and the tiling data say length and origin of the tiles."""
        result = _tiled(context, n)
        assert (result["block_dim"], result["key"]) == (block_dim, key)
        assert result["data"] == struct.pack("<IIIIiI", 10, tile, block_dim, origin, n, FLOAT16)
        assert result["workspaces"] == (16384,)

    def test_without_the_value(self, context):
        """When the value is not at hand the largest answer comes: all cores, key 0."""
        result = _tiled(context)
        assert (result["block_dim"], result["key"]) == (8, 0)

    def test_element_types(self, context):
        """Another element type, or none, cannot be tiled."""
        with pytest.raises(TilingError, match="code 3"):
            _tiled(context, 1, dtype=3)
        with pytest.raises(TilingError, match="no descriptor"):
            add_tiling(context({0: (10,)}))


class TestKernel:
    @pytest.mark.parametrize("n", [-7, -1, 0, 1, 2, 3, 5, 8, 9, 1000])
    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_fresh_tiling_gives_the_sum(self, context, bench, n, dtype):
        """With key, block dim and tiling data of one tiling z is the sum for every n, both ways of tiling."""
        x, y = X.astype(dtype), Y.astype(dtype)
        made = _run(bench, _tiled(context, n, dtype=FLOAT16 if dtype is np.float16 else FLOAT32), x=x, y=y)
        assert made.result().tolist() == [i + 1.5 for i in range(10)]
        assert np.array_equal(made.result(), reference({"x": x, "y": y})["z"])

    @pytest.mark.parametrize(("n", "stale"), [(3, 0), (4, 1)])
    def test_a_stale_key_writes_nothing(self, context, bench, n, stale):
        """With the other key every tile lies outside of z."""
        made = _run(bench, _tiled(context, n), key=stale)
        assert not any(made.written(i) for i in range(10))

    def test_too_few_blocks_leave_elements_unwritten(self, context, bench):
        """With 4 blocks of 3 planned and 2 launched, elements 6 to 9 stay unwritten."""
        made = _run(bench, _tiled(context, 4), block_dim=2)
        assert [made.written(i) for i in range(10)] == [True] * 6 + [False] * 4

    def test_too_few_blocks_backward(self, context, bench):
        """With 3 blocks of 4 from the end planned and 1 launched, only the last four elements are written."""
        made = _run(bench, _tiled(context, 3), block_dim=1)
        assert [made.written(i) for i in range(10)] == [False] * 6 + [True] * 4

    def test_too_many_blocks_add_twice(self, context, bench):
        """With 2 blocks planned and 3 launched, the tile of block 0 is added twice."""
        made = _run(bench, _tiled(context, 2), block_dim=3)
        assert made.result().tolist() == [2 * (i + 1.5) for i in range(5)] + [i + 1.5 for i in range(5, 10)]

    def test_sums_round_once_and_overflow_quietly(self, context, bench):
        """float16 sums round to the nearest even value, become infinite or NaN without a warning."""
        x = np.array([2048, 2050, 65504, np.inf], np.float16)
        y = np.array([1, 1, 65504, -np.inf], np.float16)
        found = _run(bench, _tiled(context, 2, elements=4), x=x, y=y).result()
        assert found[:3].tolist() == [2048, 2052, np.inf]
        assert np.isnan(found[3])

    @pytest.mark.parametrize(
        ("launch", "data"),
        [
            ({"block_dim": 0}, {}), ({"key": 2}, {}), ({}, {"dtype": 3}), ({}, {"blocks": 0}),
            ({}, {"elements": (1 << 32) - 1}),
        ],
    )  # fmt: skip
    def test_refused_launches(self, bench, launch, data):
        """No block, an unknown key and tiling data of nobody are a fault."""
        given = {"elements": 10, "tile": 10, "blocks": 1, "origin": 0, "n": 0, "dtype": FLOAT16, **data}
        made = bench([X, Y, X], X, struct.pack("<IIIIiI", *given.values()))
        with pytest.raises(DeviceFault) as caught:
            run_add(made.launch(**{"block_dim": 1, "key": 0, **launch}))
        assert (caught.value.id, caught.value.ts_code) == ("add.launch", 0x26)

    def test_cost(self, context, bench):
        """Ten additions move thirty elements; unknown element types cost nothing."""
        made = bench([X, Y, X], X, _tiled(context, 1)["data"])
        cost = add_cost(made.launch(block_dim=1, key=1))
        assert (cost.flops, cost.bytes) == (10, 60)
        cost = add_cost(bench([X, Y, X], X, bytes(20) + b"\x63\0\0\0").launch(block_dim=1, key=1))
        assert (cost.flops, cost.bytes) == (0, 0)


class TestOperator:
    def test_inference(self):
        """Z is like x; an unknown length comes from y."""
        n, x, any_length = TensorInfo("int32", (1,)), TensorInfo("float16", (10,)), TensorInfo("float16", (-1,))
        assert OPERATOR.infer((x, x, n), {}) == (x,)
        assert OPERATOR.infer((any_length, x, n), {}) == (x,)
        assert OPERATOR.infer((x, any_length, n), {}) == (x,)

    @pytest.mark.parametrize(
        ("x", "y", "name"),
        [
            (("float16", (10,)), ("float32", (10,)), "y"), (("float16", (10,)), ("float16", (9,)), "y"),
            (("int32", (10,)), ("int32", (10,)), "x"), (("float16", (10, 1)), ("float16", (10,)), "x"),
            (None, ("float16", (10,)), "x"), (("float16", (10,)), None, "y"),
        ],
    )  # fmt: skip
    def test_refused_inputs(self, x, y, name):
        """Inputs that differ, are missing, or have another element type or rank are refused by name."""
        inputs = [TensorInfo(*info) if info else None for info in (x, y)]
        with pytest.raises(ShapeError) as caught:
            OPERATOR.infer((*inputs, TensorInfo("int32", (1,))), {})
        assert caught.value.input == name

    def test_case(self):
        """A case takes x, y, n; the reference is z if there, else the sum."""
        arrays = {"x": X, "y": Y, "n": np.int32([1])}
        assert np.array_equal(add_case(arrays).references["z"], X + Y)
        assert add_case({**arrays, "z": X}).references["z"] is X
        with pytest.raises(KeyError, match="y"):
            add_case({"x": X, "n": X})

    def test_record(self):
        """It is a custom operator whose tiling depends on n, and the plugin supplies it with its kernel."""
        assert OPERATOR.custom
        assert (OPERATOR.depends, OPERATOR.alias, OPERATOR.tolerance) == ((2,), "add", 0.0)
        assert OPERATOR in kernels.sqemu_operators()
        assert KERNEL in kernels.sqemu_kernels()
