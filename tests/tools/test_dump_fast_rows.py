"""The fast way to write compact text and tables gives, byte for byte, what the plain way gives."""

from __future__ import annotations

import io
import random

import click
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import BUILTIN, define
from tools.dump import fast, fast_text, items, ways
from tools.dump.data import Data
from tools.dump.request import Request
from tools.dump.sqes import as_text
from tools.dump.views import table

FAMILIES = ("v100", "arch5162")
KERNEL = BUILTIN.get("v100", "AicoreKernelSqe").build({"block_dim": 8, "task_id": 1, "pc_addr": 0x12C0C0200000})
NOP = BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": 103, "task_id": 2, "kernel_credit": 254})


def plain(data, family, view, first=0):
    """The text of the plain way."""
    count = len(data) // 64
    walk = items.scan(items.Reader(BUILTIN, family), Data(data), first, count)
    if view == "compact":
        lines = list(as_text(walk, None))
    else:
        columns = table.Columns.for_slots(count - 1)
        lines = [table.title(columns), *table.lines(walk, columns, None)]
    return "".join(click.unstyle(line) + "\n" for line in lines)


def quick(data, family, view, first=0):
    """The text of the fast way."""
    count = len(data) // 64
    parts = fast.chunks(BUILTIN, family, Data(data), [(first, count)], view, count)
    return b"".join(bytes(part) for part in parts).decode()


def some_entries(family, seed, count=60):
    """Entries of every kind, some with stray bits, some random, some empty."""
    rnd = random.Random(seed)
    structs = [BUILTIN.get(family, n) for n in BUILTIN.names(family)]
    structs = [s for s in structs if s.size == 64 and s.match]
    out = bytearray()
    for _ in range(count):
        chance = rnd.random()
        if chance < 0.2:
            out += bytes(64 * rnd.randint(1, 9))
        elif chance < 0.25:
            out += rnd.randbytes(64)
        else:
            out += one_of(rnd.choice(structs), rnd)
    return bytes(out)


def one_of(struct, rnd):
    """An entry of `struct` with some of its fields set."""
    values = {name: rnd.choice(found) for name, found in struct.match.items()}
    for f in struct.fields:
        if f.count is None and f.name not in values and rnd.random() < (0.01 if f.reserved else 0.3):
            values[f.name] = rnd.getrandbits(rnd.randint(1, f.width))
        elif f.count and rnd.random() < 0.05:
            values[f.name] = [rnd.getrandbits(f.width) for _ in range(f.count)]
    return struct.build(values)


class TestSameText:
    @pytest.mark.parametrize("view", ["compact", "table"])
    @pytest.mark.parametrize("family", FAMILIES)
    @pytest.mark.parametrize("rows", [5, 16384])
    def test_mixed_entries(self, monkeypatch, family, view, rows):
        """Rings of all kinds with gaps, stray bits and random entries, in windows of any size."""
        monkeypatch.setattr(fast, "ROWS", rows)
        for seed in range(8):
            data = some_entries(family, seed)
            assert quick(data, family, view) == plain(data, family, view)

    @given(st.lists(st.one_of(st.binary(min_size=64, max_size=64), st.sampled_from([KERNEL, NOP, bytes(64)]))))
    def test_any_bytes(self, found):
        """Any entries at all."""
        data = b"".join(found)
        for view in ("compact", "table"):
            assert quick(data, "v100", view) == plain(data, "v100", view)

    def test_from_the_middle(self):
        """A range of slots has the text it has in the whole ring."""
        data = (KERNEL + NOP) * 20
        assert quick(data, "v100", "compact", 13) == plain(data, "v100", "compact", 13)

    def test_one_kind_only(self):
        """A ring of one kind needs no sorting."""
        assert quick(NOP * 10, "v100", "compact") == plain(NOP * 10, "v100", "compact")

    def test_every_struct_has_a_template(self, monkeypatch):
        """Entries of each kind of a family go the fast way when only named scalar fields are set."""
        painter = fast.Painter(BUILTIN, "v100", "compact", table.Columns())
        monkeypatch.setattr(painter, "_slowly", lambda *_: b"slow")
        slow = set()
        for name in BUILTIN.names("v100"):
            struct = BUILTIN.get("v100", name)
            if struct.size == 64 and struct.match:
                raw = struct.build({key: values[0] for key, values in struct.match.items()} | {"task_id": 1})
                parts, _ = painter.window(memoryview(raw), 0, np.array([0]), None)
                slow |= {name} if b"slow" in b"".join(map(bytes, parts)) else set()
        conditions = {n for n in BUILTIN.names("v100") if "csc" in BUILTIN.get("v100", n).by_name}
        assert slow <= conditions


