"""What `sqemu diff` counts, against a model of its rules that knows nothing of windows, files or layouts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import BUILTIN
from tools.diff import entries
from tools.diff.side import Ring
from tools.dump.data import Data
from tools.dump.items import Reader
from tools.dump.known import known_names
from tools.dump.selection import Selection, where

KERNEL = BUILTIN.get("v100", "AicoreKernelSqe")
CCU, AIC = BUILTIN.get("v200", "CcuSqe"), BUILTIN.get("v200", "AicKernelSqe")


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    """Rings of a few entries have several windows."""
    monkeypatch.setattr(entries, "WINDOW", 4)


def ring(family, *parts):
    """A ring in memory."""
    return Ring("r", Data(b"".join(parts)), Reader(BUILTIN, family))


def counted(a, b, chosen=None, ignored=()):
    """Equal, changed, only in A, only in B; pairs that differ."""
    found = entries.Comparison(a, b, chosen or Selection(), frozenset(ignored))
    pairs = list(found.pairs())
    return (found.equal, found.changed, found.only_a, found.only_b), pairs


# ---- entries of one unit -----------------------------------------------------------------------------------------

entry = st.one_of(st.none(), st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(1, 2)))
"""(stream, task, blocks), or None for zeros."""
rings = st.lists(entry, max_size=14)


@st.composite
def ring_pairs(draw):
    """Two rings: unrelated, or the second a part, a continuation, or an edited copy of the first."""
    a = draw(rings)
    how = draw(st.sampled_from(["other", "prefix", "suffix", "longer", "twice", "edit", "insert"]))
    at = draw(st.integers(0, len(a)))
    return a, {
        "other": lambda: draw(rings),
        "prefix": lambda: a[:at],
        "suffix": lambda: a[at:],
        "longer": lambda: a + draw(rings),
        "twice": lambda: a + a,
        "edit": lambda: [*a[:at], draw(entry), *a[at + 1 :]],
        "insert": lambda: a[:at] + draw(rings) + a[at:],
    }[how]()


def built(made):
    """The bytes of entries of the model."""
    return ring("v100", *(bytes(64) if e is None else _kernel(*e) for e in made))


def _kernel(stream, task, blocks):
    return KERNEL.build({"rt_stream_id": stream, "task_id": task, "block_dim": blocks, "kernel_credit": 254})


def model(a, b):
    """The counts: what both have by content is equal; of the rest of each task as many as both have are changed."""
    left, right = (Counter(e for e in made if e is not None) for made in (a, b))
    equal = left & right
    rest_a, rest_b = (Counter(e[:2] for e in (side - equal).elements()) for side in (left, right))
    changed = (rest_a & rest_b).total()
    return equal.total(), changed, rest_a.total() - changed, rest_b.total() - changed


@given(ring_pairs())
def test_counts_of_single_entries(pair):
    """Counts depend on what the entries are, not on windows or on which file ends first."""
    a, b = pair
    assert counted(built(a), built(b))[0] == model(a, b)


@given(ring_pairs())
def test_a_choice_keeps_both_sides_of_a_pair(pair):
    """With a choice, the pairs are those of the whole comparison of which a side is chosen."""
    a, b = (built(made) for made in pair)
    _, pairs = counted(a, b)
    chosen = Selection(streams=frozenset({1}), tasks=frozenset({1, 2}))
    wanted = [p for p in pairs if chosen.admits(p.one)]
    counts, found = counted(a, b, chosen)
    assert found == wanted
    mine, theirs = ([e for e in made if e is not None and e[0] == 1 and e[1] in {1, 2}] for made in pair)
    assert counts == model(mine, theirs)


def test_a_field_that_stops_to_hold():
    """A kernel of 3 blocks that has 16 on the other side is one changed pair, whichever side the choice holds for."""
    known = known_names(BUILTIN, "v100")
    chosen = Selection(where=where("block_dim > 3", known))
    few, many = ring("v100", _kernel(0, 1, 3)), ring("v100", _kernel(0, 1, 16))
    assert counted(few, many, chosen)[0] == (0, 1, 0, 0)
    assert counted(many, few, chosen)[0] == (0, 1, 0, 0)
    assert counted(few, few, chosen)[0] == (0, 0, 0, 0)


def test_moved_and_reused_task_ids():
    """Entries of one task id that are the same are paired before others, so an inserted one is the only difference."""
    made = [_kernel(0, 1, blocks) for blocks in (1, 2, 3)]
    counts, pairs = counted(ring("v100", *made), ring("v100", _kernel(0, 1, 9), *made))
    assert counts == (3, 0, 0, 1)
    assert [p.b.slot for p in pairs] == [0]


def test_an_ignored_field_is_equal():
    """Entries that differ only in an ignored field are equal."""
    assert counted(ring("v100", _kernel(0, 1, 1)), ring("v100", _kernel(0, 1, 2)), ignored=["block_dim"])[0][0] == 1


# ---- tasks of several units --------------------------------------------------------------------------------------

task = st.tuples(st.integers(0, 2), st.lists(st.integers(0, 2), max_size=4))
"""(task id, a number per further unit, 0 for a unit of zeros)."""


def wide(made, tail=b""):
    """CCU tasks with further units that look like kernels of another task."""
    parts = []
    for number, units in made:
        parts.append(CCU.build({"type": 16, "task_id": number, "sqe_length": len(units)}))
        parts += (AIC.build({"task_id": 50, "block_dim": n}) if n else bytes(64) for n in units)
    return ring("v200", *parts, tail)


def wide_model(a, b):
    """The counts of tasks of several units: units that are zero count only beside other bytes."""
    sides = [Counter((t, k, (len(us), u)) for t, us in made for k, u in enumerate([-1, *us])) for made in (a, b)]
    keyed = [Counter() for _ in sides]
    plain = [Counter({(t, k, _bytes(k, v)): 0 for t, k, v in side}) for side in sides]
    for side, into in zip(sides, plain, strict=True):
        for (t, k, v), n in side.items():
            into[t, k, _bytes(k, v)] += n
    equal = plain[0] & plain[1]
    total = sum(n for (_, _, v), n in equal.items() if v != 0)
    for side, into in zip(plain, keyed, strict=True):
        for (t, k, _), n in (side - equal).items():
            into[t, k] += n
    return total, (keyed[0] & keyed[1]).total()


def _bytes(unit, value):
    """What tells the bytes of a unit apart: the number of units for the first one, the number for others."""
    return ("first", value[0]) if unit == 0 else value[1]


@given(st.lists(task, max_size=5), st.lists(task, max_size=5), st.booleans())
def test_counts_of_tasks_of_several_units(a, b, related):
    """Units belong to their task also where it lies in two windows."""
    other = a[: len(a) // 2] + b + a[len(a) // 2 :] if related else b
    (equal, changed, _, _), _ = counted(wide(a), wide(other))
    assert (equal, changed) == wide_model(a, other)


def test_a_task_over_the_edge_of_a_window():
    """The last slot of a window begins a task whose unit, in the next window, differs: one changed unit."""
    first = b"".join(AIC.build({"task_id": n, "block_dim": 1}) for n in range(3))
    first += CCU.build({"type": 16, "task_id": 9, "sqe_length": 1})
    a, b = (ring("v200", first, AIC.build({"task_id": 0, "block_dim": n})) for n in (1, 2))
    counts, (pair,) = counted(a, b)
    assert counts == (4, 1, 0, 0)
    assert (pair.a.kind.name, pair.a.task_id, pair.a.slot) == ("ccu +1", 9, 4)
    assert counted(a, b, Selection(tasks=frozenset({9})))[0] == (1, 1, 0, 0)


# ---- files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Write a ring of kernels (task numbers), give its path."""

    def write(name, *tasks):
        (tmp_path / name).write_bytes(b"".join(_kernel(0, n, 1) for n in tasks))
        return tmp_path / name

    return write


