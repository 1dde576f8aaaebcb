"""Contracts between host, workspace and device kernel: what holds, and a mutation that shows each one broken."""

from __future__ import annotations

import numpy as np
import pytest

import formats
from emu_core.errors import DeviceFault
from emu_plugins import cgdr
from emu_plugins.cgdr.chunk_buffers import ChunkBuffers, Loader
from emu_plugins.cgdr.constants import DEVICE_STAGE_SLOT_BYTES, STAGE_BYTES_PER_CORE
from emu_plugins.cgdr.contracts import (
    StagePlan,
    cores_note,
    counter_break,
    matmul_of,
    queue_break,
    stage_break,
    struct_breaks,
    workspace_break,
)
from emu_plugins.cgdr.kernel import run_float16
from emu_plugins.cgdr.paths import Geometry
from emu_plugins.cgdr.tiling import out_queue_bytes
from emu_plugins.cgdr.tiling_data import C_NAMES


@pytest.fixture
def arrays(load_case):
    """192 tokens, two heads of 80."""
    return load_case("c04_dk80_dv80")


def _fault_of(launch):
    with pytest.raises(DeviceFault) as caught:
        run_float16(launch)
    return caught.value


class TestStaging:
    def test_both_sides_agree(self):
        """Host and device mean 131072 bytes per core, two slots of 65536."""
        plan = StagePlan(64, 128, 128, 2, 1000, 8)
        assert plan.host_bytes == plan.device_bytes == STAGE_BYTES_PER_CORE == 131072
        assert DEVICE_STAGE_SLOT_BYTES == 65536
        assert stage_break(plan, {}) is None

    def test_one_slot(self):
        """With one slot both ask for half."""
        assert stage_break(StagePlan(64, 128, 128, 1, 0, 8), {}) is None
        assert StagePlan(64, 128, 128, 1, 0, 8).device_bytes == 65536

    def test_shrunk_formula_names_formulas_and_repairs(self, make_board, arrays):
        """64x64x64 asks for 49152 bytes per core where the device strides 131072: both formulas, both repairs."""
        fault = _fault_of(make_board(arrays, {"cgdr.host_matmul": "64x64x64"}).launch())
        assert fault.id == "cgdr.stage"
        assert "2 * (2 * 64 * 64 + 64 * 64) * 2 = 49152" in fault.what
        assert "2 * 65536 = 131072" in fault.what
        assert "ask for 131072 bytes per core" in fault.remedy
        assert "slot of 24576 bytes" in fault.remedy
        # 2 heads * 80 * 80 floats of states, then block 0's 49152 bytes; its device slots reach 81920 further.
        assert (
            "block 0 overwrites 49152 bytes that the host planned for block 1 (workspace offset 100352)" in fault.what
        )

    def test_the_floor_hides_the_end(self, make_board, arrays):
        """Small launches stay inside the 32 MiB that are asked for in any case."""
        what = _fault_of(make_board(arrays, {"cgdr.host_matmul": "64x64x64"}).launch()).what
        assert "the floor of 33554432 bytes hides the rest, since the last slot ends at 313344" in what

    def test_owner_of_the_bytes_behind(self):
        """With 64 MiB of states the last 655360 bytes lie behind the workspace, in whatever tensor is there."""
        plan = StagePlan(64, 64, 64, 2, 64 << 20, 8)
        workspace, end = 0x1000, 0x1000 + (64 << 20) + 8 * 49152
        found = stage_break(plan, {"out": (end + 600000, 1 << 20), "query": (end + 655360, 64)}, workspace)
        assert "the last 655360 bytes of it lie past the 67502080 asked for and overwrite out" in found.what
        assert "query" not in found.what
        alone = stage_break(plan, {}, workspace)
        assert "overwrite whatever lies behind the workspace" in alone.what

    def test_a_larger_formula_only_wastes(self):
        """A host that asks for more than the device strides breaks nothing but leaves bytes unused."""
        # 2 * (2 * 128 * 128 + 128 * 128) * 2 = 196608, 65536 more than two slots.
        assert "65536 bytes per core stay unused" in stage_break(StagePlan(128, 128, 128, 2, 0, 1), {}).what

    def test_memory_checks_each_slot(self, make_board, arrays):
        """A workspace that really has only the smaller size stops the launch at its end, by the workspace's name."""
        made = make_board(arrays, workspace=2 * 80 * 80 * 4 * 2 + 2 * 49152)
        fault = _fault_of(made.launch())
        assert fault.id == "memory.bounds"
        assert "workspace" in fault.what

    def test_policy_value(self):
        """M, K and N are read from the value."""
        assert matmul_of("64x80x96") == (64, 80, 96)