class TestRenderers:
    @given(st.lists(st.integers(0, (1 << 64) - 1), min_size=1))
    def test_numbers(self, values):
        """Columns of numbers are written as Python writes them."""
        column = np.array(values, "<u8")
        for show, render in ((str, fast_text.decimal), (hex, fast_text.hexadecimal)):
            rows = [bytes(row[row != 0]).decode() for row in render(column)]
            assert rows == [show(v) for v in values]

    def test_choice(self):
        """Plain forms are recognised, everything else is looked up."""
        assert fast_text.renderer(str, 16) is fast_text.decimal
        assert fast_text.renderer(hex, 64) is fast_text.hexadecimal
        assert isinstance(fast_text.renderer(lambda v: "none" if v == 65535 else str(v), 16), fast_text.Looked)
        render = fast_text.renderer(lambda v: f"{v} bytes", 32)
        assert bytes(render(np.array([70000], "<u4"))[0]).replace(b"\0", b"") == b"70000 bytes"

    def test_many_patterns(self, monkeypatch):
        """The memory for patterns seen is bounded."""
        monkeypatch.setattr("tools.dump.fast_kinds._MOST_PATTERNS", 3)
        data = b"".join(BUILTIN.get("v100", "PhSqe").build({"type": 3, "task_type": t}) for t in range(90, 110))
        assert quick(data, "v100", "table") == plain(data, "v100", "table")


class TestUse:
    def test_which_families(self):
        """Families whose tasks have several units, or no stream, go the plain way."""
        assert ways.single_units(BUILTIN, "v100")
        assert not ways.single_units(BUILTIN, "v200")
        assert ways.many_at_a_time(Request("f", view="compact"), BUILTIN, "v100", "sqes", 1000)
        assert not ways.many_at_a_time(Request("f", view="compact"), BUILTIN, "v100", "sqes", 5)
        assert not ways.many_at_a_time(Request("f", view="compact", as_json=True), BUILTIN, "v100", "sqes", 1000)
        assert not ways.many_at_a_time(Request("f", view="fields"), BUILTIN, "v100", "sqes", 1000)
        assert not ways.many_at_a_time(Request("f"), BUILTIN, "v100", "cqes", 1000)

    def test_layouts_of_plugins(self):
        """A family of a plugin with its own header works, too."""
        common = define("edu", "CommonSqe", 64, "@0 type:6 -:26 rt_stream_id:16 task_id:16 words:32*14")
        add = define(
            "edu", "VecAddSqe", 64, "@0 type:6 -:26", "@4 rt_stream_id:16 task_id:16", "@8 left:32 right:32 -:32*12",
            sqe_type=9, match={"type": (9,)},
        )  # fmt: skip
        registry = BUILTIN.extend((common, add))
        data = add.build({"type": 9, "left": 5, "right": 6, "task_id": 3})
        text = b"".join(bytes(p) for p in fast.chunks(registry, "edu", Data(data), [(0, 1)], "table", 1)).decode()
        assert text.splitlines()[1].split() == ["0", "0", "3", "vec", "add", "left", "5", "right", "6"]

    def test_text_streams(self, monkeypatch):
        """A standard output without bytes below it gets text."""
        out = io.StringIO()
        monkeypatch.setattr("sys.stdout", out)
        fast.write(BUILTIN, "v100", Data(NOP), [(0, 1)], "table", 1)
        assert out.getvalue().count("\n") == 2
