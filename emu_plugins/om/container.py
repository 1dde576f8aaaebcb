"""The frame of a file: header, partition tables of each model, partitions (`reference/om_format.md` 1 to 3).

Nothing is copied: partitions are views of the file. What they hold is read elsewhere. Partitions lie directly behind
each other; where that does not lead to the end of the file, they lie where the table says (files saved aligned).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emu_plugins.om import layout
from emu_plugins.om.cursor import Cursor, om_error, text_of
from emu_plugins.om.layout import ModelType, OmHeader, PartitionType, partition_name
from emu_plugins.om.magic import MAGIC_BYTES
from formats.buffers import flat
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats.buffers import Buffer


@dataclass(frozen=True)
class Header:
    """Header of a file; `raw` has every field as a number, `length` is the one of its two that counts."""

    version: int
    model_type: int
    name: str
    user_info: str
    platform: str
    model_num: int
    length: int
    wide: bool
    dynamic: bool
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Partition:
    """One partition: what it holds, where it lies in the file, the offset in the table, and its bytes."""

    type: int
    offset: int
    stored_offset: int
    data: memoryview[int]

    @property
    def name(self) -> str:
        """Name of its type."""
        return partition_name(self.type)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.data)


@dataclass(frozen=True)
class Parts:
    """One model: where its table lies, its form, and its partitions in table order."""

    table_offset: int
    wide: bool
    partitions: tuple[Partition, ...]

    def first(self, kind: PartitionType) -> Partition | None:
        """The first partition of a type, which is the one that counts."""
        return next((each for each in self.partitions if each.type == kind), None)


@dataclass(frozen=True)
class Container:
    """A whole file: header and models."""

    header: Header
    models: tuple[Parts, ...]


def is_om(data: Buffer) -> bool:
    """Whether `data` starts like an offline model."""
    return bytes(flat(data)[:4]) == MAGIC_BYTES


def read_container(data: Buffer) -> Container:
    """Header and partitions of a file.

    Raises:
        FormatError: `om.header` (no offline model, a length that is wrong), `om.zip`, `om.encrypted`, `om.mobile`,
            `om.table` (a table that does not fit the file, bytes left over).
    """
    view = flat(data)
    header = _read_header(view)
    try:
        return Container(header, tuple(_models(view, header, stored=False)))
    except FormatError as first:
        try:
            return Container(header, tuple(_models(view, header, stored=True)))
        except FormatError:
            raise first from None


def _read_header(view: memoryview[int]) -> Header:
    start = bytes(view[:4])
    if start == layout.ZIP_BYTES:
        raise om_error(
            "om.zip", "is a zip container (OM2), not an offline model of the older form", "header", 0,
            "convert the model without the OM2 mode",
        )  # fmt: skip
    if start != MAGIC_BYTES:
        raise om_error("om.header", "is no offline model", "header", 0, "an offline model starts with IMOD")
    if len(view) < OmHeader.size:
        raise om_error("om.header", f"{len(view)} bytes are too few for a header of {OmHeader.size}", "header", 0)
    raw = OmHeader.parse(bytes(view[: OmHeader.size]))
    _refuse(raw)
    length = raw["model_length"] or raw["length"]
    if raw["headsize"] != OmHeader.size or length != len(view) - OmHeader.size:
        raise om_error(
            "om.header",
            f"the header ({raw['headsize']} bytes) says {length} bytes follow, {len(view) - OmHeader.size} do (E10001)",
            "header", 76,
        )  # fmt: skip
    count = raw["model_num"] or 1
    if count > layout.MOST_MODELS:
        raise om_error("om.header", f"{count} models, at most {layout.MOST_MODELS} are read", "header", 156)
    return Header(
        version=raw["version"],
        model_type=raw["modeltype"],
        name=_text(raw["name"]),
        user_info=_text(raw["userdefineinfo"]),
        platform=_text(raw["platform_version"]),
        model_num=count,
        length=length,
        wide=raw["modeltype"] == ModelType.FLOW or raw["model_length"] != 0,
        dynamic=raw["version"] >= layout.VERSION_2 and (count > 1 or raw["is_unknow_model"] == 1),
        raw=dict(raw),
    )


def _refuse(raw: Mapping[str, Any]) -> None:
    if raw["version"] == layout.VERSION_1 and raw["modeltype"] == ModelType.STANDARD:
        raise om_error(
            "om.mobile", "is a model for mobile chips: other fields and partitions behind the same magic", "header", 8,
            "give a file made by atc for an Ascend chip",
        )  # fmt: skip
    if raw["is_encrypt"]:
        raise om_error("om.encrypted", "is encrypted", "header", 80, "convert the model without encryption")


def _text(values: list[int]) -> str:
    return text_of(bytes(values))


def _models(view: memoryview[int], header: Header, *, stored: bool) -> Iterator[Parts]:
    """Each model; `stored`: partitions lie where the table says, not directly behind each other."""
    at = OmHeader.size
    for index in range(header.model_num):
        where = f"partition table of model {index}"
        parts, at = _model(view, at, where, header, stored=stored)
        yield parts
    if at != len(view):
        what = f"{len(view) - at} bytes follow the last partition"
        raise om_error("om.table", what, "partition tables", at)


def _model(view: memoryview[int], at: int, where: str, header: Header, *, stored: bool) -> tuple[Parts, int]:
    head, entry = (layout.TableHead64, layout.Entry64) if header.wide else (layout.TableHead, layout.Entry)
    cursor = Cursor(view[at:], where, base=at, id="om.table")
    num = cursor.struct(head)["num"]
    most = layout.MOST_FLOW_PARTITIONS if header.model_type == ModelType.FLOW else layout.MOST_PARTITIONS
    if not 1 <= num <= most:
        raise om_error("om.table", f"{num} partitions, 1 to {most} are possible", where, at)
    rows = [cursor.struct(entry) for _ in range(num)]
    table_end = position = at + cursor.at
    found = []
    for row in rows:
        start = table_end + row["offset"] if stored else position
        position = start + row["size"]
        if position > len(view):
            what = f"partition {partition_name(row['type'])} of {row['size']} bytes exceeds the file"
            raise om_error("om.table", what, where, start)
        found.append(Partition(row["type"], start, row["offset"], view[start:position]))
    return Parts(at, header.wide, tuple(found)), _past_padding(view, position) if stored else position


def _past_padding(view: memoryview[int], position: int) -> int:
    """The place behind the zeros that fill up the last partition of an aligned file; `position` without them."""
    padded = min(-(-position // layout.ALIGNMENT) * layout.ALIGNMENT, len(view))
    return position if any(view[position:padded]) else padded
