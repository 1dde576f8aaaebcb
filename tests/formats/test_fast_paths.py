"""View, window, field access and codec agree with parse and build, which the oracle holds to stock construct."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import BUILTIN, FormatError, define
from formats.access import pieces
from formats.strategies import raw, records, values
from formats.view import View, Window

ODD = define("edu", "Odd", 22, "a:3 wide:49 b:4 c:i5 d_low:11 d_high:20 e:i64 tail:20")
TINY = define("edu", "Tiny", 3, "x:20 y:i4")
CROSSING = define("edu", "Crossing", 9, "a:4 wide:63 b:i5")
NIBBLES = define("edu", "Nibbles", 5, "n:4*6 m:i4*4")
STRUCTS = st.sampled_from((*BUILTIN.structs, ODD, TINY, NIBBLES, CROSSING))
KERNEL = formats.get("v100", "AicoreKernelSqe")
PH = formats.get("v100", "PhSqe")


def names_of(struct):
    """Every name that can be accessed, halves and joined values alike."""
    return [*struct.by_name, *struct.joined]


def value_of(struct, record, name):
    """A value by name from parsed values, arrays as tuples."""
    pair = struct.joined.get(name)
    if pair:
        return record[pair.low.name] | record[pair.high.name] << pair.low.width
    return tuple(record[name]) if isinstance(record[name], list) else record[name]


def drawn(data, struct, name):
    """A random value that fits the field or joined value."""
    if name in struct.joined:
        return data.draw(st.integers(*struct.joined[name].limits))
    return data.draw(values(struct.by_name[name]))


def plain(x):
    """Lists as tuples."""
    return tuple(x) if isinstance(x, list) else x


def write(way, ring, name, x):
    """Write a field of the first kernel entry of a ring in one of three ways."""
    if way == "field":
        KERNEL.field(name).patch(ring, 0, x)
    elif way == "bound":
        KERNEL.field(name).bind(ring).patch(0, x)
    else:
        ring[:64] = KERNEL.codec.build(KERNEL.codec.record(**{name: x}))


class TestAgreement:
    @settings(max_examples=150, deadline=None)
    @given(data=st.data(), struct=STRUCTS)
    def test_field_access_reads_what_parse_finds(self, data, struct):
        """Each field of each record of a ring reads as `parse` says, checked and bound access alike."""
        blobs = data.draw(st.lists(raw(struct), min_size=1, max_size=3))
        ring = bytearray().join(blobs)
        for i, blob in enumerate(blobs):
            record = struct.parse(blob)
            for name in names_of(struct):
                expected = value_of(struct, record, name)
                assert struct.field(name).read(ring, i) == expected
                assert struct.field(name).bind(ring).read(i) == expected

    @settings(max_examples=150, deadline=None)
    @given(data=st.data(), struct=STRUCTS, how=st.sampled_from(["field", "bound", "view"]))
    def test_a_patch_changes_one_field_of_one_record(self, data, struct, how):
        """A patch returns the value before, sets the new one, and leaves every other bit of the ring alone."""
        blobs = data.draw(st.lists(raw(struct), min_size=2, max_size=2))
        name = data.draw(st.sampled_from(names_of(struct)))
        x = drawn(data, struct, name)
        ring = bytearray().join(blobs)
        patch = {
            "field": lambda: struct.field(name).patch(ring, 1, x),
            "bound": lambda: struct.field(name).bind(ring).patch(1, x),
            "view": lambda: struct.view(ring).set(name, 1, x),
        }[how]
        before = struct.parse(blobs[1])
        halves = struct.joined.get(name)
        gone = {halves.low.name, halves.high.name} if halves else {name}
        assert patch() == value_of(struct, before, name)
        kept = {k: v for k, v in before.items() if k not in gone}
        assert bytes(ring) == blobs[0] + struct.build({**kept, name: x})

    @settings(max_examples=100, deadline=None)
    @given(data=st.data(), struct=STRUCTS)
    def test_columns_and_windows_hold_what_parse_finds(self, data, struct):
        """Columns, window columns and row proxies hold the values of `parse` for each record."""
        blobs = data.draw(st.lists(raw(struct), max_size=5))
        view = struct.view(b"".join(blobs))
        parsed = [struct.parse(blob) for blob in blobs]
        lo = data.draw(st.integers(0, len(blobs)))
        window = Window(view, 8)
        window.load(lo, len(blobs))
        assert len(view) == len(blobs)
        for name in names_of(struct):
            field = struct.joined.get(name) or struct.by_name[name]
            if field.width > 64:
                continue
            expected = [value_of(struct, record, name) for record in parsed]
            assert [plain(x) for x in view[name].tolist()] == expected
            assert not view[name].flags.writeable
            if name in struct.joined or (struct.by_name[name].count is None and not struct.by_name[name].reserved):
                assert window[name].tolist() == expected[lo:]
        assert [row.as_dict() for row in view] == parsed

    @settings(max_examples=150, deadline=None)
    @given(data=st.data(), struct=STRUCTS)
    def test_the_codec_agrees_with_parse_and_build(self, data, struct):
        """Slots objects hold the named values, their build gives the bytes with reserved bits 0."""
        blob = data.draw(raw(struct))
        record, found = struct.parse(blob), struct.codec.parse(b"\xaa" + blob, 1)
        for f in struct.named_fields:
            assert getattr(found, f.name) == value_of(struct, record, f.name)
        for name in struct.joined:
            assert getattr(found, name) == value_of(struct, record, name)
        clean = struct.build({f.name: record[f.name] for f in struct.named_fields})
        assert struct.codec.build(found) == clean
        assert struct.codec.parse(clean) == found

    @settings(max_examples=60, deadline=None)
    @given(data=st.data(), struct=STRUCTS)
    def test_codec_records_can_be_written_by_hand(self, data, struct):
        """A record object with named values builds as the mapping does; what is not given is 0."""
        given_values = data.draw(records(struct, reserved=False))
        record = struct.codec.record(**{k: plain(v) for k, v in given_values.items()})
        assert struct.codec.build(record) == struct.build(given_values)
        assert struct.codec.build(struct.codec.record()) == bytes(struct.size)

    @pytest.mark.parametrize("struct", [ODD, TINY, NIBBLES, CROSSING], ids=lambda s: s.struct_name)
    def test_fields_that_no_aligned_word_holds(self, struct):
        """Odd record sizes, fields over word boundaries and signed fields decode alike on every path."""
        ring = bytearray(range(7, 7 + 3 * struct.size))
        view, window = struct.view(ring), Window(struct.view(ring), 4)
        window.load(1, 3)
        for i in range(3):
            record = struct.parse(ring[i * struct.size :])
            for name in names_of(struct):
                expected = value_of(struct, record, name)
                assert plain(view[name][i].tolist()) == struct.field(name).read(ring, i) == expected
                if i and (name in struct.joined or struct.by_name[name].count is None):
                    assert window[name][i - 1] == expected


class TestRefusals:
    @pytest.mark.parametrize("x", [-1, 4, 1.0, "1", None])
    @pytest.mark.parametrize("way", ["field", "bound", "codec"])
    def test_values_that_do_not_fit_two_bits_are_refused(self, x, way):
        """Field access and codec name the field and leave the ring as it was."""
        ring = bytearray(128)
        with pytest.raises(FormatError) as caught:
            write(way, ring, "schem", x)
        assert (caught.value.id, caught.value.where) == ("format.range", "AicoreKernelSqe.schem")
        assert ring == bytearray(128)

    @pytest.mark.parametrize("x", [-1, 1 << 32, 1.0, "1"])
    @pytest.mark.parametrize("way", ["field", "bound", "codec"])
    def test_values_that_do_not_fit_a_whole_word_are_refused(self, x, way):
        """A word-sized field is checked like any other."""
        ring = bytearray(64)
        with pytest.raises(FormatError, match=r"AicoreKernelSqe\.pc_addr_low"):
            write(way, ring, "pc_addr_low", x)
        assert ring == bytearray(64)

    @pytest.mark.parametrize("payload", [(0,) * 11, (0,) * 13, (0,) * 11 + (-1,), 3])
    def test_the_codec_checks_arrays(self, payload):
        """Arrays of the wrong length or with wrong elements are refused by name."""
        with pytest.raises(FormatError, match=r"PhSqe\.payload"):
            PH.codec.build(PH.codec.record(payload=payload))

    @pytest.mark.parametrize("name", ["schem", "pc_addr", "reserved_1", "payload"])
    @pytest.mark.parametrize("i", [-1, 2])
    def test_records_outside_the_ring_are_refused(self, name, i):
        """Reading or patching past either end is a FormatError, never other memory."""
        struct = PH if name == "payload" else KERNEL
        for call in (
            lambda: struct.field(name).read(bytearray(128), i),
            lambda: struct.view(bytearray(128)).set(name, i, 0),
        ):
            with pytest.raises(FormatError) as caught:
                call()
            assert caught.value.id == "format.index"

    @pytest.mark.parametrize("name", ["wide", "b"])
    def test_so_are_they_for_fields_of_several_words(self, name):
        """A field in pieces, or a signed one, is not read past the end either."""
        for i in (-1, 1):
            with pytest.raises(FormatError, match="outside the buffer"):
                CROSSING.field(name).read(bytes(9), i)
        with pytest.raises(FormatError, match="read-only"):
            CROSSING.field(name).patch(bytes(9), 0, 1)

    @pytest.mark.parametrize("name", ["schem", "pc_addr", "payload"])
    def test_a_read_only_buffer_is_not_patched(self, name):
        """Patching bytes is refused, whatever way the field takes."""
        struct = PH if name == "payload" else KERNEL
        with pytest.raises(FormatError) as caught:
            struct.field(name).patch(bytes(64), 0, [0] * 12 if name == "payload" else 0)
        assert caught.value.id == "format.read-only"

    def test_unknown_names_list_the_known_ones(self):
        """`field`, columns and rows say which names there are."""
        view = KERNEL.view(bytes(64))
        for call in (lambda: KERNEL.field("nope"), lambda: view["nope"], lambda: Window(view)["nope"]):
            with pytest.raises(FormatError, match="block_dim"):
                call()
        with pytest.raises(AttributeError, match="nope"):
            _ = view[0].nope

    def test_what_has_no_column_says_so(self):
        """Fields over 64 bits have no column, arrays and reserved bits no window column."""
        struct = define("edu", "Big", 16, "a:32 -:96")
        with pytest.raises(FormatError, match="too wide"):
            _ = struct.view(bytes(16))["reserved_0"]
        with pytest.raises(FormatError, match="scalar"):
            _ = Window(PH.view(bytes(64)))["payload"]

    def test_a_ring_is_a_whole_number_of_records(self):
        """Bytes left over are reported with the offset where they begin."""
        with pytest.raises(FormatError) as caught:
            KERNEL.view(bytes(130))
        assert (caught.value.id, caught.value.offset) == ("format.size", 128)

    def test_windows_stay_inside_the_ring(self):
        """A window loads at most its capacity, from records that exist."""
        window = Window(KERNEL.view(bytes(640)), 4)
        for lo, hi in ((0, 5), (8, 11), (-1, 2), (3, 2)):
            with pytest.raises(FormatError):
                window.load(lo, hi)

    def test_the_codec_reports_short_input(self):
        """Too few bytes from the offset on are a FormatError."""
        with pytest.raises(FormatError) as caught:
            KERNEL.codec.parse(bytes(70), 7)
        assert (caught.value.id, caught.value.offset) == ("format.size", 7)


class TestViews:
    def test_a_column_is_a_snapshot_and_a_row_is_live(self):
        """Later writes show in the row proxy and not in a column taken before."""
        ring = bytearray(128)
        view = KERNEL.view(ring)
        column, row = view["block_dim"], view[-1]
        assert view.set("block_dim", 1, 40) == 0
        assert (column.tolist(), row.block_dim, view["block_dim"].tolist()) == ([0, 0], 40, [0, 40])
        assert "block_dim" in repr(row)

    @pytest.mark.parametrize("index", [2, -3])
    def test_rows_outside_the_ring_are_refused(self, index):
        """An index past either end is a FormatError."""
        with pytest.raises(FormatError, match="outside the ring"):
            _ = KERNEL.view(bytes(128))[index]

    def test_an_array_writes_through(self):
        """A view over a numpy ring patches the array itself, and `raw` shows its bytes by record."""
        ring = np.zeros(128, np.uint8)
        view = View(KERNEL, ring)
        view.set("pc_addr", 1, 0x0102_0304_0506)
        assert ring[96:102].tolist() == [6, 5, 4, 3, 2, 1]
        assert view.raw.shape == (2, 64)

    def test_column_types_follow_the_width(self):
        """uint32 up to 32 bits, uint64 beyond, int64 for signed fields; arrays have one column per element."""
        tensor = formats.get("runtime", "Tensor").view(bytes(752 * 3))
        assert KERNEL.view(bytes(64))["schem"].dtype == np.uint32
        assert KERNEL.view(bytes(64))["pc_addr"].dtype == np.uint64
        assert tensor["origin_dims"].dtype == np.int64
        assert tensor["origin_dims"].shape == (3, 25)

    @given(struct=STRUCTS)
    def test_the_words_of_a_field_lie_inside_the_record(self, struct):
        """No piece of a field reads past the record, and pieces hold as many bits as the field."""
        for f in (*(f for f in struct.fields if f.count is None and f.width <= 64), *struct.joined.values()):
            parts = pieces(f, struct.size)
            assert all(p.byte >= 0 and p.byte + p.size <= struct.size for p in parts)
            assert sum(p.mask.bit_length() for p in parts) == f.width

    def test_the_generated_source_can_be_read(self):
        """The codec keeps its source, with a line per field."""
        assert "    r.block_dim = " in KERNEL.codec.source
        assert "AicoreKernelSqe(type=0, " in repr(KERNEL.codec.record())
        assert KERNEL.codec.record() != KERNEL.codec.record(type=1)


class TestManyRecords:
    @settings(max_examples=150, deadline=None)
    @given(data=st.data(), struct=STRUCTS)
    def test_set_many_is_set_of_each(self, data, struct):
        """Any scalar or joined value of some records: the ring and the values before agree."""
        scalars = [n for n in names_of(struct) if n in struct.joined or _is_scalar(struct.by_name[n])]
        if not scalars:
            return
        name = data.draw(st.sampled_from(scalars))
        count = data.draw(st.integers(1, 5))
        ring = bytearray(data.draw(st.binary(min_size=count * struct.size, max_size=count * struct.size)))
        rows = data.draw(st.lists(st.integers(0, count - 1), max_size=count, unique=True))
        new = [drawn(data, struct, name) for _ in rows]
        each, many = bytearray(ring), bytearray(ring)
        before = [struct.view(each).set(name, i, x) for i, x in zip(rows, new, strict=True)]
        assert struct.view(many).set_many(name, rows, new).tolist() == before
        assert many == each

    @pytest.mark.parametrize(
        ("name", "rows", "values", "what"),
        [
            ("block_dim", [3], 1, "record 3 is outside the ring of 3"),
            ("block_dim", [0, 0], 1, "twice"),
            ("block_dim", [[0]], 1, "no list of record numbers"),
            ("block_dim", [0], [1, 2], "has shape"),
            ("block_dim", [0], 0x10000, "does not fit"),
            ("nothing", [0], 1, "nothing"),
        ],
    )
    def test_a_bad_column_writes_nothing(self, name, rows, values, what):
        """Which record, value or name is wrong; the ring stays as it was."""
        ring = bytearray(192)
        with pytest.raises(FormatError, match=what):
            KERNEL.view(ring).set_many(name, rows, values)
        assert ring == bytearray(192)

    def test_bytes_cannot_be_written(self):
        """A ring of `bytes` is read-only, which is said."""
        with pytest.raises(FormatError, match="cannot be written"):
            KERNEL.view(bytes(64)).set_many("block_dim", [0], 1)

    def test_an_array_field_is_no_column(self):
        """One value per record is asked for."""
        with pytest.raises(FormatError, match="is an array"):
            NIBBLES.view(bytearray(5)).set_many("n", [0], 1)


def _is_scalar(field):
    """Whether one integer of at most 64 bits fills it."""
    return field.count is None and field.width <= 64
