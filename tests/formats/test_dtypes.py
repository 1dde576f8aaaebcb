"""Element types: one table, looked up by name and by C API code (`om_format.md` 8.4)."""

import numpy as np
import pytest

from formats import FormatError
from formats.dtypes import BY_CODE, BY_NAME, dtype_coded, dtype_named


@pytest.mark.parametrize(
    ("name", "code", "size"), [("float32", 0, 4), ("float16", 1, 2), ("int64", 9, 8), ("bfloat16", 27, 2)]
)
def test_names_and_codes_meet(name, code, size):
    """Name and code lead to the same type, which has the size of its elements."""
    assert dtype_named(name) is dtype_coded(code)
    assert dtype_named(name).size == size


def test_carriers_have_the_size_of_the_elements():
    """The numpy dtype that bytes travel in is as wide as the element."""
    assert all(np.dtype(d.carrier).itemsize == d.size for d in BY_NAME.values())
    assert len(BY_CODE) == len(BY_NAME)


@pytest.mark.parametrize("call", [lambda: dtype_named("float31"), lambda: dtype_coded(99)])
def test_unknown_types_list_the_known_ones(call):
    """An unknown name or code is a FormatError that says which there are."""
    with pytest.raises(FormatError, match="bfloat16") as caught:
        call()
    assert caught.value.id == "format.dtype"
