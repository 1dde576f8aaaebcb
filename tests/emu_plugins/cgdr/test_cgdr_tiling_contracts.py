"""Contracts between host tiling and device: that they hold, and what a changed rule on one side would break."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_plugins.cgdr.items import work_items
from emu_plugins.cgdr.launch import launch_problem
from emu_plugins.cgdr.tiling import (
    ShapeDims,
    align_k_of,
    block_dim_of,
    ceil_align_u32,
    div_ceil_u32,
    out_queue_bytes,
    select_cube_dk,
    tile,
    tmp_buff_bytes,
)
from emu_plugins.cgdr.tiling_contracts import (
    device_align_k,
    idle_blocks,
    no_bucket_breaks,
    ownership_breaks,
    reachable_widths,
    split_breaks,
)

WIDTHS = (64, 80, 96, 128)
SHAPES = [(dv, v_step) for dv in range(1, 300) for v_step in range(16, 145, 16)]


class TestC10NoBucket:
    def test_host_and_device_agree(self):
        """For Dk 1 to 256 the host's K width is that of every kernel that may run it."""
        assert list(no_bucket_breaks(range(1, 257))) == []

    @pytest.mark.parametrize("width", WIDTHS)
    def test_all_four_kernels_without_a_bucket(self, width):
        """From Dk 129 on each of the four kernels uses Dk in blocks of 16, as the host plans."""
        for dk in range(129, 257):
            assert width in reachable_widths(dk)
            assert device_align_k(dk, width) == align_k_of(dk) == (dk + 15) // 16 * 16

    def test_with_a_bucket_only_its_kernel_counts(self):
        """Up to Dk 128 the key selects one kernel, whose width is the bucket."""
        assert [reachable_widths(dk) for dk in (1, 65, 96, 128)] == [(64,), (80,), (96,), (128,)]

    @pytest.mark.parametrize("key", range(4))
    @pytest.mark.parametrize("dk", [1, 64, 65, 80, 81, 96, 97, 128, 129, 144, 145, 256])
    def test_the_kernel_uses_the_device_rule(self, chip, dk, key):
        """A launch of each instance needs exactly the UB of the device's K width: one byte less is refused."""
        align_k = device_align_k(dk, WIDTHS[key])
        room, queue = tmp_buff_bytes(16, align_k), out_queue_bytes(16, align_k)
        tiled = tile(ShapeDims(64, 1, dk, 1, 16, 1), cores=8, ub_bytes=1 << 20, has_gamma=False, scale_value=1.0)
        data = replace(tiled.data_fields(), v_step=16, rest_bytes=room, ub_bytes=room + queue)
        launch = SimpleNamespace(tiling_key=key, block_dim=1, chip=chip)
        assert launch_problem(data, launch) is None
        assert launch_problem(replace(data, rest_bytes=room - 1), launch).id == "cgdr.ub"
        assert launch_problem(replace(data, ub_bytes=room + queue - 1), launch).id == "cgdr.ub"

    def test_mutation_another_sentinel_on_the_host(self):
        """If 'no bucket' were the 96 of the fallback kernel, Dk 129 would overrun UB in all four kernels."""
        breaks = list(no_bucket_breaks(range(120, 130), host=lambda dk: select_cube_dk(dk) or 96))
        assert [found.where for found in breaks] == [f"dk 129, instance {width}" for width in WIDTHS]
        # tbuf + out queue at 16 columns: K 144: 73728 + 16384 + 8192 + 256 + 576 + 576 + 256 + 256 + 16384 + 4608;
        # K 96: 49152 + 16384 + 8192 + 256 + 384 + 384 + 256 + 256 + 16384 + 3072.
        assert breaks[0].harm == f"the device's buffers pass the planned end of UB by at least {121216 - 94720} bytes"
        assert "host plans K width 96, device uses 144" in breaks[0].text()
        assert all(repair in breaks[0].text() for repair in breaks[0].repairs)

    def test_mutation_device_without_the_comparison(self):
        """If the device took its compiled width for every Dk, all heads above 128 would break."""
        breaks = list(no_bucket_breaks(range(1, 257), device=lambda _dk, width: width))
        assert {found.where for found in breaks} == {f"dk {dk}, instance {w}" for dk in range(129, 257) for w in WIDTHS}
        assert "stay empty" in breaks[0].harm

    def test_mutation_natural_width_on_the_host(self):
        """If the host kept `!1108`'s natural width, every Dk whose blocks of 16 are no bucket would break."""
        breaks = list(no_bucket_breaks(range(1, 129), host=lambda dk: ceil_align_u32(dk, 16)))
        broken = {int(found.where.split()[1].rstrip(",")) for found in breaks}
        assert broken == set(range(1, 49)) | set(range(97, 113))


