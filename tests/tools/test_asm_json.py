"""`sqemu asm` of the JSON lines of a dump: exact, edits of fields win, errors with line and column."""

from __future__ import annotations

import json
import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import InputError
from formats import BUILTIN
from tools.asm.jsonl import assemble
from tools.dump.items import entries
from tools.dump.sqes import record

KERNEL = BUILTIN.get("v100", "AicoreKernelSqe").build({"block_dim": 8, "pc_addr": 0x12C0C0200000, "reserved_2": 5})
FILE = {"section": "file", "family": "v100"}


def built(*objects, family=None):
    """The bytes of some objects."""
    return assemble(BUILTIN, "\n".join(map(json.dumps, objects)), "x.json", family)


def kernel(**edits):
    """The record of the kernel with some keys changed."""
    found = record(next(entries(BUILTIN, "v100", KERNEL)))
    fields = {**found["fields"], **edits.pop("fields", {})}
    return {**found, "fields": fields, **edits}


class TestExact:
    @pytest.mark.parametrize("family", BUILTIN.sqe_families)
    @given(raw=st.binary(min_size=64, max_size=64))
    def test_any_bytes(self, family, raw):
        """The record of any 64 bytes of any family is these bytes again."""
        found = record(next(entries(BUILTIN, family, raw)))
        assert built({"section": "file", "family": family}, found) == raw

    def test_every_struct(self, sqemu, tmp_path):
        """A file shown as an array of any layout is assembled to the same bytes."""
        rnd = random.Random(2)
        for family, name in (("v100", "TilingTabl"), ("blob", "DimRecord"), ("runtime", "CgdrTilingData")):
            raw = rnd.randbytes(BUILTIN.get(family, name).size * 2)
            (tmp_path / "a").write_bytes(raw)
            out = sqemu("dump", tmp_path / "a", "--family", family, "--struct", name, "--json").out
            (tmp_path / "t").write_text(out)
            assert sqemu("asm", tmp_path / "t", "-o", tmp_path / "b").code == 0
            assert (tmp_path / "b").read_bytes() == raw

    def test_gaps_and_trailing_bytes(self, sqemu, tmp_path):
        """Zeros, several units and a rest come back."""
        first = BUILTIN.get("v200", "CcuSqe").build({"type": 16, "sqe_length": 1})
        data = first + b"\x07" * 64 + bytes(128) + first[:9]
        (tmp_path / "a").write_bytes(data)
        (tmp_path / "t").write_text(sqemu("dump", tmp_path / "a", "--family", "v200", "--json").out)
        sqemu("asm", tmp_path / "t", "-o", tmp_path / "b", "--json")
        assert (tmp_path / "b").read_bytes() == data


class TestEdits:
    def test_a_field(self):
        """A field that differs from `hex` is an edit; reserved bits stay as they are."""
        raw = built(FILE, kernel(fields={"block_dim": 3}))
        values = BUILTIN.get("v100", "AicoreKernelSqe").parse(raw)
        assert (values["block_dim"], values["reserved_2"]) == (3, 5)

    def test_joined_values(self):
        """A joined value, or one of its halves, may be changed; both in different ways is refused."""
        parse = BUILTIN.get("v100", "AicoreKernelSqe").parse
        assert parse(built(FILE, kernel(fields={"pc_addr": 1 << 32})))["pc_addr_high"] == 1
        assert parse(built(FILE, kernel(fields={"pc_addr_high": 7})))["pc_addr_high"] == 7
        with pytest.raises(InputError, match="changed differently"):
            built(FILE, kernel(fields={"pc_addr_high": 7, "pc_addr": 5}))

    def test_without_hex(self):
        """Without `hex` the named fields are all there is."""
        found = kernel()
        del found["hex"]
        values = BUILTIN.get("v100", "AicoreKernelSqe").parse(built(FILE, found))
        assert (values["block_dim"], values["reserved_2"], values["pc_addr_high"]) == (8, 0, 0x12C0)

    def test_without_fields(self):
        """Without `fields` the bytes count, and what an entry points at is passed over."""
        assert built({"section": "follows"}, {"section": "sqes", "hex": KERNEL.hex()}) == KERNEL

    def test_family_of_the_command_line(self):
        """The option says the family when the first object is missing."""
        assert built(kernel(), family="v100") == KERNEL