def test_a_ring_that_was_cut_off(sqemu, files):
    """The first four of nine entries: four equal, five only in the longer file; JSON names both files first."""
    long, short = files("long", *range(1, 10)), files("short", 1, 2, 3, 4)
    assert sqemu("diff", long, short).out.splitlines()[-1].startswith("4 equal, 0 changed, 5 only in ")
    found = sqemu("diff", short, long, "--json").objects
    assert (found[0]["section"], found[0]["a"], found[0]["b"]) == ("inputs", str(short), str(long))
    assert (found[-1]["equal"], found[-1]["only_a"], found[-1]["only_b"]) == (4, 0, 5)


def test_sparse_files(sqemu, tmp_path, monkeypatch):
    """Holes of sparse files are passed over, and their zeros are not counted."""
    monkeypatch.undo()
    for name, at in (("a", 3 << 30), ("b", 2 << 30)):
        with (tmp_path / name).open("wb") as file:
            file.write(_kernel(0, 1, 1))
            file.seek(at)
            file.write(_kernel(0, 2, 1) + _kernel(0, at >> 30, 2))
            file.truncate(4 << 30)
    found = sqemu("diff", tmp_path / "a", tmp_path / "b", "--json").objects[-1]
    assert [found[k] for k in ("equal", "changed", "only_a", "only_b")] == [2, 0, 1, 1]


@pytest.mark.parametrize(
    ("name", "remedy"), [("nope", ""), ("block_dims", "block_dim"), ("pc_addr_low", "--ignore pc_addr")]
)
def test_names_that_cannot_be_ignored(sqemu, files, name, remedy):
    """A field that nothing has, and half of an address: refused, with the name that is meant."""
    path = files("a", 1)
    found = sqemu("diff", path, path, "--family", "v100", "--ignore", name, "--json")
    assert (found.code, found.error["error"]) == (2, "dump.field")
    assert remedy in found.error["remedy"]
    for good in ("pc_addr", "struct", "reserved_2"):
        assert sqemu("diff", path, path, "--family", "v100", "--ignore", good).code == 0


def test_a_kind_that_does_not_exist(sqemu, files):
    """A mistyped kind is refused as by `sqemu dump`."""
    path = files("a", 1)
    assert sqemu("diff", path, path, "--kind", "kernal", "--json").error["error"] == "dump.kind"
