"""Constants from lists, bytes and npz files, and graph files from disk."""

from __future__ import annotations

import json
import struct
import zipfile

import numpy as np
import pytest

from emu_core.errors import GraphError, InputError
from emu_core.operators import TensorInfo
from emu_plugins.compiler.constants import ConstantError, pack_numbers
from emu_plugins.compiler.loading import load_graph, load_graph_text
from formats.dtypes import BY_NAME


def pack(dtype, values):
    """Bytes of a vector of `values`."""
    return pack_numbers(values, TensorInfo(dtype, (len(values),)), BY_NAME[dtype])


@pytest.mark.parametrize(
    ("dtype", "values", "hexed"),
    [
        ("int32", [192, -1], "c0000000ffffffff"),
        ("uint8", [0, 255], "00ff"),
        ("int64", [-(2**63)], "0000000000000080"),
        ("uint64", [2**64 - 1], "ffffffffffffffff"),
        ("float16", [1, 65504.0], "003cff7b"),
        ("float32", [0.5], "0000003f"),
        ("bool", [True, False], "0100"),
        ("bfloat16", [1.0, -2], "803f00c0"),
        # 1 + 2**-8 lies half way between 1 and 1 + 2**-7: ties go to the even one; 1 + 3 * 2**-8 goes up.
        ("bfloat16", [1.00390625, 1.01171875], "803f823f"),
    ],
)
def test_numbers_to_bytes(dtype, values, hexed):
    """Numbers become little-endian bytes of their dtype."""
    assert pack(dtype, values).hex() == hexed


@pytest.mark.parametrize(
    ("dtype", "values", "index"),
    [
        ("int8", [1, 128], 1), ("uint8", [-1], 0), ("uint64", [2**64], 0), ("float16", [0, 65520.0], 1),
        ("float32", [1e39], 0), ("float32", [float("inf")], 0), ("bfloat16", [float("nan")], 0),
        ("bfloat16", [3.4028e38], 0), ("float64", [10**400], 0), ("bool", [1], 0), ("int32", [True], 0),
        ("float32", [True], 0), ("float32", ["1"], 0), ("int32", [None], 0),
    ],
)  # fmt: skip
def test_the_first_bad_number_is_named(dtype, values, index):
    """A value that the dtype cannot hold is refused with its index."""
    with pytest.raises(ConstantError, match=f"element {index} "):
        pack(dtype, values)


def test_every_table_dtype_packs():
    """Each dtype of the table has a packer of its size."""
    for dtype in BY_NAME.values():
        value = dtype.name == "bool" or 1
        assert len(pack(dtype.name, [value])) == dtype.size


def graph_with(lab, file, key="lens", dtype="int32", shape=(1,)):
    """A graph whose constant comes from an npz."""
    graph = lab.one("Probe", "fixed")
    graph["constants"][0] |= {"dtype": dtype, "shape": list(shape), "data": {"npz": file, "key": key}}
    return graph


def test_npz_beside_the_graph(lab, tmp_path):
    """An npz is found relative to the graph file, and its bytes arrive in the blob."""
    np.savez_compressed(tmp_path / "c.npz", lens=np.array([77], ">i4"))
    blob = lab.compile(graph_with(lab, "c.npz"), source=str(tmp_path / "g.json")).blob
    assert next(t.data for t in blob.tensors if t.name == "fixed") == struct.pack("<i", 77)


def test_bfloat16_travels_as_uint16(lab, tmp_path):
    """A bfloat16 constant is a uint16 array in the npz."""
    np.savez(tmp_path / "c.npz", lens=np.array([0x3F80], np.uint16))
    lab.host.operators["Any"] = lab.host.operators["Unknown"].__class__(
        **{**lab.host.operators["Relu"].__dict__, "type": "Any", "inputs": lab.host.operators["Unknown"].inputs}
    )
    graph = graph_with(lab, "c.npz", dtype="bfloat16")
    graph["nodes"] = [lab.node("op", "Any", ["fixed"])]
    blob = lab.compile(graph, source=str(tmp_path / "g.json")).blob
    assert next(t.data for t in blob.tensors if t.name == "fixed") == b"\x80\x3f"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"file": "none.npz"}, "there is no file"),
        ({"file": "/c.npz"}, "absolute"),
        ({"key": "len"}, "has no array"),
        ({"shape": (2,)}, "has shape [1]"),
        ({"shape": (1, 1)}, "has shape [1]"),
        ({"dtype": "float32"}, "travels as float32"),
        ({"dtype": "int64"}, "travels as int64"),
        ({"shape": (10**6,)}, "bytes"),
        ({"key": "objects"}, "cannot be read"),
        ({"file": "broken.npz"}, "cannot be read"),
        ({"file": "."}, "cannot be read"),
        ({"file": "raw.npz"}, "cannot be read"),
    ],
)
def test_npz_surprises(lab, tmp_path, changes, said):
    """Missing files and keys, other shapes and types, objects and damaged files are problems of the constant."""
    np.savez(tmp_path / "c.npz", lens=np.array([77], np.int32), objects=np.array([{}], object))
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    with zipfile.ZipFile(tmp_path / "raw.npz", "w") as archive:
        archive.writestr("lens.npy", b"no array at all")
    with pytest.raises(GraphError) as caught:
        lab.compile(graph_with(lab, **{"file": "c.npz", **changes}), source=str(tmp_path / "g.json"))
    (problem,) = [p for p in caught.value.problems if p.id == "graph.constant"]
    assert problem.where == "constants[0].data"
    assert said in problem.what


def test_bytes_through_the_python_api(lab):
    """A Python caller may give the bytes themselves."""
    graph = lab.one("Probe", "fixed")
    graph["constants"][0]["data"] = b"\x05\0\0\0"
    lab.compile(graph)
    assert lab.tiler.asked[0].data == {1: b"\x05\0\0\0"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1"), ("", "line 1"), ('{"a": NaN}', "NaN"), ("[-Infinity]", "Infinity"), ("[" * 200_000, "deeply"),
        ('{"a": 1, "a": 2}', "twice"), ("9" * 5000, "digits"), ('{"\\ud800": 1, "\\ud800": 2}', "twice"),
    ],
)  # fmt: skip
def test_texts_that_are_no_graph(text, said):
    """Bad JSON is a graph error with its place, never a traceback."""
    with pytest.raises(GraphError, match=said) as caught:
        load_graph_text(text, source="g.json")
    assert caught.value.problems[0].id == "graph.json"


def test_graph_file(lab, tmp_path):
    """A graph file is read with or without a byte order mark."""
    path = tmp_path / "g.json"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(json.dumps(lab.one()), encoding=encoding)
        assert load_graph(path) == lab.one()


def test_unreadable_graph_files(tmp_path):
    """A missing file, a directory and bytes that are no text are input errors."""
    (tmp_path / "g.json").write_bytes(b"\xff\xfe")
    for name, id_ in (("none.json", "input.file"), (".", "input.file"), ("g.json", "input.encoding")):
        with pytest.raises(InputError) as caught:
            load_graph(tmp_path / name)
        assert caught.value.id == id_
