"""Contracts between host tiling and device that nothing on the real machine checks (`reference/cgdr.md` 6, 16).

| id | host | device |
|---|---|---|
| C8 | block dim counts B · Hv · V tiles, whatever the lengths are | blocks share the tokens that are there |
| C10 | "no bucket" is 0, and then K is `dk` in blocks of 16 | an instance narrower than `dk` does the same |
| C11 | V tiles are ⌈dv / vStep⌉, more than one exactly when dv > vStep | items are split when dv > vStep |

Each check takes both rules as functions, so that a changed rule shows what would break; without arguments it compares
the rules that are in force. A check gives the breaks it found: where, what each side says, and what to repair.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from emu_plugins.cgdr.constants import FP16_PER_BLOCK
from emu_plugins.cgdr.items import WorkItem, live_sequences, tiles_per_head, work_items
from emu_plugins.cgdr.tiling import (
    FINAL_BUCKETS,
    align_k_of,
    ceil_align_u32,
    div_ceil_u32,
    plan_of,
    select_cube_dk,
    tiling_key_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

HostWidth: TypeAlias = "Callable[[int], int]"
"""`dk` -> K width of the host."""
DeviceWidth: TypeAlias = "Callable[[int, int], int]"
"""(`dk`, compiled width) -> K width of an instance."""
HostTiles: TypeAlias = "Callable[[int, int], int]"
"""(`dv`, `vStep`) -> V tiles that the host counts."""
DeviceTiles: TypeAlias = "Callable[[int, int], int]"
"""(`dv`, `vStep`) -> V tiles that a device block walks."""
Items: TypeAlias = "Iterable[WorkItem]"


@dataclass(frozen=True)
class ContractBreak:
    """One disagreement.

    Attributes:
        contract: C8, C10 or C11.
        where: the shape or launch it was found at.
        host, device: what each side says.
        harm: what that does to a run.
        repairs: how to make both sides agree, host side first.
    """

    contract: str
    where: str
    host: str
    device: str
    harm: str
    repairs: tuple[str, str]

    def text(self) -> str:
        """The break in one paragraph."""
        return (
            f"{self.contract} broken at {self.where}: host {self.host}, device {self.device}; {self.harm}. "
            f"Repair: {self.repairs[0]}, or {self.repairs[1]}"
        )


def device_align_k(dk: int, width: int) -> int:
    """K width of the instance compiled for `width`: its own, or `dk` in blocks of 16 when the head is wider (6)."""
    return width if dk <= width else ceil_align_u32(dk, FP16_PER_BLOCK)


def reachable_widths(dk: int) -> tuple[int, ...]:
    """The instances whose K width must equal the host's: all when `dk` has no bucket, else the one the key selects."""
    if select_cube_dk(dk):
        return (FINAL_BUCKETS.width_of(tiling_key_of(dk)),)
    return tuple(FINAL_BUCKETS.keys)


def no_bucket_breaks(
    dks: Iterable[int] = range(1, 257), *, host: HostWidth = align_k_of, device: DeviceWidth = device_align_k
) -> Iterator[ContractBreak]:
    """C10: where host and device disagree about the K width."""
    for dk in dks:
        for width in reachable_widths(dk):
            ours, theirs = host(dk), device(dk, width)
            if ours != theirs:
                yield ContractBreak(
                    "C10", f"dk {dk}, instance {width}", f"plans K width {ours}", f"uses {theirs}",
                    _width_harm(ours, theirs),
                    (
                        "let the host's 'no bucket' be 0 and round dk up to 16 for it",
                        "let the device compare dk with its compiled width before it uses it",
                    ),
                )  # fmt: skip


def _width_harm(ours: int, theirs: int) -> str:
    """Bytes of the two UB allocations at one block of V, which is the least that goes wrong."""
    over = plan_of(FP16_PER_BLOCK, theirs).needed - plan_of(FP16_PER_BLOCK, ours).needed
    if over > 0:
        return f"the device's buffers pass the planned end of UB by at least {over} bytes"
    return f"at least {-over} bytes of UB stay empty, and rows of K lie where nobody looks for them"


def split_breaks(
    shapes: Iterable[tuple[int, int]], *, host: HostTiles = div_ceil_u32, device: DeviceTiles = tiles_per_head
) -> Iterator[ContractBreak]:
    """C11: where host and device disagree about the V tiles of a head; `shapes` are (`dv`, `vStep`)."""
    for dv, v_step in shapes:
        ours, theirs = host(dv, v_step), device(dv, v_step)
        if ours != theirs:
            yield ContractBreak(
                "C11", f"dv {dv}, vStep {v_step}", f"counts {ours} V tiles per head", f"walks {theirs}",
                _tiles_harm(dv, v_step, theirs),
                ("count V tiles as ⌈dv / vStep⌉ and nothing else", "split exactly when dv > vStep"),
            )  # fmt: skip


def _tiles_harm(dv: int, v_step: int, tiles: int) -> str:
    covered = tiles * v_step
    if covered < dv:
        return f"columns {covered} to {dv - 1} of every head are computed by nobody"
    if covered - v_step >= dv:
        return f"items from column {-(-dv // v_step) * v_step} on lie outside the head"
    return "blocks wait for items that do not come"


def ownership_breaks(
    lengths: Sequence[int], *, hv: int, dv: int, v_step: int, block_dim: int, items: Items | None = None
) -> Iterator[ContractBreak]:
    """C8: items that no block of the launch runs, or that run more than once; `items` replaces the device's own list.

    The host's block dim and the device's share of real tokens come from different numbers. They may differ, which only
    idles blocks (`idle_blocks`), as long as every item still has exactly one owner below `block_dim`.
    """
    listed = work_items(lengths, hv=hv, dv=dv, v_step=v_step, block_num=block_dim) if items is None else items
    runs = Counter((i.sequence.batch, i.head, i.v_tile) for i in listed if 0 <= i.block < block_dim)
    tiles = div_ceil_u32(dv, v_step)
    for sequence in live_sequences(lengths):
        for head in range(hv):
            for tile in range(tiles):
                times = runs[sequence.batch, head, tile]
                if times != 1:
                    yield ContractBreak(
                        "C8", f"sequence {sequence.batch}, head {head}, V tile {tile}", f"launches {block_dim} blocks",
                        f"runs the item {times} times", "its rows are wrong or left unwritten",
                        (
                            "launch a block for every owner that the device counts",
                            "round the average load up, over the tokens of sequences that are worked on",
                        ),
                    )  # fmt: skip


def idle_blocks(lengths: Sequence[int], *, hv: int, dv: int, v_step: int, block_dim: int) -> tuple[int, ...]:
    """Blocks that the host launches and that get no item (C8: imbalance, not an error)."""
    busy = {item.block for item in work_items(lengths, hv=hv, dv=dv, v_step=v_step, block_num=block_dim)}
    return tuple(block for block in range(block_dim) if block not in busy)
