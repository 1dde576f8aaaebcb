"""Task blobs with anything in them: they are refused or run to an end, and nothing else happens."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.errors import EmulatorBug, SqemuError
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_core.trace import Trace
from formats.blob import decode, encode
from formats.blob.frame import checksum
from formats.blob.layout import BlobHeader
from formats.errors import FormatError

CHIPS = ("ascend910b3", "ascend310p3", "ascend950pr_9599")
SECTIONS = ("streams", "events", "tasks", "ops", "tensors", "kernels", "inputs", "outputs")
NUMBERS = (0, 1, 2, 3, 7, 16, 64, 255, 0xFFFF, 0x10000, 0xFFFFFFFF)
TEXTS = (
    "",
    "op0",
    "TilingProbe",
    "{i0*}{ws0*}{tiling_context.tiling_data}",
    "libmine.so",
    "RunAicpuRpcSrvLaunch",
    "x" * 300,
)


@pytest.fixture(scope="module")
def host():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture(scope="module")
def programs(host):
    """Compiled graphs of two probes, whose tiling sinks or is done by the host, for each chip."""

    def graph(sink):
        return {
            "format": "sqemu-graph", "version": 1, "name": "p",
            "options": {"ge.tiling_schedule_optimize": str(int(sink))},
            "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
            "nodes": [{"name": f"op{i}", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": [f"y{i}"]}
                      for i in range(2)],
            "outputs": ["y0", "y1"],
        }  # fmt: skip

    options = CompileOptions(offline=False)
    return [compile_graph(graph(sink), chip, options, host) for chip in CHIPS for sink in (True, False)]


def _value(pick, old):
    """A value of the type of `old`, or another that the field may take."""
    if isinstance(old, bool):
        return not old
    if old is None or (isinstance(old, int) and pick.random() < 0.8):
        return pick.choice((None, *NUMBERS)) if old is None else pick.choice(NUMBERS)
    if isinstance(old, int):
        return pick.choice((old + 1, max(old - 1, 0), old << 20))
    if isinstance(old, str):
        return pick.choice((*TEXTS, old[::-1]))
    if isinstance(old, bytes):
        return pick.randbytes(pick.randrange(40))
    if isinstance(old, tuple):
        return tuple(pick.choice((*old, *NUMBERS[:6])) for _ in range(pick.randrange(5)))
    return old


def _changed(pick, blob):
    """`blob` with one record changed, dropped, doubled or moved."""
    section = pick.choice(SECTIONS)
    rows = list(getattr(blob, section))
    if not rows:
        return blob
    at, how = pick.randrange(len(rows)), pick.randrange(8)
    if how == 0:
        del rows[at]
    elif how == 1:
        rows.insert(pick.randrange(len(rows)), rows[at])
    elif how == 2:
        rows[at], rows[-1] = rows[-1], rows[at]
    elif isinstance(rows[at], int):
        rows[at] = pick.choice(NUMBERS)
    else:
        name = pick.choice([f.name for f in fields(rows[at])])
        rows[at] = replace(rows[at], **{name: _value(pick, getattr(rows[at], name))})
    return replace(blob, **{section: tuple(rows)})


def _damaged(pick, blob):
    """The bytes of `blob` with some of them changed and a checksum that fits."""
    raw = bytearray(encode(blob))
    for _ in range(pick.randrange(1, 6)):
        raw[pick.randrange(16, len(raw))] = pick.choice((0, 1, 2, 255, pick.randrange(256)))
    crc = BlobHeader.by_name["crc32"]
    raw[crc.offset // 8 : crc.end // 8] = checksum(memoryview(raw)).to_bytes(4, "little")
    return bytes(raw)


def _runs(host, blob, runtime):
    """Load and execute twice; only errors that a user may see come out."""
    device = Device(blob.chip, {"condition_steps": "500", "runtime": runtime}, host, trace=Trace(()))
    model = device.load(blob)
    inputs = {p.name: np.zeros(p.shape, host_type) for p, host_type in zip(model.inputs, ("f4", "i4"), strict=False)}
    for _ in range(2):
        result = model.execute(inputs)
        if not result.ok:
            return
    repr(result)


def _check(host, blob_or_bytes, runtime):
    try:
        blob = decode(blob_or_bytes) if isinstance(blob_or_bytes, bytes) else decode(encode(blob_or_bytes))
        _runs(host, blob, runtime)
    except (SqemuError, FormatError) as error:
        _known(error)


def _known(error):
    """A bug of the product is no answer to bad input."""
    assert not isinstance(error, EmulatorBug), error
    assert error.id


@pytest.mark.parametrize("runtime", ["v1", "v2"])
@settings(max_examples=150, deadline=None, database=None)
@given(seed=st.integers(0, 1 << 32))
def test_a_blob_with_changed_records_is_refused_or_ends(host, programs, runtime, seed):
    """Up to three records of a compiled program are changed, dropped, doubled or moved."""
    pick = random.Random(seed)
    blob = pick.choice(programs)
    for _ in range(pick.randrange(1, 4)):
        blob = _changed(pick, blob)
    _check(host, blob, runtime)


@pytest.mark.parametrize("runtime", ["v1", "v2"])
@settings(max_examples=150, deadline=None, database=None)
@given(seed=st.integers(0, 1 << 32))
def test_a_blob_with_changed_bytes_is_refused_or_ends(host, programs, runtime, seed):
    """Up to five bytes anywhere behind the magic are changed, and the checksum is made to fit."""
    pick = random.Random(seed)
    _check(host, _damaged(pick, pick.choice(programs)), runtime)


def _flip(pick, memory, address, size):
    """Change one byte of `size` at `address`."""
    at = address + pick.randrange(size)
    old = memory.read(at, 1)[0]
    memory.poke(at, bytes([old ^ 1 << pick.randrange(8) if pick.random() < 0.7 else pick.randrange(256)]))


@settings(max_examples=150, deadline=None, database=None)
@given(seed=st.integers(0, 1 << 32))
def test_a_loaded_model_whose_memory_is_changed_ends(host, programs, seed):
    """Up to four bytes of its rings, or of anything else on the device, change before each of two executions."""
    pick = random.Random(seed)
    blob = pick.choice(programs)
    device = Device(blob.chip, {"condition_steps": "500"}, host, trace=Trace(()))
    model = device.load(blob)
    rings = [stream.queue for stream in (*model.streams, model.caller) if stream.queue.tail]
    inputs = {"x": np.zeros(40, "f4"), "n": np.array([pick.randrange(50)], "i4")}
    try:
        for _ in range(2):
            for _ in range(pick.randrange(5)):
                if rings and pick.random() < 0.6:
                    queue = pick.choice(rings)
                    _flip(pick, device.memory, queue.ring.address, 64 * queue.tail)
                else:
                    found = pick.choice(list(device.memory.allocations()))
                    _flip(pick, device.memory, found.address, min(found.size, 4096))
            model.execute(inputs)
            model.abort()
    except SqemuError as error:
        _known(error)
