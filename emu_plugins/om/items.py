"""Partitions that are lists of named binaries: kernels, shared libraries, custom operators (`om_format.md` 5.1, 5.2).

| partition | item |
|---|---|
| TBE_KERNELS, CUST_AICPU_KERNELS | magic 0x5D776EFD, lengths, name, ELF |
| SO_BINS | a count; magic 0x5D776EFD, lengths and type, file name, vendor, ELF |
| CUSTOM_OPS | magic 0x4B43534B, lengths, name, data |
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.om.cursor import Cursor, text_of
from emu_plugins.om.layout import CUSTOM_MAGIC, ITEM_MAGIC, KernelItem, SoItem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_plugins.om.container import Partition

SO_TYPES: Mapping[int, str] = MappingProxyType({
    0: "operators of the host", 1: "operator master of the device", 2: "autofuse", 3: "portable custom operator",
})  # fmt: skip
"""`so_bin_type` in words."""


@dataclass(frozen=True)
class Item:
    """A named binary; `offset` is where its bytes lie in the file."""

    name: str
    offset: int
    data: memoryview[int]


@dataclass(frozen=True)
class Library:
    """A shared library inside the file; `type` is one of `SO_TYPES`."""

    name: str
    vendor: str
    type: int
    offset: int
    data: memoryview[int]

    @property
    def flag(self) -> int:
        """Bit of its type in the 16-bit flag of the model: bit 15 for type 0, and so on."""
        return 1 << (15 - self.type) if self.type <= 15 else 0


def read_items(partition: Partition | None, *, magic: int = ITEM_MAGIC) -> tuple[Item, ...]:
    """The items of a kernel partition; empty when it is absent.

    Raises:
        FormatError: `om.partition`: a wrong magic, or a length beyond the partition.
    """
    if partition is None:
        return ()
    cursor = Cursor(partition.data, f"partition {partition.name}", base=partition.offset)
    found: list[Item] = []
    while cursor.left:
        head = cursor.struct(KernelItem)
        if head["magic"] != magic:
            raise cursor.error(f"item {len(found)} starts with {head['magic']:#010x}, not with {magic:#010x}")
        name = text_of(cursor.take(head["name_len"], f"the name of item {len(found)}"))
        at = partition.offset + cursor.at
        found.append(Item(name, at, cursor.take(head["bin_len"], f"item {len(found)}")))
    return tuple(found)


def read_custom_ops(partition: Partition | None) -> tuple[Item, ...]:
    """The items of CUSTOM_OPS; raises as `read_items`."""
    return read_items(partition, magic=CUSTOM_MAGIC)


def read_libraries(partition: Partition | None) -> tuple[Library, ...]:
    """The libraries of SO_BINS; empty when it is absent or empty.

    Raises:
        FormatError: `om.partition`: a wrong magic, count or length, an empty library, bytes left over.
    """
    if partition is None or not partition.size:
        return ()
    cursor = Cursor(partition.data, f"partition {partition.name}", base=partition.offset)
    found = []
    for index in range(cursor.count("libraries", SoItem.size)):
        head = cursor.struct(SoItem)
        if head["magic"] != ITEM_MAGIC:
            raise cursor.error(f"library {index} starts with {head['magic']:#010x}, not with {ITEM_MAGIC:#010x}")
        if not head["bin_len"]:
            raise cursor.error(f"library {index} is empty")
        name = text_of(cursor.take(head["so_name_len"], f"the name of library {index}"))
        vendor = text_of(cursor.take(head["vendor_name_len"], f"the vendor of library {index}"))
        at = partition.offset + cursor.at
        found.append(Library(name, vendor, head["so_bin_type"], at, cursor.take(head["bin_len"], f"library {index}")))
    if cursor.left:
        raise cursor.error(f"{cursor.left} bytes follow {len(found)} libraries")
    return tuple(found)
