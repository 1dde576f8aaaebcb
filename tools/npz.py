"""Arrays in npz files: read one by one when asked for, written byte for byte the same for the same arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from emu_core.errors import InputError, SqemuError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

SUFFIX = ".npy"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)
OBJECTS = "objects"
"""Stands for an array whose elements are Python objects, which are never loaded: they could run anything."""

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NpzArrays(Mapping[str, "Array"]):
    """The arrays of an npz by name; each is read when it is asked for, and only then.

    Raises (`InputError`): the file cannot be read (`input.file`), is no npz, or an array in it is damaged or holds
    objects (`input.npz`).
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._members = {name.removesuffix(SUFFIX): name for name in self._read(lambda zipped: zipped.namelist())}

    def __getitem__(self, name: str) -> Array:
        member = self._members[name]
        found = self._read(lambda zipped: _array(zipped, member))
        if found is OBJECTS:
            raise self._bad(f"array {name} holds Python objects, not numbers")
        if not isinstance(found, np.ndarray):
            raise self._bad(f"{member} is no array")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def _read(self, action: Any) -> Any:  # noqa: ANN401 - what the action gives
        try:
            with zipfile.ZipFile(self._path) as zipped:
                return action(zipped)
        except OSError as error:
            raise InputError(
                f"cannot be read: {error.strerror or error}",
                id="input.file",
                where=self._path,
                remedy="check the path and permissions",
            ) from None
        except zipfile.BadZipFile:
            raise self._bad(_what_else(self._path)) from None
        except SqemuError:
            raise
        except MemoryError:
            raise self._bad("an array in it does not fit into memory") from None
        except Exception as error:  # noqa: BLE001 - readers of damaged headers and streams raise almost anything
            reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise self._bad(f"is damaged: {reason}") from None

    def _bad(self, what: str) -> InputError:
        return InputError(what, id="input.npz", where=self._path, remedy="write it with numpy.savez, plain arrays only")


def _array(zipped: zipfile.ZipFile, member: str) -> Any:  # noqa: ANN401 - an array, or what a damaged file holds
    if not member.endswith(SUFFIX):
        return None
    try:
        with zipped.open(member) as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except ValueError:
        if _holds_objects(zipped, member):
            return OBJECTS
        raise


def _holds_objects(zipped: zipfile.ZipFile, member: str) -> bool:
    """Whether the header of an array, which could not be read, says that its elements are Python objects."""
    with zipped.open(member) as file:
        header = _HEADERS.get(np.lib.format.read_magic(file))
        return header is not None and bool(header(file)[2].hasobject)


def _what_else(path: str) -> str:
    """What a file that is no zip seems to be."""
    with open(path, "rb") as file:  # noqa: PTH123 - the same path text as before
        start = file.read(6)
    return "is one array, not an npz" if start == b"\x93NUMPY" else "is no npz"


def write_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write `arrays` uncompressed, with fixed dates."""
    with zipfile.ZipFile(path, "w") as zipped:
        for name, array in arrays.items():
            raw = io.BytesIO()
            np.lib.format.write_array(raw, np.asanyarray(array), allow_pickle=False)
            zipped.writestr(zipfile.ZipInfo(name + SUFFIX, FIRST_DATE), raw.getvalue())
