"""Anything that holds bytes, as one flat memoryview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from formats.errors import FormatError

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Buffer as _Buffer

    Buffer: TypeAlias = _Buffer | np.ndarray[Any, np.dtype[Any]]


def flat(buffer: Buffer) -> memoryview[int]:
    """The bytes of a contiguous buffer, without a copy; `FormatError` (id `format.type`) if it is none."""
    try:
        return memoryview(buffer).cast("B")  # type: ignore[arg-type]  # arrays are buffers; typeshed says so from 3.12 on
    except TypeError:
        what = f"bytes in one piece are needed, got {type(buffer).__name__}"
        raise FormatError(what, id="format.type") from None
