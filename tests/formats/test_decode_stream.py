"""Runs of SQEs: tasks of several units as one record, damage as notes, never an exception."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import BUILTIN, FormatError

FAMILIES = st.sampled_from(BUILTIN.sqe_families)


def v200(name, **values):
    """An entry of family v200."""
    return formats.get("v200", name).build(values)


def stream(data, family="v200", **kw):
    """All records of some bytes."""
    return list(formats.decode_stream(family, data, **kw))


NOP = v200("PhSqe", type=3, task_type=103, kernel_credit=253)
WORDS = bytes(range(64))


class TestUnits:
    def test_a_ccu_task_is_one_record_of_two_units(self):
        """The second unit holds arguments 10 to 25 as raw words and says so."""
        ccu, nop = stream(v200("CcuSqe", type=16, sqe_length=1) + WORDS + NOP, offset=4096)
        assert (ccu.struct.struct_name, ccu.offset, ccu.size, ccu.guessed) == ("CcuSqe", 4096, 128, False)
        (unit,) = ccu.units
        assert (unit.struct.struct_name, unit.offset) == ("RawUnit", 4160)
        assert unit.values["word"][:2] == [0x03020100, 0x07060504]
        assert unit.notes == ("unit 1: arguments 10 to 25 of the CCU mission",)
        assert (nop.struct.struct_name, nop.offset) == ("PhSqe", 4224)

    def test_a_direct_wqe_of_two_units(self):
        """A 128-byte work entry makes a record of three units."""
        entry = v200("UbdmaDirectWqeSqe", type=9, mode=0, wqe_size=1, sqe_length=2)
        record, nop = stream(entry + WORDS * 2 + NOP)
        assert [u.offset for u in record.units] == [64, 128]
        assert record.raw() == entry + WORDS * 2
        assert nop.offset == 192

    def test_the_kernel_of_a_fusion_is_read_as_a_kernel(self):
        """Behind four CCU units the fifth is the kernel, marked as guessed; sub_type bits 2 and 3 say so."""
        first = v200("FusionCcuSqe", type=2, sub_type=0b01100, aic=1, sqe_length=4)
        kernel = v200("AicKernelSqe", type=2, block_dim=8)
        (record,) = stream(first + WORDS * 3 + kernel)
        assert [u.struct.struct_name for u in record.units] == ["RawUnit"] * 3 + ["AicKernelSqe"]
        assert record.units[3].guessed
        assert record.units[3].values["block_dim"] == 8

    def test_a_truncated_task_says_where_the_data_end(self):
        """Three units are claimed, one is there: the record has one, and a note with the offset."""
        (record,) = stream(v200("UbdmaDirectWqeSqe", type=9, sqe_length=3) + WORDS)
        assert len(record.units) == 1
        assert record.notes[0] == "sqe_length asks for 3 further units, 1 are there: the data end at 0x80"

    def test_too_many_units_are_not_believed(self):
        """At most four further units exist; a larger number leaves a single unit with a note."""
        record, nop = stream(v200("CcuSqe", type=16, sqe_length=7) + NOP)
        assert record.units == ()
        assert record.notes[0].startswith("sqe_length 7 is over 4")
        assert nop.struct.struct_name == "PhSqe"

    def test_trailing_bytes_are_a_record_of_their_own(self):
        """Seven bytes after the last entry are shown with their offset."""
        _, rest = stream(NOP + bytes(range(7)), offset=64)
        assert rest.notes == ("7 trailing bytes at 0x80 are not a whole entry of 64",)
        assert (rest.values["byte"], rest.offset, rest.guessed) == (list(range(7)), 128, True)

    def test_v100_entries_are_always_single(self):
        """The same bits mean something else on v100."""
        assert [d.size for d in stream(bytes([16]) + bytes(14) + b"\xe0" + bytes(48) + NOP, "v100")] == [64, 64]


class TestStream:
    def test_it_is_lazy(self):
        """The first records of a long run cost no reading of the rest."""
        records = formats.decode_stream("v100", bytes(64) * 1_000_000)
        assert [d.offset for d in itertools.islice(records, 3)] == [0, 64, 128]

    def test_nothing_gives_nothing(self):
        """No bytes, no records."""
        assert stream(b"") == []

    @pytest.mark.parametrize("family", ["blob", "other", "v300"])
    def test_a_family_without_sqes_is_refused_at_once(self, family):
        """A wrong family is the caller's mistake and is told before the first record."""
        with pytest.raises(FormatError) as caught:
            formats.decode_stream(family, b"")
        assert caught.value.id == "format.unknown-family"

    @settings(max_examples=150, deadline=None)
    @given(family=FAMILIES, data=st.binary(max_size=700))
    def test_any_bytes_come_back(self, family, data):
        """Whatever the bytes are, the records cover them once, in order, and rebuild them."""
        records = stream(data, family)
        assert b"".join(d.raw() for d in records) == data
        assert [d.offset for d in records] == list(itertools.accumulate([d.size for d in records], initial=0))[:-1]

    @settings(max_examples=60, deadline=None)
    @given(
        family=FAMILIES,
        entries=st.lists(st.tuples(st.integers(0, 63), st.integers(0, 255), st.binary(min_size=14, max_size=14))),
    )
    def test_entries_with_any_type_and_length_come_back(self, family, entries):
        """The same for entries whose type and length bits take every value."""
        data = b"".join(bytes([t]) + body + bytes([length]) + body * 3 + bytes(6) for t, length, body in entries)
        assert b"".join(d.raw() for d in stream(data, family)) == data
