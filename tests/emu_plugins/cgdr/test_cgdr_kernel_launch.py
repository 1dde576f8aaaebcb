"""The kernel over real device memory: binding, written ranges, refusals, cost."""

from __future__ import annotations

import functools
import struct
from dataclasses import replace

import numpy as np
import pytest

from emu_core.errors import DeviceFault
from emu_plugins.accuracy import normalised_rms
from emu_plugins.cgdr import faithful
from emu_plugins.cgdr.codecs import bfloat16_to_float32, float32_to_bfloat16
from emu_plugins.cgdr.faithful import run_faithful
from emu_plugins.cgdr.fp32 import job_runner
from emu_plugins.cgdr.kernel import KERNELS, kernel_cost, run_bfloat16, run_float16
from emu_plugins.cgdr.reference import reference

FP32 = {"cgdr.product": "fp32"}


@pytest.fixture
def arrays(load_case):
    """Five, 64 and 70 tokens, two heads of 16."""
    return load_case("c11_dk16_dv16_tiny_varlen")


def _patched(made, offset, value, code="I"):
    """Write one field of the tiling data in device memory."""
    made.board.memory.write(made.words[10] + offset, struct.pack(f"<{code}", value))


def _fault_of(launch):
    with pytest.raises(DeviceFault) as caught:
        run_float16(launch)
    return caught.value


class TestStoredCases:
    def test_float32_meets_the_references(self, make_board, load_case, case_name):
        """A float32 launch meets the float64 results within 2.5e-4 and reads nothing unwritten."""
        arrays = load_case(case_name)
        made = make_board(arrays, FP32)
        run_float16(made.launch())
        assert normalised_rms(made.out(), arrays["out"]) <= 2.5e-4
        assert normalised_rms(made.final_state(), arrays["final_state"]) <= 2.5e-4
        assert made.board.unwritten == []

    def test_everything_is_written(self, make_board, arrays):
        """With lengths that add up to T every byte of both outputs counts as written."""
        made = make_board(arrays)
        run_float16(made.launch())
        for word, array in ((7, "value"), (8, "initial_state")):
            assert made.board.memory.unwritten(made.words[word], arrays[array].nbytes) is None


class TestLaunchParameters:
    @pytest.mark.parametrize("block_dim", range(1, 9))
    def test_block_dim_does_not_change_results(self, make_board, arrays, block_dim):
        """More or fewer blocks than tiled give the same bytes."""
        made, again = make_board(arrays), make_board(arrays, workspace=32 << 20)
        run_float16(made.launch())
        run_float16(again.launch(block_dim=block_dim))
        assert made.out().tobytes() == again.out().tobytes()

    @pytest.mark.parametrize("key", [0, 1, 2])
    def test_a_narrower_instance_gives_the_same_numbers(self, make_board, load_case, key):
        """In float32 the compiled width only changes the path, not the numbers."""
        arrays = load_case("c07_dk128_dv128_gqa_nog")
        made, again = make_board(arrays, FP32), make_board(arrays, FP32)
        run_float16(made.launch())
        run_float16(again.launch(key=key))
        assert made.out().tobytes() == again.out().tobytes()

    def test_a_wider_instance_does_not_fit_the_plan(self, make_board, arrays):
        """The 128-wide instance needs a queue of 16384 bytes where the tiling for 64 left 8192."""
        fault = _fault_of(make_board(arrays).launch(key=3))
        assert (fault.id, fault.ts_code) == ("cgdr.ub", 0x26)
        assert "16384" in fault.what
        assert "8192" in fault.what

    @pytest.mark.parametrize("key", [4, 1 << 40])
    def test_unknown_key(self, make_board, arrays, key):
        """There are four instances."""
        assert _fault_of(make_board(arrays).launch(key=key)).id == "cgdr.tiling-key"

    @pytest.mark.parametrize("block_dim", [0, 9, 0xFFFF])
    def test_block_dim_beyond_the_chip(self, make_board, arrays, block_dim):
        """No block, or more than the chip has cores, is a fault."""
        assert _fault_of(make_board(arrays).launch(block_dim=block_dim)).id == "cgdr.block-dim"


