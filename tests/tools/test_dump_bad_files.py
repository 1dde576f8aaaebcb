"""`sqemu dump` of files that are not what they should be: messages, exit codes, never a traceback."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from emu_core import compile_graph
from formats.blob import encode
from tools.dump.source import is_blob

SQE = bytes.fromhex("0300670001000200000000000000fe00") + bytes(48)


def run(*arguments, **options):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tools.cli", "dump", *arguments], capture_output=True, check=False, timeout=60, **options
    )


@pytest.fixture(scope="module")
def blob():
    """A task blob."""
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "p", "options": {},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [{"name": "probe", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}], "outputs": ["y"],
    }  # fmt: skip
    return encode(compile_graph(graph, "ascend310p3"))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"abc", "3 bytes"),
        (b'{"format": "sqemu-graph"}', "compile it first"),
        (b"PK\x03\x04" + bytes(60), "zip"),
        (b"\x7fELF" + bytes(60), "ELF"),
        (b".family v100\nPhSqe {}", "sqemu asm"),
    ],
)
def test_other_files(sqemu, tmp_path, data, says):
    """A file of another kind is named, exit 2."""
    (tmp_path / "f").write_bytes(data)
    found = sqemu("dump", tmp_path / "f", "--json")
    assert (found.code, found.error["error"], found.out) == (2, "dump.unknown", "")
    assert says in found.error["what"] + found.error["remedy"]


def test_damaged_blobs(sqemu, tmp_path, blob):
    """A blob that is cut off or changed is shown as far as it goes; file, place and offset are said, exit 1."""
    path = tmp_path / "b.sqt"
    for data, error in ((blob[:-1], "blob.truncated"), (blob + b"x", "blob.section")):
        path.write_bytes(data)
        found = sqemu("dump", path, "--json")
        assert (found.code, found.error["error"]) == (1, error)
        assert str(path) in found.error["where"]
        assert isinstance(found.error["offset"], int)
        assert found.objects[0]["damaged"] is True
    changed = bytearray(blob)
    changed[200] ^= 1
    path.write_bytes(changed)
    assert "blob.crc" in sqemu("dump", path).err


def test_every_truncation(sqemu, tmp_path, blob):
    """A blob without a whole header is exit 2; one with a header is shown as far as it goes, exit 1."""
    path = tmp_path / "b.sqt"
    for length in (1, 7, 8, 63, 64, 100, len(blob) // 2):
        path.write_bytes(blob[:length])
        assert is_blob(blob[:length])
        assert sqemu("dump", path).code == (1 if length >= 64 else 2)
        assert sqemu("dump", path, "--sqes").code == 2


def test_random_bytes(sqemu, tmp_path):
    """Random bytes of whole entries are shown with their doubts."""
    (tmp_path / "r").write_bytes(random.Random(1).randbytes(64 * 20))
    found = sqemu("dump", tmp_path / "r")
    assert found.code == 0
    assert "reserved bits" in found.out


def test_missing_and_folder(sqemu, tmp_path):
    """A missing file and a folder are input errors."""
    for path in (tmp_path / "none", tmp_path):
        found = sqemu("dump", path, "--json")
        assert (found.code, found.error["error"]) == (2, "input.file")


def test_name_that_is_no_text(tmp_path):
    """A file name that is not UTF-8 is shown with escapes, in messages and in output."""
    path = tmp_path / os.fsdecode(b"\xff.bin")
    for data, code in ((SQE, 0), (b"", 2)):
        path.write_bytes(data)
        found = run(path)
        assert found.returncode == code
        assert b"udcff" in found.stdout + found.stderr
        assert b"Traceback" not in found.stderr


def test_standard_input(blob):
    """`-` reads standard input, blobs and entries alike."""
    assert b"task blob for ascend310p3" in run("-", input=blob).stdout
    assert b"standard input: 1 SQE," in run("-", input=SQE).stdout
    empty = run("-", input=b"")
    assert empty.returncode == 2
    assert b"standard input" in empty.stderr


def test_closed_pipe(tmp_path):
    """A reader that stops early ends the dump without a word."""
    (tmp_path / "long").write_bytes(SQE * 20000)
    for view in ("", "--compact", "--fields", "--json", "--asm"):
        script = f"{sys.executable} -m tools.cli dump {tmp_path / 'long'} {view} | head -1"
        found = subprocess.run(["bash", "-c", script], capture_output=True, check=False, timeout=60)
        assert found.stderr == b""
        assert found.stdout.count(b"\n") == 1


@pytest.mark.parametrize("command", ["dump", "asm", "diff", "formats", "header"])
def test_unknown_options(sqemu, command):
    """An unknown option is a usage error."""
    found = sqemu(command, "--what")
    assert found.code == 2
    assert "--what" in found.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--family", "v100", "--chip", "ascend310p3"), "dump.options"),
        (("--sqes",), "dump.options"),
        (("--policy", "wait_reset=off"), "dump.options"),
        (("--family", "v999"), "format.unknown-family"),
        (("--family", "runtime"), "format.unknown-family"),
        (("--chip", "ascend1"), "chip.unknown"),
    ],
)
def test_options_for_raw_files(sqemu, tmp_path, arguments, error):
    """Options that do not belong to raw files, and unknown names, are refused."""
    (tmp_path / "f").write_bytes(SQE)
    found = sqemu("dump", tmp_path / "f", "--json", *arguments)
    assert (found.code, found.error["error"]) == (2, error)


def test_family_of_a_blob(sqemu, tmp_path, blob):
    """A blob says its chip, so --family is refused."""
    (tmp_path / "b").write_bytes(blob)
    assert sqemu("dump", tmp_path / "b", "--json", "--family", "v100").error["error"] == "dump.options"
