"""The one error of this package: bytes or values that do not fit a layout."""

from __future__ import annotations


class FormatError(Exception):
    """Bytes or values do not fit a layout.

    Attributes:
        id: stable identifier, for example ``format.size``; ``sqemu explain ID`` tells more.
        what: one sentence, what is wrong.
        where: struct, field and byte offset as far as known, for example ``AicoreKernelSqe.block_dim``.
        remedy: what the caller can do about it; empty when ``what`` already says so.
        offset: byte offset into the input, or ``None`` when the error is not about input bytes.
    """

    def __init__(
        self,
        what: str,
        *,
        id: str = "format.value",  # noqa: A002 - the attribute is called id everywhere an error is shown
        where: str = "",
        remedy: str = "",
        offset: int | None = None,
    ) -> None:
        self.id = id
        self.what = what
        self.where = where
        self.remedy = remedy
        self.offset = offset
        place = f"{where}: " if where else ""
        at = f" (at byte {offset})" if offset is not None else ""
        tail = f"; {remedy}" if remedy else ""
        super().__init__(f"{place}{what}{at}{tail}")