class TestC11Split:
    def test_host_and_device_agree(self):
        """For every dv and step both sides have the same number of V tiles."""
        assert list(split_breaks(SHAPES)) == []

    def test_mutation_device_keeps_the_condition_on_blocks(self):
        """With `!1108`'s 'and more blocks than heads' the device leaves columns 128 to 255 of 8 heads to nobody."""
        blocks, hv = 8, 8
        (found,) = split_breaks([(256, 128)], device=lambda dv, v_step: 2 if dv > v_step and blocks > hv else 1)
        assert found.contract == "C11"
        assert found.harm == "columns 128 to 255 of every head are computed by nobody"

    def test_mutation_device_splits_at_equality(self):
        """If the device split at dv = vStep, its second item would lie outside the head."""
        (found,) = split_breaks([(64, 64)], device=lambda dv, v_step: 2 if dv >= v_step else 1)
        assert found.harm == "items from column 64 on lie outside the head"

    def test_mutation_host_counts_whole_tiles_only(self):
        """If the host rounded down, blocks would be missing, and the break names both counts."""
        (found,) = split_breaks([(160, 96)], host=lambda dv, v_step: dv // v_step)
        assert "host counts 1 V tiles per head, device walks 2" in found.text()
        assert found.harm == "blocks wait for items that do not come"


class TestC8Blocks:
    @given(
        lengths=st.lists(st.integers(-3, 200), min_size=1, max_size=6),
        hv=st.integers(1, 9),
        dv=st.integers(1, 300),
        v_step=st.sampled_from([16, 64, 80, 128]),
        cores=st.integers(1, 12),
    )
    @settings(max_examples=80, deadline=None)
    def test_every_item_runs_once(self, lengths, hv, dv, v_step, cores):
        """With the host's block dim each item of a sequence with tokens has exactly one owner that is launched."""
        block_dim = block_dim_of(len(lengths), hv, div_ceil_u32(dv, v_step), cores)
        assert list(ownership_breaks(lengths, hv=hv, dv=dv, v_step=v_step, block_dim=block_dim)) == []

    def test_empty_sequences_idle_blocks(self):
        """Four sequences, three of them empty, two heads: the host launches 8 blocks, and 6 of them get nothing."""
        assert block_dim_of(4, 2, 1, 8) == 8
        assert idle_blocks([64, 0, 0, 0], hv=2, dv=64, v_step=64, block_dim=8) == (2, 3, 4, 5, 6, 7)

    def test_equal_sequences_idle_nobody(self):
        """Eight equal items on eight blocks are one each."""
        assert idle_blocks([64], hv=8, dv=80, v_step=80, block_dim=8) == ()

    def test_mutation_average_rounded_down(self):
        """If the device rounded its share down, seven items would have owners 0 to 6, and four blocks lose three."""
        kept = {"hv": 7, "dv": 64, "v_step": 64}
        listed = work_items([1], block_num=4, **kept)
        floored = [replace(item, block=k) for k, item in enumerate(listed)]  # a share of 7 // 4 = 1 token per block
        breaks = list(ownership_breaks([1], block_dim=4, items=floored, **kept))
        assert [found.where for found in breaks] == [f"sequence 0, head {head}, V tile 0" for head in (4, 5, 6)]
        assert "launches 4 blocks" in breaks[0].text()
        assert "0 times" in breaks[0].device

    def test_mutation_host_launches_fewer_blocks(self):
        """If the host launched 4 blocks while the device divides by 8, half of eight items would not run."""
        listed = list(work_items([64], hv=8, dv=80, v_step=80, block_num=8))
        breaks = list(ownership_breaks([64], hv=8, dv=80, v_step=80, block_dim=4, items=listed))
        assert len(breaks) == 4

    def test_an_item_that_runs_twice(self):
        """An item in the list twice is a break of its own."""
        listed = list(work_items([64], hv=2, dv=80, v_step=80, block_num=2))
        (found,) = ownership_breaks([64], hv=2, dv=80, v_step=80, block_dim=2, items=[*listed, listed[0]])
        assert "2 times" in found.device
