"""Columns -> records: the same bytes as one `build` after the other, with the same range checks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import BUILTIN, FormatError, define
from formats.strategies import values

KERNEL = formats.get("v100", "AicoreKernelSqe")
NIBBLES = define("edu", "Nibbles", 5, "n:4*6 m:i4*4")
ODD = define("edu", "Odd", 22, "a:3 wide:49 b:4 c:i5 d_low:11 d_high:20 e:i64 tail:20")
SMALL = [s for s in BUILTIN.structs if s.size <= 128]


def fits(f):
    """Whether a field is narrow enough for a column."""
    return f.width <= 64


@settings(max_examples=150, deadline=None)
@given(data=st.data(), struct=st.sampled_from([*SMALL, NIBBLES, ODD]))
def test_columns_build_what_build_builds(data, struct):
    """Any columns of any struct give the records that `build` gives one by one."""
    shown = [f for f in struct.fields if fits(f)]
    chosen = data.draw(st.lists(st.sampled_from(shown), unique=True, max_size=6)) if shown else []
    records = [{f.name: data.draw(values(f)) for f in chosen} for _ in range(3)]
    columns = {f.name: [r[f.name] for r in records] for f in chosen}
    assert struct.encode_columns(columns, 3).tobytes() == b"".join(struct.build(r) for r in records)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), struct=st.sampled_from([*SMALL, ODD]))
def test_columns_of_a_view_build_the_ring_again(data, struct):
    """All columns of a ring, reserved ones included, give its bytes back."""
    ring = data.draw(st.binary(min_size=2 * struct.size, max_size=2 * struct.size))
    view = struct.view(ring)
    if all(fits(f) for f in struct.fields):
        assert struct.encode_columns({f.name: view[f.name] for f in struct.fields}, 2).tobytes() == ring


@settings(max_examples=80, deadline=None)
@given(data=st.data(), struct=st.sampled_from([*SMALL, ODD]))
def test_all_columns_at_once_are_the_single_columns(data, struct):
    """`view.columns()` has every named scalar and joined value, equal to `view[name]`."""
    view = struct.view(data.draw(st.binary(min_size=3 * struct.size, max_size=3 * struct.size)))
    found = view.columns()
    scalars = [f.name for f in struct.named_fields if f.count is None and fits(f)]
    assert set(found) == {*scalars, *struct.joined}
    for name, column in found.items():
        assert column.tolist() == view[name].tolist()
        assert not column.flags.writeable


def test_a_field_across_two_words():
    """A 32-bit field at byte 10 keeps its low half when the 16 bits below it are stored after it."""
    struct = formats.get("v100", "CallbackReportIpcInt")
    made = struct.encode_columns({"ntc_pid": [0xAABBCCDD], "task_id": [0x1122]}, 1)
    assert made.tobytes()[8:14].hex(" ") == "22 11 dd cc bb aa"


def test_scalars_joined_names_and_blocks():
    """A scalar fills a column, a joined name both halves, and more records than a block are one array."""
    count = 20_000
    ring = KERNEL.encode_columns(
        {"type": 0, "task_id": np.arange(count) % 65536, "pc_addr": np.arange(count) + 0x12C0C0200000}, count
    )
    assert ring.shape == (count, 64)
    view = KERNEL.view(ring)
    assert view["pc_addr"][19_999] == 0x12C0C0200000 + 19_999
    assert view["task_id"].tolist() == list(range(count))
    assert bytes(ring[5]) == KERNEL.build({"task_id": 5, "pc_addr": 0x12C0C0200005})


def test_no_records():
    """An empty column gives an empty array."""
    assert KERNEL.encode_columns({"task_id": []}, 0).shape == (0, 64)


@pytest.mark.parametrize(
    ("columns", "id_", "what"),
    [
        ({"task_id": [0, 65536]}, "format.range", "65536 does not fit, 0 to 65535 do"),
        ({"task_id": [-1, 0]}, "format.range", "-1 does not fit"),
        ({"schem": np.array([0, 4], np.uint8)}, "format.range", "4 does not fit, 0 to 3 do"),
        ({"task_id": [0.5, 1.0]}, "format.range", "no array of integers"),
        ({"task_id": np.array([0.5, 1.0])}, "format.range", "float64, not integers"),
        ({"task_id": ["a", "b"]}, "format.range", "not integers"),
        ({"task_id": [1 << 70, 0]}, "format.range", "more than 64 bits"),
        ({"pc_addr": [1 << 48, 0]}, "format.range", "281474976710656 does not fit"),
        ({"task_id": [1, 2, 3]}, "format.count", "has shape"),
        ({"task_id": [[1], [2, 3]]}, "format.range", "no array of integers"),
        ({"nope": [1, 2]}, "format.unknown-field", "no such field"),
        ({"pc_addr": 1, "pc_addr_low": 1}, "format.unknown-field", "beside pc_addr_low"),
    ],
)
def test_refusals_name_the_field(columns, id_, what):
    """A column that does not fit is refused before anything is built."""
    with pytest.raises(FormatError, match=what) as caught:
        KERNEL.encode_columns(columns, 2)
    assert caught.value.id == id_


def test_wide_fields_and_negative_counts():
    """Fields over 64 bits have no column, and counts are not negative."""
    with pytest.raises(FormatError, match="too wide"):
        define("edu", "Wide", 9, "a:72").encode_columns({"a": 1}, 1)
    with pytest.raises(FormatError):
        KERNEL.encode_columns({}, -1)


def test_lists_that_numpy_would_make_floats_of():
    """Numbers over and under 2 to the power 63 in one list stay exact."""
    word = define("edu", "Word", 8, "a:64")
    assert word.encode_columns({"a": [(1 << 63) + 1, 1]}, 2).tobytes() == word.build({"a": (1 << 63) + 1}) + word.build(
        {"a": 1}
    )


def test_signed_columns():
    """Negative numbers keep their two's complement."""
    assert ODD.encode_columns({"c": [-16, 15], "e": [-1, 1]}, 2).tobytes() == ODD.build(
        {"c": -16, "e": -1}
    ) + ODD.build({"c": 15, "e": 1})