class TestThreads:
    @pytest.mark.parametrize("case", ["c02_dk64_dv64_varlen_gqa", "c05_dk96_dv160_vsplit"])
    def test_bytes_do_not_depend_on_workers(self, make_board, load_case, monkeypatch, case):
        """One, two and four workers leave the same bytes in both outputs and in the workspace."""
        found = []
        for workers in (1, 2, 4):
            monkeypatch.setattr(faithful, "run_faithful", functools.partial(run_faithful, workers=workers))
            made = make_board(load_case(case))
            run_float16(made.launch())
            workspace = made.board.memory.read(made.words[9], made.tiling.workspace_need)
            found.append((made.out().tobytes(), made.final_state().tobytes(), workspace))
        assert found[1:] == found[:1] * 2

    @pytest.mark.parametrize(
        ("lengths", "defects", "workers"),
        [([5, 64, 70], "none", 2), ([64, -60, 70], "none", 1), ([5, 64, 70], "D4", 2)],
    )
    def test_what_may_overlap_runs_in_order(self, make_board, arrays, monkeypatch, lengths, defects, workers):
        """Sequences that overlap through a negative length run on one worker; heads of 16 do not spill under D4."""
        asked = []

        def recorded(count):
            asked.append(count)
            return job_runner(count)

        monkeypatch.setattr(faithful, "job_runner", recorded)
        arrays["actual_seq_lengths"] = np.array(lengths, np.int32)
        run_float16(make_board(arrays, {"cgdr.defects": defects}).launch())
        assert asked == [workers]

    def test_spilling_rows_run_in_order(self, make_board, load_case, monkeypatch):
        """Rows of 63 columns spill under D4, so one worker writes them in the order of blocks."""
        asked = []

        def recorded(count):
            asked.append(count)
            return job_runner(count)

        monkeypatch.setattr(faithful, "job_runner", recorded)
        arrays = load_case("c01_dk63_dv63_onechunk")
        with pytest.raises(DeviceFault, match="past the end of out"):
            run_float16(make_board(arrays, {"cgdr.defects": "D4"}).launch())
        assert asked == [1]


class TestTilingData:
    @pytest.mark.parametrize("offset", [16, 20, 24, 28, 56])
    def test_zero_widths(self, make_board, arrays, offset):
        """Zero heads, widths or V step are refused instead of divided by."""
        made = make_board(arrays)
        _patched(made, offset, 0)
        assert _fault_of(made.launch()).id == "cgdr.tiling-data"

    def test_other_chunk_sizes(self, make_board, arrays):
        """The kernel is built for chunks of 64."""
        made = make_board(arrays)
        _patched(made, 32, 128)
        assert "chunkSize is 128" in _fault_of(made.launch()).what

    def test_tiling_data_that_nobody_wrote(self, make_board, arrays):
        """All zeros are refused with everything that is wrong."""
        made = make_board(arrays)
        made.board.memory.write(made.words[10], bytes(64))
        assert "hqk is 0" in _fault_of(made.launch()).what

    @pytest.mark.parametrize("offset", [12, 20, 24, 28, 40])
    def test_more_than_the_memory(self, make_board, arrays, offset):
        """Sizes beyond device memory are refused before anything is read."""
        made = make_board(arrays)
        _patched(made, offset, 0xFFFFFFFF)
        assert _fault_of(made.launch()).id in {"cgdr.tiling-data", "cgdr.ub"}

    def test_a_buffer_plan_that_does_not_fit(self, make_board, arrays):
        """A V step that needs more UB than the tiling data leaves is a fault (contract C2)."""
        made = make_board(arrays)
        _patched(made, 8, 99583)
        fault = _fault_of(made.launch())
        assert fault.id == "cgdr.ub"
        assert "99584" in fault.what

    def test_wrong_sizes_hit_the_bounds_of_memory(self, make_board, arrays):
        """More sequences than the tensors hold are found by the memory."""
        made = make_board(arrays)
        _patched(made, 40, 4)
        assert _fault_of(made.launch()).id == "memory.bounds"

    def test_key_heads_out_of_range(self, make_board, arrays):
        """A head count that maps past the last key head is a fault with both numbers."""
        made = make_board(arrays)
        _patched(made, 16, 2)
        _patched(made, 24, 3)
        fault = _fault_of(made.launch())
        assert fault.id == "cgdr.key-head"
        assert "key head 2, and there are 2" in fault.what

    def test_g_without_an_address(self, make_board, arrays):
        """Tiling data that promise g need its argument."""
        made = make_board(arrays)
        made.words[6] = 0
        assert _fault_of(made.launch()).id == "cgdr.gamma"

    def test_scale_comes_from_the_tiling_data(self, make_board, arrays):
        """The output is proportional to the scale in the tiling data."""
        made = make_board(arrays)
        _patched(made, 52, 0.0, "f")
        run_float16(made.launch())
        assert not made.out().any()


