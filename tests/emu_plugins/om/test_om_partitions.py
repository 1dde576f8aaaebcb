"""Partitions that are no protobuf: binaries, ports, tiling answers (`reference/om_format.md` 5)."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.om.container import Partition
from emu_plugins.om.items import read_custom_ops, read_items, read_libraries
from emu_plugins.om.layout import CUSTOM_MAGIC
from emu_plugins.om.ports import PortInfo, Ports, read_ports
from emu_plugins.om.tilings import Tiling, read_tilings
from emu_plugins.om.writer import inout_info, kernel_items, so_bins, tiling_data
from formats import FormatError

names = st.text("abcXYZ_09", max_size=20)
i64 = st.integers(-(1 << 63), (1 << 63) - 1)
u32 = st.integers(0, (1 << 32) - 1)


def partition(data, kind=3):
    """A partition that lies at byte 1000."""
    return Partition(kind, 1000, 0, memoryview(data))


def refused(read, data):
    """The error of reading `data`."""
    with pytest.raises(FormatError) as raised:
        read(partition(data))
    assert raised.value.id == "om.partition"
    return raised.value


class TestKernels:
    def test_by_hand(self):
        """An item is magic, two lengths, name and binary."""
        data = struct.pack("<III", 0x5D776EFD, 3, 4) + b"abc" + b"\x7fELF"
        (item,) = read_items(partition(data))
        assert (item.name, bytes(item.data), item.offset) == ("abc", b"\x7fELF", 1000 + 12 + 3)
        assert kernel_items([("abc", b"\x7fELF")]) == data

    @given(st.lists(st.tuples(names, st.binary(max_size=40)), max_size=5))
    def test_round_trip(self, items):
        """Items written are read again, in order."""
        found = read_items(partition(kernel_items(items)))
        assert [(each.name, bytes(each.data)) for each in found] == items

    def test_custom_operators(self):
        """CUSTOM_OPS has the same items behind another magic."""
        data = kernel_items([("op", b"x")], magic=0x4B43534B)
        assert CUSTOM_MAGIC == 0x4B43534B
        assert [each.name for each in read_custom_ops(partition(data))] == ["op"]
        refused(read_items, data)

    @pytest.mark.parametrize("cut", range(1, 19))
    def test_cut(self, cut):
        """A list that ends early is refused, wherever it is cut."""
        data = kernel_items([("abc", b"\x7fELF")])
        error = refused(read_items, data[:-cut])
        assert 1000 <= error.offset < 1000 + len(data)

    def test_absent(self):
        """An absent partition has no items."""
        assert read_items(None) == ()


class TestLibraries:
    def test_by_hand(self):
        """A count, then per library magic, lengths and type, file name, vendor, bytes."""
        data = struct.pack("<I", 1) + struct.pack("<IHHII", 0x5D776EFD, 5, 1, 2, 3) + b"a.so!" + b"ve" + b"ELF"
        (found,) = read_libraries(partition(data))
        assert (found.name, found.vendor, found.type, bytes(found.data)) == ("a.so!", "ve", 1, b"ELF")
        assert found.flag == 0x4000
        assert so_bins([("a.so!", "ve", 1, b"ELF")]) == data

    @given(st.lists(st.tuples(names, names, st.integers(0, 3), st.binary(min_size=1, max_size=20)), max_size=4))
    def test_round_trip(self, libraries):
        """Libraries written are read again."""
        found = read_libraries(partition(so_bins(libraries)))
        assert [(each.name, each.vendor, each.type, bytes(each.data)) for each in found] == libraries

    def test_refusals(self):
        """An empty library, a wrong count, a wrong magic and bytes left over are refused."""
        good = so_bins([("a", "v", 0, b"x")])
        refused(read_libraries, so_bins([("a", "v", 0, b"")]))
        refused(read_libraries, struct.pack("<I", 2) + good[4:])
        refused(read_libraries, good[:4] + b"\0" + good[5:])
        assert "follow" in refused(read_libraries, good + b"z").what

    def test_a_count_needs_its_bytes(self):
        """A count of four billion is refused by the size of the partition, nothing is made room for."""
        assert "at least" in refused(read_libraries, b"\xff\xff\xff\xff" + bytes(100)).what


ports = st.builds(
    PortInfo,
    names,
    st.integers(0, (1 << 64) - 1),
    st.integers(0, 40),
    st.integers(0, 30),
    st.lists(i64, max_size=3).map(tuple),
    st.lists(i64, max_size=3).map(tuple),
    st.lists(i64, max_size=4).map(tuple),
)
groups = st.lists(st.lists(i64, max_size=3).map(tuple), max_size=3).map(tuple)


class TestPorts:
    def test_by_hand(self):
        """Records are type, length, value; a tensor is 32 bytes with lengths in bytes, then what they count."""
        tensor = struct.pack("<QiiIIII", 160, 2, 0, 1, 8, 0, 16) + b"x" + struct.pack("<qqq", 40, 1, 40)
        data = struct.pack("<iI", 0, 4 + len(tensor)) + struct.pack("<I", 1) + tensor
        data += struct.pack("<iI", 2, 4 + 16) + struct.pack("<IQQ", 2, 1, 8)
        found = read_ports(partition(data, 8))
        assert found.inputs == (PortInfo("x", 160, 2, 0, (40,), (), (1, 40)),)
        assert found.batches == (1, 8)

    @given(
        st.builds(
            Ports,
            st.lists(ports, max_size=3).map(tuple),
            st.lists(ports, max_size=3).map(tuple),
            st.lists(st.integers(0, 1 << 40), max_size=3).map(tuple),
            groups,
            groups,
            st.lists(names, max_size=3).map(tuple),
            st.lists(names, max_size=3).map(tuple),
            st.lists(st.tuples(st.integers(7, 90), st.binary(max_size=9)), max_size=2).map(tuple),
        )
    )
    def test_round_trip(self, found):
        """Everything written is read again, records of unknown type included."""
        assert read_ports(partition(inout_info(found), 8)) == found

    @pytest.mark.parametrize(
        "value",
        [
            struct.pack("<I", 0xFFFFFFFF),
            struct.pack("<I", 1) + bytes(31),
            struct.pack("<I", 1) + struct.pack("<QiiIIII", 0, 0, 0, 1 << 31, 0, 0, 0),
            struct.pack("<I", 1) + struct.pack("<QiiIIII", 0, 0, 0, 0, 7, 0, 0) + bytes(7),
            struct.pack("<I", 0) + b"left",
        ],
    )
    def test_refusals(self, value):
        """Counts and lengths beyond a record, dimensions that are no whole numbers, and bytes left over are refused."""
        refused(read_ports, struct.pack("<iI", 0, len(value)) + value)


class TestTilings:
    TILING = Tiling(7, 8, b"abcd", (4096,), (5, 0xFF << 56 >> 1), 1, clear_atomic=True, condition=-2, local_memory=3)

    def test_by_hand(self):
        """Head, then run info, tiling data and ids of each answer, each with type and length."""
        run = struct.pack("<QQIB3xiIII12x", 7, 4, 8, 0, 0, 0, 1, 0) + bytes(4) + struct.pack("<q", 4096)
        assert len(run) == 56 + 8
        records = b"".join(
            struct.pack("<BI", kind, len(data)) + data for kind, data in enumerate((run, b"abcd", struct.pack("<q", 5)))
        )
        data = struct.pack("<III", 0xDD776EFE, 2, len(records)) + records
        assert read_tilings(partition(data, 12)) == (Tiling(7, 8, b"abcd", (4096,), (5,)),)

    @given(
        st.lists(
            st.builds(
                Tiling,
                st.integers(0, (1 << 64) - 1),
                u32,
                st.binary(max_size=20),
                st.lists(i64, max_size=3).map(tuple),
                st.lists(i64, max_size=3).map(tuple),
                u32,
                st.booleans(),
                st.integers(-(1 << 31), (1 << 31) - 1),
                u32,
            ),
            max_size=3,
        )
    )
    def test_round_trip(self, tilings):
        """Answers written are read again."""
        assert read_tilings(partition(tiling_data(tilings), 12)) == tuple(tilings)

    def test_refusals(self):
        """Another magic, version or length, and records out of order are refused."""
        good = tiling_data([self.TILING])
        for place, value in ((0, 0), (4, 1), (8, 3), (12, 1)):
            data = bytearray(good)
            data[place] = value
            refused(read_tilings, bytes(data))

    def test_many_workspaces(self):
        """A number of workspaces beyond the run info is refused before they are read."""
        data = bytearray(tiling_data([self.TILING]))
        struct.pack_into("<I", data, 12 + 5 + 32, 1 << 30)
        refused(read_tilings, bytes(data))
