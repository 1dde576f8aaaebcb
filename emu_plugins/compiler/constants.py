"""Bytes of constants: from a list of numbers, from raw bytes, or from an array of an npz file.

Mirrors the vendor's `GeTensor::SetData` of a `Const` operator. :func:`load_npz` is the only place of the
compiler that reads a file besides :mod:`emu_plugins.compiler.loading`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias

from emu_plugins.compiler.report import kind_of, show

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from emu_core.operators import TensorInfo
    from formats.dtypes import DType

NpzLoader: TypeAlias = "Callable[[NpzRef, TensorInfo, DType], bytes]"
"""Reads the bytes that a reference names; raises `ConstantError`."""

_HEADER_ALLOWANCE = 65_536 + 16


class ConstantError(Exception):
    """The data of a constant cannot be used: `what` is wrong, `remedy` what to do."""

    def __init__(self, what: str, remedy: str = "") -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(what)


@dataclass(frozen=True)
class NpzRef:
    """Array `key` of npz file `file`, a path relative to the graph file."""

    file: str
    key: str


def element_count(shape: tuple[int, ...]) -> int:
    """Number of elements of a static shape."""
    return math.prod(shape)


def pack_numbers(values: Sequence[object], info: TensorInfo, dtype: DType) -> bytes:
    """The bytes of `values`, one number per element in row-major order.

    Integers for integer dtypes, booleans for `bool`, integers or finite floats for float dtypes; bfloat16
    and float16 are rounded to nearest, ties to even.

    Raises:
        ConstantError: wrong count, or the first value that does not fit.
    """
    count = element_count(info.shape)
    if len(values) != count:
        wanted = show(count)
        raise ConstantError(
            f"{len(values)} values for a shape of {wanted} elements", "list every element once, row by row, not nested"
        )
    allowed = _python_types(dtype)
    if not set(map(type, values)) <= allowed:
        index = next(i for i, value in enumerate(values) if type(value) not in allowed)
        raise ConstantError(f"element {index} is {kind_of(values[index])}, not a {dtype.name}", _remedy(dtype))
    try:
        return _pack(values, dtype)
    except (struct.error, OverflowError, ValueError):
        index = next(i for i, value in enumerate(values) if not _fits(value, dtype))
        raise ConstantError(f"element {index} is {show(values[index])}, which {dtype.name} cannot hold") from None


def raw_bytes(data: bytes, info: TensorInfo, dtype: DType) -> bytes:
    """`data` itself, given through the Python API, when its length is that of the tensor.

    Raises:
        ConstantError: another length.
    """
    size = element_count(info.shape) * dtype.size
    if len(data) != size:
        raise ConstantError(f"{len(data)} bytes for a tensor of {show(size)} bytes")
    return data


def _python_types(dtype: DType) -> frozenset[type]:
    if dtype.name == "bool":
        return frozenset({bool})
    return frozenset({int, float}) if _is_float(dtype) else frozenset({int})


def _is_float(dtype: DType) -> bool:
    return "float" in dtype.name


def _remedy(dtype: DType) -> str:
    if dtype.name == "bool":
        return "use true and false"
    return "use numbers" if _is_float(dtype) else "use integers"


_PACK_CODES = {"<f4": "f", "<f2": "e", "<f8": "d", "|b1": "?"} | {
    "|i1": "b", "|u1": "B", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q",
}  # fmt: skip


def _pack(values: Sequence[object], dtype: DType) -> bytes:
    if _is_float(dtype) and not all(map(math.isfinite, values)):  # type: ignore[arg-type]  # numbers by now
        raise ValueError(dtype.name)
    if dtype.name == "bfloat16":
        return struct.pack(f"<{len(values)}H", *map(_bfloat16_bits, values))
    return struct.pack(f"<{len(values)}{_PACK_CODES[dtype.carrier]}", *values)


def _bfloat16_bits(value: object) -> int:
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    if rounded & 0x7F80 == 0x7F80:
        raise OverflowError(value)
    return rounded


def _fits(value: object, dtype: DType) -> bool:
    try:
        _pack((value,), dtype)
    except (struct.error, OverflowError, ValueError):
        return False
    return True


def load_npz(base: Path | None, ref: NpzRef, info: TensorInfo, dtype: DType) -> bytes:
    """The bytes of array `ref.key` in npz `ref.file`, looked up from directory `base`.

    The array must have the shape of `info` and the carrier of `dtype` (bfloat16 travels as uint16). Its size is
    checked before anything is unpacked, and pickled objects are refused.

    Raises:
        ConstantError: no such file or key, not an npz, wrong shape or element type.
    """
    if base is None:
        raise ConstantError(f"there is no directory to find {show(ref.file)} in", "give the graph's path as the source")
    if PurePath(ref.file).is_absolute():
        raise ConstantError(f"path {show(ref.file)} is absolute", "give it relative to the graph file")
    return _read_member(base / ref.file, ref, info, dtype)


def _read_member(path: Path, ref: NpzRef, info: TensorInfo, dtype: DType) -> bytes:
    import zipfile  # noqa: PLC0415 - only graphs with npz constants pay for it
    import zlib  # noqa: PLC0415 - likewise

    size = element_count(info.shape) * dtype.size
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if f"{ref.key}.npy" not in names:
                known = ", ".join(name.removesuffix(".npy") for name in names[:20]) or "none"
                raise ConstantError(f"{show(ref.file)} has no array {show(ref.key)}", f"it has: {known}")
            unpacked = archive.getinfo(f"{ref.key}.npy").file_size
            if not size <= unpacked <= size + _HEADER_ALLOWANCE:
                raise ConstantError(f"array {show(ref.key)} has {unpacked} bytes, the tensor {show(size)}")
            with archive.open(f"{ref.key}.npy") as member:
                return _array_bytes(member.read(), ref, info, dtype)
    except FileNotFoundError:
        raise ConstantError(f"there is no file {show(ref.file)}", f"looked in {show(str(path.parent))}") from None
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ConstantError(f"{show(ref.file)} cannot be read as npz ({error})") from None


def _array_bytes(member: bytes, ref: NpzRef, info: TensorInfo, dtype: DType) -> bytes:
    import io  # noqa: PLC0415 - see above

    import numpy as np  # noqa: PLC0415 - see above

    array = np.lib.format.read_array(io.BytesIO(member), allow_pickle=False)
    if array.shape != info.shape:
        raise ConstantError(f"array {show(ref.key)} has shape {list(array.shape)}, the tensor {list(info.shape)}")
    if array.dtype.newbyteorder("<").str.replace("<", "|" if dtype.size == 1 else "<") != dtype.carrier:
        carrier = np.dtype(dtype.carrier).name
        raise ConstantError(
            f"array {show(ref.key)} has element type {array.dtype.name}, {dtype.name} travels as {carrier}",
            f"store it as {carrier}",
        )
    return np.ascontiguousarray(array, dtype=dtype.carrier).tobytes()