class TestStruct:
    def _device(self):
        found = formats.get("runtime", "CgdrTilingData")
        return [(f.name, f.offset // 8, f.width // 8) for f in found.fields]

    def _host(self):
        return [(name, 4 * i, 4) for i, name in enumerate(C_NAMES)]

    def test_both_copies_agree(self):
        """16 fields of four bytes, in one order."""
        assert list(struct_breaks(self._host(), self._device())) == []

    def test_a_field_that_is_gone_shifts_the_rest(self):
        """Without one field the break is at its place and names both sides."""
        host = [(name, 4 * i, 4) for i, name in enumerate(n for n in C_NAMES if n != "dk")]
        (found,) = struct_breaks(host, self._device())
        assert "at byte 20: the host has hv (4 bytes), the device reads dk at 20" in found.what

    def test_a_field_at_the_end(self):
        """One field more on one side is a break of its own."""
        (found,) = struct_breaks([*self._host(), ("chunk2", 64, 4)], self._device())
        assert "the host has 17 fields, the device 16" in found.what


class TestQueue:
    @pytest.mark.parametrize("width", [64, 80, 96, 128])
    def test_every_image_fits(self, width):
        """On the Cube path the widest image is the queue's own size."""
        assert (
            queue_break(Geometry(width, width, width, width, width, 1, width, 1.0), out_queue_bytes(width, width))
            is None
        )

    def test_a_bucket_below_64_would_not_fit(self):
        """With 48 columns the keys need 6144 bytes and W 8192, where the queue has 6144."""
        found = queue_break(Geometry(48, 48, 48, 48, 48, 1, 48, 1.0), out_queue_bytes(48, 48))
        assert "the W step stages 8192 bytes in the out queue of 6144" in found.what


class TestLaunch:
    def test_no_cores(self):
        """A platform without cores is worth a note, no error (C5)."""
        assert "0 cores" in cores_note(0)
        assert cores_note(8) is None

    def test_workspace_that_is_not_there(self, make_board, arrays):
        """A workspace of address 0 is a fault that says who needs it (C6)."""
        made = make_board(arrays)
        made.words[9] = 0
        fault = _fault_of(made.launch())
        assert fault.id == "cgdr.workspace"
        assert "float32 states and staging slots" in fault.what

    def test_workspace_that_nobody_needs(self, make_board, arrays):
        """A single short chunk runs without a workspace."""
        arrays = {**arrays, "actual_seq_lengths": np.array([40], np.int32)}
        made = make_board(arrays)
        made.words[9] = 0
        run_float16(made.launch())
        assert workspace_break(0, states=False, slots=False) is None

    def test_counter(self):
        """2^31 tokens of two heads do not fit the device's counter, one fewer does (C7)."""
        assert counter_break(2**31 - 1, 2, 1) is None
        found = counter_break(2**31, 2, 1)
        assert "= 4294967296 do not fit 32 bits" in found.what

    def test_one_more_than_counted(self):
        """What the device would share is the rest modulo 2^32."""
        assert "would share 2 among its blocks" in counter_break(2**31 + 1, 2, 1).what


class TestPadding:
    def test_nan_everywhere_changes_nothing(self, make_board, load_case, case_name):
        """Buffers full of NaN before each chunk give the same bytes: nobody reads what was not loaded (C9)."""
        arrays = load_case(case_name)
        made, again = make_board(arrays), make_board(arrays, {"cgdr.padding": "nan"})
        run_float16(made.launch())
        run_float16(again.launch())
        assert made.out().tobytes() == again.out().tobytes()
        assert made.final_state().tobytes() == again.final_state().tobytes()

    @pytest.mark.parametrize(("method", "buffer"), [("_zero_v_padding", "v"), ("_zero_k_padding", "k")], ids=["V", "K"])
    def test_a_loader_that_forgets_is_found(self, make_board, load_case, monkeypatch, method, buffer):
        """A loader that leaves padding as it was faults before the first product, with the buffer's name."""
        made = make_board(load_case("c01_dk63_dv63_onechunk"), {"cgdr.padding": "nan"})
        monkeypatch.setattr(Loader, method, lambda _self, _tile: None)
        fault = _fault_of(made.launch())
        assert fault.id == "cgdr.padding"
        assert f"buffer {buffer} " in fault.what

    def test_what_the_check_prevents(self, make_board, load_case, monkeypatch):
        """Unchecked, what stands in the padding of K reaches every output."""
        made = make_board(load_case("c01_dk63_dv63_onechunk"), {"cgdr.padding": "nan"})
        monkeypatch.setattr(Loader, "_zero_k_padding", lambda _self, _tile: None)
        monkeypatch.setattr(ChunkBuffers, "padding_is_zero", lambda *_: None)
        run_float16(made.launch())
        assert np.isnan(made.out()).all()


def test_every_fault_is_explained():
    """Each id that a contract gives has an explanation."""
    ids = {"cgdr.stage", "cgdr.queue", "cgdr.workspace", "cgdr.counter", "cgdr.padding", "cgdr.state-shape"}
    assert ids <= set(cgdr.sqemu_explanations())