class TestErrors:
    def test_json_of_a_blob(self, sqemu, tmp_path):
        """What `dump --json` says about a task blob is no ring: refused, and no file is left."""
        sqemu("compile", "docs/examples/probe.json", "-o", tmp_path / "p.sqt")
        (tmp_path / "j").write_text(sqemu("dump", tmp_path / "p.sqt", "--json").out)
        assert sqemu("asm", tmp_path / "j", "-o", tmp_path / "o").code == 2
        assert not (tmp_path / "o").exists()

    @pytest.mark.parametrize(
        ("objects", "error", "says"),
        [
            ([kernel()], "asm.family", "no family was named"),
            ([FILE, kernel(struct="Foo")], "asm.field", "no struct 'Foo'"),
            ([FILE, kernel(struct=None)], "asm.field", "no struct"),
            ([FILE, kernel(fields={"foo": 1})], "asm.field", "no such field"),
            ([FILE, kernel(fields={"block_dim": 65536})], "asm.value", "does not fit"),
            ([FILE, kernel(fields={"block_dim": True})], "asm.value", "not an integer"),
            ([FILE, kernel(fields={"block_dim": "8"})], "asm.value", "not an integer"),
            ([FILE, kernel(fields={"pc_addr": -1})], "asm.value", "does not fit"),
            ([FILE, kernel(hex="00")], "asm.value", "hex has 1"),
            ([FILE, kernel(hex="zz")], "asm.value", "not hexadecimal"),
            ([FILE, kernel(hex=3)], "asm.value", "not hexadecimal"),
            ([FILE, {**kernel(), "fields": 3}], "asm.value", "must be an object"),
            ([FILE, {"section": "empty", "bytes": -1}], "asm.value", "not a number of bytes"),
            ([FILE, 3], "asm.syntax", "an object is expected"),
            ([FILE, {"section": "summary"}], "asm.value", "section 'summary' stands for no bytes"),
            ([{"section": "header"}], "asm.value", "section 'header' stands for no bytes"),
            ([{"section": ["sqes"]}], "asm.value", "stands for no bytes"),
            ([{}], "asm.value", "stands for no bytes"),
            ([FILE], "asm.value", "nothing to assemble"),
        ],
    )
    def test_place(self, objects, error, says):
        """Each mistake is refused with its line."""
        with pytest.raises(InputError) as found:
            built(*objects)
        assert (found.value.id, says in str(found.value)) == (error, True)
        assert found.value.where.startswith(f"x.json: line {len(objects)}, column ")

    def test_column_of_a_field(self):
        """The column is that of the field in the text."""
        text = json.dumps(kernel(fields={"schem": 9}))
        with pytest.raises(InputError) as found:
            built(FILE, json.loads(text))
        column = text.index('"schem"') + 1
        assert found.value.where == f"x.json: line 2, column {column}"

    def test_broken_json(self):
        """Text that is no JSON is refused where it breaks; nesting without end, too."""
        with pytest.raises(InputError) as found:
            assemble(BUILTIN, '{"section": "file"}\n\n{"section": }', "x.json")
        assert found.value.where == "x.json: line 3, column 13"
        for text in ('{"a": ' + "[" * 100_000, '{"a": ' + "9" * 5000 + "}"):
            with pytest.raises(InputError, match="too long"):
                assemble(BUILTIN, text, "x.json")

    @given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(
        st.sampled_from(["section", "fields", "hex", "struct", "bytes"]), x), max_leaves=8))  # fmt: skip
    def test_any_object(self, value):
        """Any object is assembled or refused with an `InputError`."""
        found = value if isinstance(value, dict) else {"fields": value}
        with suppress(InputError):
            built(FILE, {**found, "section": "sqes"})
