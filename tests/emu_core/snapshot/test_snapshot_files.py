"""Snapshot files: what is refused, and that reading one never runs anything of it."""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core import InputError, PluginError, PluginHost, SqemuError
from emu_core.snapshot import contract, file
from emu_core.snapshot.image import decoded, load

MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def saved(program):
    """The bytes of a snapshot in the middle of the flag program."""
    device, session = program("flags")
    contract.run_steps(device, session, 40)
    return device.snapshot((session,)).encoded()


def sealed(header, nodes, rest=b""):
    """A file with a right checksum around any header and table."""
    table = msgspec.msgpack.encode(nodes)
    head = msgspec.json.encode({**header, "table": len(table)})
    body = head + table + rest
    return struct.pack("<8sII32s", file.MAGIC, file.VERSION, len(head), hashlib.sha256(body).digest()) + body


def parts(raw):
    """Header and nodes of a file, to be changed."""
    length = struct.unpack_from("<I", raw, 12)[0]
    header = msgspec.json.decode(raw[48 : 48 + length])
    end = 48 + length + header["table"]
    return header, msgspec.msgpack.decode(raw[48 + length : end]), raw[end:]


def refused(raw, host):
    """The error with which a file is refused when it is read, or when a device is made of it."""
    with pytest.raises(SqemuError) as caught:
        decoded(raw, host, "some.snap").copy()
    assert caught.value.exit_code == 2
    return caught.value


def test_the_same_state_gives_the_same_file(program, saved):
    """Two devices that did the same have byte for byte the same file."""
    device, session = program("flags")
    contract.run_steps(device, session, 40)
    assert device.snapshot((session,)).encoded() == saved


def test_a_file_is_written_and_read(program, host, tmp_path):
    """`save` and `load`: the loaded snapshot makes a device that ends as the first one does."""
    device, session = program("flags")
    contract.run_steps(device, session, 25)
    device.snapshot((session,)).save(tmp_path / "a.snap")
    copy = load(tmp_path / "a.snap", host).restore()
    for each in (device, copy):
        each.scheduler.run_until_idle()
    assert contract.fingerprint(copy) == contract.fingerprint(device)


def test_a_file_that_cannot_be_read_or_written(program, host, tmp_path):
    """A missing file and a missing folder are named."""
    with pytest.raises(InputError) as caught:
        load(tmp_path / "none.snap", host)
    assert (caught.value.id, caught.value.where) == ("input.file", str(tmp_path / "none.snap"))
    device, _ = program("flags")
    with pytest.raises(InputError) as caught:
        device.snapshot().save(tmp_path / "no" / "a.snap")
    assert caught.value.id == "snapshot.write"


@MANY
@given(at=st.integers(0, 1 << 30), bits=st.integers(1, 255))
def test_a_changed_byte_is_found(saved, host, at, bits):
    """Any byte of a file, with any of its bits flipped: refused with a name for what is wrong."""
    raw = bytearray(saved)
    raw[at % len(raw)] ^= bits
    assert refused(bytes(raw), host).id in ("snapshot.damaged", "snapshot.file", "snapshot.version")


@MANY
@given(size=st.integers(0, 1 << 30))
def test_a_cut_file_is_found(saved, host, size):
    """Any beginning of a file is refused."""
    found = refused(saved[: size % len(saved)], host)
    assert found.id in ("snapshot.damaged", "snapshot.file")
    assert found.where == "some.snap"


def test_another_version_of_the_format(saved, host):
    """Format version 2 is named, before anything else is looked at."""
    raw = saved[:8] + struct.pack("<I", 2) + saved[12:]
    assert refused(raw, host).id == "snapshot.version"


def test_another_version_of_the_product(saved, host):
    """A file of sqemu 9.9 names both versions."""
    header, nodes, rest = parts(saved)
    found = refused(sealed({**header, "sqemu": "9.9"}, nodes, rest), host)
    assert (found.id, "9.9" in found.what) == ("snapshot.version", True)


def test_missing_plugins_are_named(saved, host):
    """A plugin that is not there, or is from elsewhere, is named with its origin."""
    header, nodes, rest = parts(saved)
    more = {**header, "plugins": [*header["plugins"], ["strange", "strange 1.0"]]}
    found = refused(sealed(more, nodes, rest), host)
    assert (found.id, type(found)) == ("snapshot.plugins", PluginError)
    assert "strange (strange 1.0)" in found.what


def test_changed_code_is_found(saved, host):
    """A nested function whose checksum is another one is named, and not replaced by what is there now."""
    header, nodes, rest = parts(saved)
    at = next(i for i, node in enumerate(nodes) if node[0] == "function")
    nodes[at][3] ^= 1
    found = refused(sealed(header, nodes, rest), host)
    assert (found.id, nodes[at][2] in found.what) == ("snapshot.code", True)


