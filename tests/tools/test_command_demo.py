"""`sqemu demo`."""

from __future__ import annotations

import pytest


class TestDemo:
    @pytest.mark.parametrize("chip", ["ascend310p3", "ascend910b3", "ascend950pr_950z"])
    def test_clean_and_repeatable(self, sqemu, chip):
        """The demo ends without hazards or faults and prints the same bytes again."""
        first = sqemu("demo", "--chip", chip)
        assert first.code == 0
        assert "0 hazards, 0 faults" in first.out
        assert "equal, byte for byte" in first.out
        assert "FAILED" not in first.out
        assert sqemu("demo", "--chip", chip).out == first.out

    def test_patches_by_whom(self, sqemu):
        """Three operators in three executions give nine patches of block dim, from 0xFFFF first and by the update."""
        runs = [o for o in sqemu("demo", "--json").objects if "patches" in o]
        dims = [p for o in runs for p in o["patches"] if p["field"] == "block_dim"]
        assert len(runs) == 3
        assert len(dims) == 9
        assert {p["writer"]["engine"] for p in dims} == {"task_update"}
        assert [p["before"] for p in dims[:3]] == [0xFFFF] * 3
        # TilingProbe ran with n = 3, 7, 5 and AddCustomTilingSink with 4, 1, 6.
        assert [p["after"] for p in dims[1::3]] == [3, 7, 5]
        assert [p["after"] for p in dims[2::3]] == [4, 1, 6]

    def test_host_tiling_costs_round_trips(self, sqemu):
        """Host tiling pays three round trips of 30 µs per execution."""
        found = sqemu("demo")
        assert found.out.count("90.0") == 3


class TestLayer:
    """`sqemu demo --layer`."""

    def test_decoding_is_one_pass_over_all_tokens(self, sqemu):
        """Prefill of 70 tokens and three single ones, beside 73 at once: outputs and states are within the limit."""
        done = sqemu("demo", "--layer")
        assert done.code == 0
        assert [line.split()[0] for line in done.out.splitlines() if line.startswith(("  prefill", "  decode"))] == [
            "prefill",
            *["decode"] * 3,
        ]
        assert done.out.count(" ok") == 3
        assert "4 chunks cube, 4 tails vector" in done.out

    def test_json(self, sqemu):
        """A step per line, then the comparison with its limit."""
        *steps, last = sqemu("demo", "--layer", "--json", "--chip", "ascend910b3").objects
        assert [(s["step"], s["tokens"], s["ok"]) for s in steps] == [
            ("prefill", 70, True), ("decode 1", 1, True), ("decode 2", 1, True), ("decode 3", 1, True),
        ]  # fmt: skip
        assert last["ok"]
        assert set(last["normalised_rms"]) == {"y", "new_conv_state", "new_state"}
        assert all(found <= last["limit"] for found in last["normalised_rms"].values())

    def test_a_layer_that_differs_is_a_failure(self, sqemu, monkeypatch):
        """With a limit of nothing the rounding of float16 shows, and the exit code is 1."""
        monkeypatch.setattr("tools.demo.layer.LIMIT", 0.0)
        done = sqemu("demo", "--layer")
        assert done.code == 1
        assert "TOO FAR" in done.out
