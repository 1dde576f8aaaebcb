"""`sqemu op`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

CASES = sorted((Path(__file__).parents[1] / "data/cgdr").glob("c*.npz"))


def arrays_of(path):
    """All arrays of an npz; the file is closed."""
    with np.load(path) as found:
        return dict(found)


class TestCgdr:
    @pytest.mark.parametrize("case", CASES, ids=lambda p: p.name[:3])
    @pytest.mark.parametrize("chip", ["ascend310p3", "ascend910b3"])
    def test_verify(self, sqemu, case, chip):
        """Every golden case passes through the whole machine within 5e-4, the limit of float16 operands."""
        found = sqemu("op", "cgdr", "--inputs", case, "--chip", chip, "--verify", "--json")
        assert found.code == 0
        checks = {c["output"]: c for c in found.objects[0]["checks"]}
        assert set(checks) == {"out", "final_state"}
        assert all(c["error"] <= 5e-4 for c in checks.values())

    @pytest.mark.parametrize("case", CASES[3:5], ids=lambda p: p.name[:3])
    def test_verify_in_float32(self, sqemu, case):
        """With `cgdr.product=fp32` only the last cast is left, which stays within 2.5e-4."""
        found = sqemu("op", "cgdr", "--inputs", case, "--policy", "cgdr.product=fp32", "--verify", "--json")
        assert found.code == 0
        assert all(c["error"] <= 2.5e-4 for c in found.objects[0]["checks"])

    def test_outputs_are_written(self, sqemu, tmp_path):
        """`--outputs` writes out and final_state in float16, close to the golden values."""
        case = next(c for c in CASES if c.name.startswith("c04"))
        assert sqemu("op", "cgdr", "--inputs", case, "--outputs", tmp_path / "o.npz").code == 0
        golden, found = arrays_of(case), arrays_of(tmp_path / "o.npz")
        assert found["out"].dtype == np.float16
        error = np.sqrt(np.mean((found["out"].astype(float) - golden["out"]) ** 2) / np.mean(golden["out"] ** 2))
        assert error <= 5e-4

    def test_a_wrong_reference_fails(self, sqemu, tmp_path):
        """A reference that is off by 1 % fails the check with exit 1."""
        arrays = arrays_of(next(c for c in CASES if c.name.startswith("c11")))
        arrays["out"] = arrays["out"] * 1.01
        np.savez(tmp_path / "wrong.npz", **arrays)
        found = sqemu("op", "cgdr", "--inputs", tmp_path / "wrong.npz", "--verify")
        assert found.code == 1
        assert "FAILED" in found.out

    def test_own_reference(self, sqemu, tmp_path):
        """Without references in the file the operator's float64 definition is used."""
        arrays = arrays_of(next(c for c in CASES if c.name.startswith("c11")))
        del arrays["out"], arrays["final_state"]
        np.savez(tmp_path / "bare.npz", **arrays)
        assert sqemu("op", "cgdr", "--inputs", tmp_path / "bare.npz", "--verify").code == 0

    def test_missing_keys_are_listed(self, sqemu):
        """A file that is no case is refused with the keys it lacks and the keys it has."""
        found = sqemu("op", "cgdr", "--inputs", CASES[0].parent / "x04_intermediates_dk80_head0.npz", "--json")
        assert (found.code, found.error["error"]) == (2, "case.missing-key")
        assert "query" in found.error["what"]
        assert "k_cumdecay" in found.error["remedy"]

    def test_keys_without_a_use_are_said(self, sqemu, tmp_path):
        """A misspelled optional key is named, since it is ignored."""
        arrays = arrays_of(next(c for c in CASES if c.name.startswith("c11")))
        arrays["G"] = arrays.pop("g")
        del arrays["has_g"]
        np.savez(tmp_path / "typo.npz", **arrays)
        found = sqemu("op", "cgdr", "--inputs", tmp_path / "typo.npz")
        assert "no use for G" in found.err

    def test_golden_files_have_no_unused_key(self, sqemu):
        """Every key of a golden case is used, so nothing is said about it."""
        assert all(not sqemu("op", "cgdr", "--inputs", c).err for c in CASES)

    def test_outputs_without_reference_are_said(self, sqemu, tmp_path):
        """A case with one reference only says which output was not checked, and whose references were used."""
        arrays = arrays_of(next(c for c in CASES if c.name.startswith("c11")))
        del arrays["final_state"]
        np.savez(tmp_path / "half.npz", **arrays)
        found = sqemu("op", "cgdr", "--inputs", tmp_path / "half.npz", "--verify")
        assert "references of the case" in found.out
        assert "not checked, for lack of a reference: final_state" in found.out

    def test_a_reference_of_another_shape(self, sqemu, tmp_path):
        """A reference whose shape differs fails with both shapes."""
        arrays = arrays_of(next(c for c in CASES if c.name.startswith("c11")))
        arrays["out"] = arrays["out"][:5]
        np.savez(tmp_path / "shape.npz", **arrays)
        found = sqemu("op", "cgdr", "--inputs", tmp_path / "shape.npz", "--verify")
        assert found.code == 1
        assert "the reference has [5, 2, 16]" in found.out

    def test_ported_kernel_is_labelled(self, sqemu):
        """On 910B the kernel is labelled as ported, and the declared tiling dependency as ours."""
        found = sqemu("op", "cgdr", "--inputs", CASES[-1], "--chip", "ascend910b3")
        assert "as ported" in found.out
        assert "is ours" in found.out

    def test_tiling_depend_none_runs_without_sink(self, sqemu):
        """`cgdr.tiling_depend=none` tiles once at compile time: no update, same check."""
        found = sqemu("op", "cgdr", "--inputs", CASES[3], "--policy", "cgdr.tiling_depend=none", "--verify")
        assert found.code == 0
        assert "0 task updates" in found.out


