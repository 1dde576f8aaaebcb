"""The operator record: shape inference, cases, policies, and what importing the plugin costs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from emu_core.operators import Placement, ShapeError, TensorInfo
from emu_core.policies import PolicySet, Scope
from emu_plugins import cgdr
from emu_plugins.cgdr.operator import BFLOAT16_OPERATOR, FLOAT16_OPERATOR, cgdr_case

SHAPES = {
    "query": (130, 2, 65), "key": (130, 2, 65), "value": (130, 4, 48), "beta": (130, 4),
    "initial_state": (3, 4, 48, 65), "actual_seq_lengths": (3,), "g": (130, 4),
}  # fmt: skip


def _infos(dtype="float16", **changed):
    """Inputs in IR order; a shape of None takes an input away."""
    dtypes = {"actual_seq_lengths": "int32", "g": "float32"}
    shapes = {**SHAPES, **changed}
    return tuple(TensorInfo(dtypes.get(n, dtype), s) if s is not None else None for n, s in shapes.items())


def _refused(inputs):
    with pytest.raises(ShapeError) as caught:
        FLOAT16_OPERATOR.infer(inputs, {})
    return caught.value


class TestInference:
    def test_outputs(self):
        """Out has the shape of value, final_state that of initial_state."""
        out, final = FLOAT16_OPERATOR.infer(_infos(), {"scale_value": 1.0})
        assert (out, final) == (TensorInfo("float16", (130, 4, 48)), TensorInfo("float16", (3, 4, 48, 65)))

    def test_g_may_be_absent(self):
        """G is optional, given as None or not given at all."""
        assert FLOAT16_OPERATOR.infer(_infos(g=None), {}) == FLOAT16_OPERATOR.infer(_infos(g=None)[:6], {})

    def test_unknown_dimensions_are_filled_from_other_inputs(self):
        """An unknown dimension or rank takes the number another input knows, or stays unknown."""
        out, final = FLOAT16_OPERATOR.infer(
            _infos(value=(-2,), query=(-1, 2, 65), key=(-1, 2, 65), beta=(-1, 4), g=(-1, 4)), {}
        )
        assert out.shape == (-1, 4, 48)
        assert final.shape == (3, 4, 48, 65)

    def test_unknown_head_counts_are_not_compared(self):
        """Heads are checked only when both counts are known."""
        shapes = {"query": (130, -1, 65), "key": (130, -1, 65)}
        assert FLOAT16_OPERATOR.infer(_infos(**shapes), {})[0].shape == (130, 4, 48)

    @pytest.mark.parametrize("name", ["query", "key", "value", "beta", "initial_state", "actual_seq_lengths"])
    def test_missing_inputs(self, name):
        """Every input but g is required, and the error names it."""
        assert _refused(_infos(**{name: None})).input == name

    @pytest.mark.parametrize("name", list(SHAPES))
    def test_ranks(self, name):
        """Another rank is refused with the wanted axes."""
        error = _refused(_infos(**{name: (1, 1, 1, 1, 1)}))
        assert error.input == name
        assert "rank 5" in error.what

    @pytest.mark.parametrize(
        ("name", "shape", "axis"),
        [
            ("key", (131, 2, 65), "T"), ("key", (130, 1, 65), "Hqk"), ("key", (130, 2, 64), "Dk"),
            ("value", (129, 4, 48), "T"), ("beta", (130, 2), "Hv"), ("beta", (1, 4), "T"),
            ("initial_state", (3, 2, 48, 65), "Hv"), ("initial_state", (3, 4, 65, 48), "Dv"),
            ("initial_state", (3, 4, 48, 64), "Dk"), ("actual_seq_lengths", (4,), "B"), ("g", (130, 2), "Hv"),
            ("g", (131, 4), "T"),
        ],
    )  # fmt: skip
    def test_disagreements(self, name, shape, axis):
        """Inputs that disagree about an axis are refused at the later one, with axis and both sizes."""
        error = _refused(_infos(**{name: shape}))
        assert error.input == name
        assert error.what.startswith(f"{axis} is ")
        assert axis in error.remedy

    @pytest.mark.parametrize("size", [0, -3, 1 << 31, 10**18])
    @pytest.mark.parametrize("name", list(SHAPES))
    def test_impossible_sizes(self, name, size):
        """Zero, negative and absurd dimensions are refused."""
        assert _refused(_infos(**{name: (size, *SHAPES[name][1:])})).input == name

    def test_impossible_products(self):
        """A tensor of more than 2**40 elements is refused even if each dimension is possible."""
        assert "2**40" in _refused(_infos(query=(1 << 30, 1 << 30, 65))).what

    @pytest.mark.parametrize(("hqk", "hv"), [(2, 3), (4, 6), (2, 5)])
    def test_heads_without_a_key(self, hqk, hv):
        """A value head whose key head does not exist is refused."""
        shapes = {
            "query": (130, hqk, 65), "key": (130, hqk, 65), "value": (130, hv, 48), "beta": (130, hv),
            "initial_state": (3, hv, 48, 65), "g": (130, hv),
        }  # fmt: skip
        assert "multiple" in _refused(_infos(**shapes)).remedy

    def test_fewer_value_heads_than_key_heads(self):
        """Hv below Hqk is allowed and uses the first key heads."""
        shapes = {"query": (130, 8, 65), "key": (130, 8, 65)}
        assert FLOAT16_OPERATOR.infer(_infos(**shapes), {})[0].shape == (130, 4, 48)

    def test_element_types(self):
        """All activations have one element type, lengths are int32 and g is float32."""
        inputs = list(_infos())
        inputs[3] = TensorInfo("float32", SHAPES["beta"])
        assert _refused(tuple(inputs)).input == "beta"
        inputs = list(_infos())
        inputs[6] = TensorInfo("float16", SHAPES["g"])
        assert _refused(tuple(inputs)).remedy == "use float32"

    def test_bfloat16(self):
        """The bfloat16 operator gives bfloat16 outputs."""
        assert BFLOAT16_OPERATOR.infer(_infos("bfloat16"), {})[1].dtype == "bfloat16"


class TestCase:
    def test_a_stored_case(self, load_case):
        """A stored file gives the seven inputs in order, the scale and both references."""
        arrays = load_case("c04_dk80_dv80")
        case = cgdr_case(arrays)
        assert [None if a is None else a.shape for a in case.inputs][2] == (192, 2, 80)
        assert case.inputs[6] is arrays["g"]
        assert case.attrs == {"scale_value": float(arrays["scale"])}
        assert set(case.references) == {"out", "final_state"}

    def test_without_g(self, load_case):
        """Without g, or with has_g = 0, input 6 is None."""
        arrays = load_case("c07_dk128_dv128_gqa_nog")
        assert cgdr_case(arrays).inputs[6] is None
        assert cgdr_case({**arrays, "g": np.zeros((128, 2), np.float32)}).inputs[6] is None

    def test_only_the_inputs_are_needed(self, load_case):
        """Scale and results may be missing; other arrays are ignored."""
        arrays = load_case("c04_dk80_dv80")
        given = {
            name: arrays[name] for name in ("query", "key", "value", "beta", "initial_state", "actual_seq_lengths")
        }
        case = cgdr_case({**given, "note": np.zeros(1)})
        assert (case.attrs, case.references) == ({}, {})

    @pytest.mark.parametrize("name", ["query", "key", "value", "beta", "initial_state", "actual_seq_lengths"])
    def test_a_missing_array_is_named(self, load_case, name):
        """A missing array raises KeyError with its name."""
        arrays = load_case("c04_dk80_dv80")
        del arrays[name]
        with pytest.raises(KeyError) as caught:
            cgdr_case(arrays)
        assert caught.value.args == (name,)


class TestPlugin:
    def test_operator_record(self):
        """The tiling depends on input 5, may run on both sides, and a policy can take that away."""
        spec = cgdr.sqemu_operators()[0]
        assert (spec.type, spec.alias, spec.kernel) == ("ChunkGatedDeltaRule", "cgdr", "ChunkGatedDeltaRule")
        assert spec.depends == (5,)
        assert spec.placements == Placement.HOST | Placement.AICPU
        assert spec.depends_policy in {policy.name for policy in cgdr.sqemu_policies()}
        assert not spec.custom

    def test_every_kernel_is_there(self):
        """Each operator names a kernel that the plugin supplies."""
        names = {kernel.name for kernel in cgdr.sqemu_kernels()}
        assert {spec.kernel for spec in cgdr.sqemu_operators()} == names

    def test_policies(self):
        """Defaults are the device's products and a dependency on the lengths; all but that are of operator scope."""
        policies = PolicySet(cgdr.sqemu_policies())
        assert (policies["cgdr.product"], policies["cgdr.tiling_depend"]) == ("two_term", "actual_seq_lengths")
        assert [policy.name for policy in policies if policy.scope is Scope.COMPILE] == ["cgdr.tiling_depend"]
        assert {policy.scope for policy in policies} == {Scope.OPERATOR, Scope.COMPILE}
        assert policies.with_values({"cgdr.tiling_depend": "none"})["cgdr.tiling_depend"] == "none"

    def test_explanations(self):
        """Every fault id of the kernel has an explanation."""
        assert {"cgdr.ub", "cgdr.tokens", "cgdr.key-head"} <= set(cgdr.sqemu_explanations())

    def test_the_plugins_own_modules_import_no_numpy(self):
        """Importing the plugin's module tree leaves numpy-heavy modules unloaded until a kernel runs."""
        heavy = ("emu_plugins.cgdr.fp32", "emu_plugins.cgdr.faithful", "threadpoolctl")
        code = f"import sys, emu_plugins.cgdr; print(*(m in sys.modules for m in {heavy}))"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert found.stdout.split() == ["False"] * 3
