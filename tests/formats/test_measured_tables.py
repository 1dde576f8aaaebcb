"""Every layout against three independent witnesses: the measured table, stock construct, the C compiler."""

import json
import shutil
import subprocess
from pathlib import Path

import construct
import pytest
from hypothesis import given, settings

import formats
from formats import BUILTIN
from formats.cheader import c_header
from formats.strategies import raw, records

MEASURED = json.loads((Path(__file__).parents[1] / "data" / "formats" / "sqe_fields.json").read_text())
MEASURED_STRUCTS = [(family, name) for family, structs in MEASURED.items() for name in structs]
STRUCTS = BUILTIN.structs
IDS = [f"{s.family}.{s.struct_name}" for s in STRUCTS]


def stock(struct):
    """The same layout written with stock construct: one bit struct, fields from high to low, bytes reversed."""
    parts = []
    for f in reversed(struct.fields):
        if f.count is None:
            parts.append(f.name / construct.BitsInteger(f.width, signed=f.kind == "int"))
        else:
            cells = reversed(range(f.count))
            parts += [f"{f.name}__{k}" / construct.BitsInteger(f.width, signed=f.kind == "int") for k in cells]
    return construct.ByteSwapped(construct.BitStruct(*parts))


def as_stock(struct, values):
    """Values in the names of `stock`."""
    flat = {}
    for f in struct.fields:
        if f.count is None:
            flat[f.name] = values[f.name]
        else:
            flat |= {f"{f.name}__{k}": x for k, x in enumerate(values[f.name])}
    return flat


@pytest.mark.parametrize(("family", "name"), MEASURED_STRUCTS, ids=lambda x: x)
def test_layout_is_the_measured_one(family, name):
    """Names, offsets, widths, counts and reserved flags are those that were measured, for each field."""
    measured, struct = MEASURED[family][name], formats.get(family, name)
    rows = [
        {
            "name": f.name,
            "bit_offset": f.offset,
            "bit_width": f.bits,
            **({"count": f.count, "elem_bits": f.width} if f.count else {}),
            **({"reserved": True} if f.reserved else {}),
        }
        for f in struct.fields
    ]
    assert rows == measured["fields"]
    assert (struct.size, struct.sqe_type) == (measured["size"], measured.get("sqe_type"))


def test_there_are_299_measured_structs():
    """The six families have the numbers of structs that were measured."""
    counts = {family: len(structs) for family, structs in MEASURED.items()}
    assert counts == {"v100": 132, "v200": 97, "v201": 26, "arch9201": 23, "arch5162": 14, "other": 7}
    assert len(MEASURED_STRUCTS) == 299


@pytest.mark.parametrize("family", MEASURED)
def test_every_struct_of_a_measured_family_is_measured(family):
    """No struct is left out of the measured table, apart from the generic form of arch5162, which is ours."""
    own = {s.struct_name for s in STRUCTS if s.family == family}
    assert own - set(MEASURED[family]) == ({"CommonSqe"} if family == "arch5162" else set())


@pytest.mark.parametrize("struct", STRUCTS, ids=IDS)
def test_stock_construct_agrees_in_both_directions(struct):
    """Any bytes parse as stock construct parses them and build back; any record builds as stock construct builds it."""
    oracle = stock(struct)

    @settings(max_examples=2 if struct.size > 512 else 6, deadline=None, database=None)
    @given(blob=raw(struct), record=records(struct))
    def both(blob, record):
        values = struct.parse(blob)
        expected = oracle.parse(blob)
        assert as_stock(struct, values) == {k: v for k, v in expected.items() if k != "_io"}
        assert struct.build(values) == blob
        built = struct.build(record)
        assert built == oracle.build(as_stock(struct, record))
        assert struct.parse(built) == record

    both()


def probe_source(structs):
    """A C program that prints, for each field set to all ones, the bytes of the struct."""
    body = []
    for s in structs:
        for f in s.named_fields:
            body.append(f"    {{ {s.struct_name} x; memset(&x, 0, sizeof x);")
            if f.count or f.kind == "float":
                body.append(f"      memset(&x.{f.name}, 0xff, sizeof x.{f.name});")
            else:
                body.append(f"      x.{f.name} = {'-1' if f.kind == 'int' else '~0ull'};")
            body.append(f'      show("{s.struct_name}.{f.name}", &x, sizeof x); }}')
    lines = "\n".join(body)
    return f"""{c_header(structs)}
#include <stdio.h>
#include <string.h>
static void show(const char *name, const void *p, unsigned long n) {{
    printf("%s ", name);
    for (unsigned long i = 0; i < n; i++) printf("%02x", ((const unsigned char *)p)[i]);
    printf("\\n");
}}
int main(void) {{
{lines}
    return 0;
}}
"""


@pytest.mark.gcc
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
@pytest.mark.parametrize("family", BUILTIN.families)
def test_c_header_puts_each_field_where_the_table_does(family, tmp_path):
    """The generated header compiles, its assertions hold, and a field set to all ones changes exactly its bits."""
    structs = [s for s in STRUCTS if s.family == family]
    source, program = tmp_path / "probe.c", tmp_path / "probe"
    source.write_text(probe_source(structs))
    flags = ["-std=c11", "-Wall", "-Werror", "-Wno-overflow", "-Wno-address-of-packed-member"]
    built = subprocess.run(
        ["gcc", *flags, str(source), "-o", str(program)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    shown = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    expected = [
        f"{s.struct_name}.{f.name} {(((1 << f.bits) - 1) << f.offset).to_bytes(s.size, 'little').hex()}"
        for s in structs
        for f in s.named_fields
    ]
    assert shown == expected
