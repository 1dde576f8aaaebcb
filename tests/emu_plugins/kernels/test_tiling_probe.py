"""TilingProbe: tiling from a value, and an output that shows key and block."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import DeviceFault
from emu_core.operators import ShapeError, TensorInfo
from emu_core.tiling import TilingError
from emu_plugins import kernels
from emu_plugins.kernels.tiling_probe import (
    KERNEL,
    OPERATOR,
    probe_case,
    probe_cost,
    probe_tiling,
    reference,
    run_probe,
)

X = np.arange(10, dtype=np.float32)


def _value(n):
    return {1: struct.pack("<i", n)}


class TestTiling:
    @pytest.mark.parametrize(
        ("n", "block_dim", "key"),
        [
            (0, 1, 0),
            (1, 1, 1),
            (2, 2, 2),
            (3, 3, 0),
            (7, 7, 1),
            (8, 8, 2),
            (9, 8, 0),
            (1000, 8, 1),
            (-1, 1, 2),
            (-4, 1, 2),
        ],
    )
    def test_from_the_value(self, context, n, block_dim, key):
        """Block dim is n within 1 and the cores, the key n mod 3 and never negative."""
        found = context({0: (10,)}, _value(n))
        probe_tiling(found)
        assert (found.result["block_dim"], found.result["key"]) == (block_dim, key)
        assert found.result["workspaces"] == (4096,)
        assert found.result["data"] == struct.pack("<IIiHH", 10, block_dim, n, 1, 0)

    def test_without_the_value(self, context):
        """When the value is not at hand the largest answer comes: all cores, key 0."""
        found = context({0: (10,)})
        probe_tiling(found)
        assert (found.result["block_dim"], found.result["key"]) == (8, 0)
        assert found.result["data"] == struct.pack("<IIiHH", 10, 8, 0, 0, 0)

    def test_attribute(self, context):
        """Attribute add_x travels in the tiling data."""
        found = context({0: (10,)}, _value(1), ints=(1,))
        probe_tiling(found)
        assert found.result["data"][-2:] == b"\x01\x00"

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"shapes": {}}, "no shape"), ({"shapes": {0: (-1,)}}, "elements"), ({"platform": None}, "platform"),
            ({"shapes": {0: (1 << 32,)}}, "elements"), ({"data": {1: b"\x01"}}, "1 bytes"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_tiled(self, context, changes, message):
        """No platform, no usable shape and a short value are errors that say so."""
        with pytest.raises(TilingError, match=message):
            probe_tiling(context(**{"shapes": {0: (10,)}, "data": _value(1), **changes}))


class TestKernel:
    @pytest.mark.parametrize(
        ("block_dim", "key", "expected"),
        [
            (1, 0, [0] * 10), (2, 1, [100] * 5 + [101] * 5), (3, 2, [200] * 4 + [201] * 4 + [202] * 2),
            (8, 2, [200, 200, 201, 201, 202, 202, 203, 203, 204, 204]),
        ],
    )  # fmt: skip
    def test_output_shows_key_and_block(self, bench, block_dim, key, expected):
        """Every element is 100 times the launched key plus its block, whatever the tiling data plan."""
        made = bench([X, np.int32([1])], X, struct.pack("<IIiHH", 10, 5, 1, 1, 0))
        run_probe(made.launch(block_dim=block_dim, key=key))
        assert made.result().tolist() == expected

    def test_add_x(self, bench):
        """With add_x the input is added."""
        made = bench([X, np.int32([4])], X, struct.pack("<IIiHH", 10, 2, 4, 1, 1))
        run_probe(made.launch(block_dim=2, key=1))
        assert made.result().tolist() == [100, 101, 102, 103, 104, 106, 107, 108, 109, 110]

    @pytest.mark.parametrize(("block_dim", "key", "elements"), [(0, 0, 10), (1, 3, 10), (1, 0, (1 << 32) - 1)])
    def test_refused_launches(self, bench, block_dim, key, elements):
        """No block, an unknown key, or more elements than memory are a fault."""
        made = bench([X, np.int32([1])], X, struct.pack("<IIiHH", elements, 1, 1, 1, 0))
        with pytest.raises(DeviceFault) as caught:
            run_probe(made.launch(block_dim=block_dim, key=key))
        assert (caught.value.id, caught.value.ts_code) == ("probe.launch", 0x26)

    @given(n=st.integers(-(1 << 31), (1 << 31) - 1), count=st.integers(1, 100))
    def test_reference_has_one_block_per_slice(self, n, count):
        """The reference shows one key, and blocks that start at 0 and never go back."""
        y = reference({"x": np.zeros(count, np.float32), "n": np.array([n], np.int32)})["y"]
        assert set(y // 100) == {n % 3}
        assert y[0] % 100 == 0
        assert (np.diff(y) >= 0).all()

    @pytest.mark.parametrize("n", [-1, 0, 1, 5, 8, 100])
    def test_tiling_and_kernel_meet_the_reference(self, context, bench, n):
        """A launch with what the tiling gave equals the reference."""
        found = context({0: (10,)}, _value(n))
        probe_tiling(found)
        made = bench([X, np.int32([n])], X, found.result["data"])
        run_probe(made.launch(block_dim=found.result["block_dim"], key=found.result["key"]))
        assert np.array_equal(made.result(), reference({"x": X, "n": np.int32([n])})["y"])

    def test_reference_with_x(self):
        """The reference can add x as well."""
        y = reference({"x": X, "n": np.int32([1])}, add_x=True)["y"]
        assert y.tolist() == [100 + i for i in range(10)]

    def test_cost(self, bench):
        """Ten elements are ten operations, and 40 bytes or 80 with x."""
        for add_x, size in ((0, 40), (1, 80)):
            cost = probe_cost(bench([X, X], X, struct.pack("<IIiHH", 10, 1, 1, 1, add_x)).launch(block_dim=1, key=0))
            assert (cost.flops, cost.bytes) == (10, size)


class TestOperator:
    def test_inference(self):
        """Y is float32 and as long as x, which may be unknown."""
        n = TensorInfo("int32", (1,))
        assert OPERATOR.infer((TensorInfo("float32", (10,)), n), {}) == (TensorInfo("float32", (10,)),)
        assert OPERATOR.infer((TensorInfo("float32", (-2,)), n), {}) == (TensorInfo("float32", (-1,)),)

    @pytest.mark.parametrize(
        ("x", "n", "name"),
        [
            (None, ("int32", (1,)), "x"), (("float16", (10,)), ("int32", (1,)), "x"),
            (("float32", (2, 5)), ("int32", (1,)), "x"), (("float32", (0,)), ("int32", (1,)), "x"),
            (("float32", (10**18,)), ("int32", (1,)), "x"), (("float32", (10,)), None, "n"),
            (("float32", (10,)), ("int64", (1,)), "n"), (("float32", (10,)), ("int32", (2,)), "n"),
        ],
    )  # fmt: skip
    def test_refused_inputs(self, x, n, name):
        """Missing inputs, other element types, ranks and sizes are refused by name."""
        with pytest.raises(ShapeError) as caught:
            OPERATOR.infer(tuple(TensorInfo(*info) if info else None for info in (x, n)), {})
        assert caught.value.input == name

    def test_case(self):
        """A case takes x, n and, if there, y; a missing array is named."""
        assert probe_case({"x": X, "n": X, "y": X}).references["y"] is X
        assert probe_case({"x": X, "n": X}).references == {}
        with pytest.raises(KeyError, match="n"):
            probe_case({"x": X})

    def test_record(self):
        """The tiling depends on n, and the plugin supplies operator and kernel."""
        assert OPERATOR.depends == (1,)
        assert (OPERATOR.alias, OPERATOR.tolerance, OPERATOR.custom) == ("probe", 0.0, False)
        assert OPERATOR in kernels.sqemu_operators()
        assert KERNEL in kernels.sqemu_kernels()
        assert KERNEL.tiling_keys == (0, 1, 2)
        assert "probe.launch" in kernels.sqemu_explanations()