class _Opens:
    """Unpickles as a call of `os.open`."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.open, (self.path, os.O_CREAT | os.O_WRONLY)


@pytest.mark.parametrize("front", [b"", file.MAGIC])
def test_a_pickle_is_no_snapshot(host, tmp_path, front):
    """A pickle that opens a file when it is loaded, alone and behind our magic: refused, nothing is opened."""
    mark = tmp_path / "opened"
    raw = front + pickle.dumps(_Opens(str(mark)))
    assert refused(raw, host).id in ("snapshot.file", "snapshot.version", "snapshot.damaged")
    assert not mark.exists()
    with pytest.raises(SqemuError):
        load(_written(tmp_path, raw), host)
    assert not mark.exists()


def _written(folder, raw):
    path = folder / "hostile.snap"
    path.write_bytes(raw)
    return path


HOSTILE = [
    ["global", "os", "system"],
    ["global", "builtins", "eval"],
    ["global", "builtins", "getattr"],
    ["class", "subprocess", "Popen"],
    ["class", "builtins", "type"],
    ["global", "emu_core.memory", "np.fromfile"],
    ["global", "emu_core.plugins", "importlib.import_module"],
    ["global", "emu_core.snapshot.image", "Path"],
    ["function", "os", "system", 0, "system", [], None, None, None],
    ["function", "emu_plugins.importers.kinds", "read_graph", 0, "f", [], None, None, None],
    ["method", "x", "__class__"],
    ["method", [0], "__getattribute__"],
    ["field", "x", "read"],
    ["host", "os", "system"],
    ["host", "kernel", "none"],
    ["scalar", "O", "x"],
    ["array", "O", [1], "12345678"],
    ["dtype", "O"],
    ["event", ["class", "emu_core.trace", "Doorbell"]],
    ["obj", [1]],
    ["kept", 1],
    ["log", []],
    ["unknown"],
    ["tuple", [0]],
    ["tuple", [99999999]],
    ["tuple", [-1]],
    ["tuple", [None]],
    ["enum", [0], "HBM"],
    ["partial", "x", [0], [0]],
    ["__init__"],
    ["struct", "999999999999999999999d"],
    ["int", "9" * 5000],
    ["fraction", "1", "0"],
    ["range", 1, 2, 0],
]


@pytest.mark.parametrize("node", HOSTILE, ids=lambda node: "-".join(map(str, node))[:40])
def test_a_table_cannot_name_what_is_not_ours(saved, host, node, monkeypatch):
    """Each such node, in the place of the root: an error with an id, and nothing is called."""
    monkeypatch.setattr(os, "system", lambda *_: pytest.fail("called"))
    header, _, _ = parts(saved)
    found = refused(sealed({**header, "root": [0], "pieces": []}, [node, ["class", "emu_core.device", "Device"]]), host)
    assert found.id.startswith("snapshot.")


def test_a_device_without_its_parts_is_refused(saved, host):
    """A `Device` whose attributes are missing, or of another class, is no device."""
    header, _, _ = parts(saved)
    kind = ["class", "emu_core.device", "Device"]
    for device in (["obj", [2]], ["obj", [2], "clock", 3, "trace", "x"]):
        found = refused(sealed({**header, "root": [0], "pieces": []}, [["tuple", [1]], device, kind]), host)
        assert (found.id, "Device" in found.what) == ("snapshot.damaged", True)


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.text(max_size=4), st.binary(max_size=4)
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@MANY
@given(data=st.data())
def test_a_table_with_any_change_is_a_device_or_an_error(saved, host, data):
    """Any value of any node replaced by anything, with a right checksum: a device, or an error of ours."""
    header, nodes, rest = parts(saved)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(nodes) - 1))
        place = data.draw(st.integers(0, len(nodes[at]) - 1))
        nodes[at][place] = data.draw(VALUES)
    raw = sealed(header, nodes, rest)
    with suppress(SqemuError):
        decoded(raw, host).copy()


def test_plugins_of_a_file_need_not_be_installed_ones(program):
    """A snapshot of edu is refused by a host without edu, which it names."""
    device, session = program("edu")
    found = refused(device.snapshot((session,)).encoded(), PluginHost())
    assert (found.id, "edu" in found.what) == ("snapshot.plugins", True)


def test_the_module_reads_no_pickle():
    """Nothing in the package imports pickle or marshal, or evaluates text."""
    from emu_core.snapshot import graph, image, names, rebuild

    for module in (graph, image, names, rebuild, file):
        source = Path(module.__file__).read_text(encoding="utf-8")
        assert not {"pickle", "marshal", "eval(", "exec("} & set(source.replace("(", "( ").split())