class TestOtherOperators:
    @pytest.mark.parametrize(("n", "key", "blocks"), [(1, 1, 1), (5, 2, 5), (100, 1, 8), (0, 0, 1)])
    def test_probe(self, sqemu, tmp_path, n, key, blocks):
        """TilingProbe launches with key n mod 3 and min(max(n, 1), 8) blocks."""
        np.savez(tmp_path / "c.npz", x=np.zeros(40, "f4"), n=np.array([n], "i4"))
        found = sqemu("op", "probe", "--inputs", tmp_path / "c.npz", "--verify", "--json")
        assert found.code == 0
        launch = found.objects[0]["launches"][0]
        assert (launch["tiling_key"], launch["block_dim"]) == (key, blocks)

    def test_add(self, sqemu, tmp_path):
        """The custom operator adds exactly."""
        np.savez(tmp_path / "c.npz", x=np.arange(100, dtype="f4"), y=np.full(100, 0.5, "f4"), n=np.array([7], "i4"))
        found = sqemu(
            "op", "AddCustomTilingSink", "--inputs", tmp_path / "c.npz", "--outputs", tmp_path / "o.npz", "--verify"
        )
        assert found.code == 0
        assert arrays_of(tmp_path / "o.npz")["z"].tolist() == [i + 0.5 for i in range(100)]

    def test_list(self, sqemu):
        """--list shows every operator with inputs, attributes, and what its tiling reads."""
        text = sqemu("op", "--list").out
        assert "ChunkGatedDeltaRule  (short: cgdr)" in text
        assert "actual_seq_lengths, g?" in text
        names = {o["op"] for o in sqemu("op", "--list", "--json").objects}
        assert {"ChunkGatedDeltaRule", "TilingProbe", "AddCustomTilingSink"} <= names

    def test_nothing_to_run(self, sqemu):
        """Without an operator and a case there is nothing to do."""
        assert sqemu("op").code == 2
        assert sqemu("op", "cgdr").code == 2

    def test_unknown_operator(self, sqemu, tmp_path):
        """An operator that nobody declares is refused with the list of known ones."""
        np.savez(tmp_path / "c.npz", x=np.zeros(1))
        found = sqemu("op", "softmax", "--inputs", tmp_path / "c.npz", "--json")
        assert (found.code, found.error["error"]) == (2, "operator.unknown")
        assert "cgdr" in found.error["remedy"]

    def test_unusable_array_type(self, sqemu, tmp_path):
        """An array of complex numbers is refused by name."""
        np.savez(tmp_path / "c.npz", x=np.zeros(4, complex), n=np.zeros(1, "i4"))
        found = sqemu("op", "probe", "--inputs", tmp_path / "c.npz", "--json")
        assert (found.code, found.error["error"]) == (2, "input.dtype")