class TestLengths:
    @pytest.mark.parametrize("policies", [{}, {"cgdr.product": "fp32"}], ids=["two_term", "fp32"])
    def test_skipped_sequences_leave_their_slices_unwritten(self, make_board, arrays, policies):
        """A zero length leaves its final_state slice, and tokens past the sum of lengths their rows, unwritten."""
        arrays["actual_seq_lengths"] = np.array([5, 0, 70], np.int32)
        made = make_board(arrays, policies)
        run_float16(made.launch())
        memory, row, slice_bytes = made.board.memory, 2 * 16 * 2, 2 * 16 * 16 * 2
        assert memory.unwritten(made.words[7], 139 * row) == made.words[7] + 75 * row
        assert memory.unwritten(made.words[8], 3 * slice_bytes) == made.words[8] + slice_bytes
        assert memory.unwritten(made.words[8] + 2 * slice_bytes, slice_bytes) is None
        want = reference(arrays, float(arrays["scale"]))
        assert normalised_rms(made.out()[:75], want["out"][:75]) <= 5e-4

    def test_no_sequence_at_all(self, make_board, arrays):
        """Without a token nothing is written."""
        arrays["actual_seq_lengths"] = np.array([0, 0, -1], np.int32)
        made = make_board(arrays)
        run_float16(made.launch())
        assert made.board.memory.unwritten(made.words[7], 1) == made.words[7]

    def test_no_batch(self, make_board, arrays):
        """With B = 0 in the tiling data the lengths are not even read."""
        made = make_board(arrays)
        _patched(made, 40, 0)
        made.words[5] = 0
        run_float16(made.launch())
        assert made.board.memory.unwritten(made.words[8], 1) == made.words[8]

    @pytest.mark.parametrize("policies", [{}, {"cgdr.product": "fp32"}], ids=["two_term", "fp32"])
    def test_a_negative_length_moves_the_next_start(self, make_board, arrays, policies):
        """After 64 and -4 the third sequence starts at token 60 and overwrites the rows from there."""
        arrays["actual_seq_lengths"] = np.array([64, -4, 70], np.int32)
        made = make_board(arrays, policies)
        run_float16(made.launch())
        alone = {**arrays, "initial_state": arrays["initial_state"][2:], "actual_seq_lengths": np.array([70], np.int32)}
        for name in ("query", "key", "value", "beta", "g"):
            alone[name] = arrays[name][60:130]
        want = reference(alone, float(arrays["scale"]))
        assert normalised_rms(made.out()[60:130], want["out"]) <= 5e-4

    @pytest.mark.parametrize("lengths", [[5, 64, 71], [140, 0, 0], [-5, 10, 10], [2**31 - 1, 1, 1]])
    def test_tokens_that_do_not_exist(self, make_board, arrays, lengths):
        """Sequences that start before token 0 or end past T are a fault that names the first and last token."""
        arrays["actual_seq_lengths"] = np.array(lengths, np.int32)
        fault = _fault_of(make_board(arrays).launch())
        assert fault.id == "cgdr.tokens"
        assert "T = 139" in fault.what

    def test_tokens_are_named_as_a_half_open_range(self, make_board, arrays):
        """5 + 64 tokens come before the third sequence of 71, so it would end at 140, one past the last of 139."""
        arrays["actual_seq_lengths"] = np.array([5, 64, 71], np.int32)
        assert _fault_of(make_board(arrays).launch()).what == "sequence 2 covers tokens [69, 140), T = 139"


class TestBfloat16:
    def test_results_meet_the_reference(self, make_board, load_case):
        """bfloat16 activations, carried as uint16, give the recurrence within the rounding of bfloat16."""
        arrays = load_case("c03_dk65_dv48_padV")
        carried = dict(arrays)
        for name in ("query", "key", "value", "beta", "initial_state"):
            carried[name] = float32_to_bfloat16(arrays[name].astype(np.float32))
        made = make_board(carried)
        run_bfloat16(made.launch())
        exact = {
            name: bfloat16_to_float32(array) if array.dtype == np.uint16 else array for name, array in carried.items()
        }
        want = reference(exact, float(arrays["scale"]))
        assert normalised_rms(bfloat16_to_float32(made.out()), want["out"]) <= 2e-3
        assert normalised_rms(bfloat16_to_float32(made.final_state()), want["final_state"]) <= 2e-3


class TestCost:
    def test_operations_and_bytes(self, make_board, load_case):
        """Work is that of the chunk products, traffic that of every tensor once."""
        arrays = load_case("c04_dk80_dv80")
        cost = kernel_cost(make_board(arrays).launch())
        # Per chunk and head: 3*64*64*80 + 64^3/3 on K, 80*(2*64*64 + 3*64*80) on V; 3 chunks, 2 heads, 2 each.
        assert cost.flops == 2 * (983040 + 87381 + 655360 + 1228800) * 3 * 2
        names = ("query", "key", "value", "beta", "initial_state", "actual_seq_lengths", "g")
        outputs = arrays["value"].nbytes + arrays["initial_state"].nbytes
        assert cost.bytes == sum(arrays[name].nbytes for name in names) + outputs

    def test_a_refused_launch_costs_nothing(self, make_board, arrays):
        """What the kernel refuses has no cost."""
        cost = kernel_cost(make_board(arrays).launch(block_dim=0))
        assert (cost.flops, cost.bytes) == (0, 0)


def test_kernel_records(chip):
    """Both binaries have four entries on the cube core; only the bfloat16 one is tied to products."""
    float16, bfloat16 = KERNELS
    assert float16.tiling_keys == bfloat16.tiling_keys == (0, 1, 2, 3)
    assert float16.products == ()
    assert chip.product not in bfloat16.products
    assert "as ported" in dict(float16.note)["A2"]


def test_cores_of_a_larger_chip(make_board, arrays):
    """The block dim may reach the largest core count of the chip, whatever the tiling's was."""
    made = make_board(arrays, workspace=32 << 20)
    made.board.chip = replace(made.board.chip, core_num_aiv=48)
    run_float16(made.launch(block_dim=48))
    assert normalised_rms(made.out(), arrays["out"]) <= 5e-4
