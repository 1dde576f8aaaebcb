"""Every layout against three independent witnesses: the measured table, stock construct, the C compiler."""

import json
import shutil
import subprocess
from pathlib import Path

import construct
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import BUILTIN
from formats.cheader import c_header
from formats.strategies import records

MEASURED = json.loads((Path(__file__).parents[1] / "data" / "formats" / "sqe_fields.json").read_text())
MEASURED_STRUCTS = [(family, name) for family, structs in MEASURED.items() for name in structs]
STRUCTS = BUILTIN.structs
IDS = [f"{s.family}.{s.struct_name}" for s in STRUCTS]
STOCK_IDS = st.sampled_from(STRUCTS)


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


STOCK = {s: stock(s) for s in STRUCTS}


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
    assert (struct.size, struct.sqe_type) == (measured["size"], measured["sqe_type"])


def test_every_v100_struct_is_measured():
    """No struct of the family is left out of the measured table."""
    assert sorted(BUILTIN.names("v100")) == sorted(MEASURED["v100"])


@settings(max_examples=200, deadline=None)
@given(data=st.data(), struct=STOCK_IDS)
def test_random_bytes_parse_as_stock_construct_parses_them(data, struct):
    """Any bytes give the values that stock construct finds, and build back to the same bytes."""
    blob = data.draw(st.binary(min_size=struct.size, max_size=struct.size))
    values = struct.parse(blob)
    expected = STOCK[struct].parse(blob)
    assert as_stock(struct, values) == {k: v for k, v in expected.items() if k != "_io"}
    assert struct.build(values) == blob


@settings(max_examples=200, deadline=None)
@given(data=st.data(), struct=STOCK_IDS)
def test_random_records_build_as_stock_construct_builds_them(data, struct):
    """Any record that fits gives the bytes of stock construct, and parses back to the same values."""
    values = data.draw(records(struct))
    blob = struct.build(values)
    assert blob == STOCK[struct].build(as_stock(struct, values))
    assert struct.parse(blob) == values


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
