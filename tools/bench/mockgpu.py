"""Figure R11: queue entries that write a signal, against the mock GPU of tinygrad's own tests.

No release of tinygrad has its tests in it, so the peer is there only where a checkout is on the Python path
(``PYTHONPATH=/where/tinygrad/is sqemu bench R11``). Its packets are RELEASE_MEM: a header and seven words,
which store 64 bits at an address. Ours are event records: entries of 64 bytes in a ring that set a flag and wake who
waits for it.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np

from tools.bench.pairs import PeerMissingError, Side, UnequalError
from tools.bench.queues import RECORD, Loaded, layouts

PACKETS, ENTRIES = 2_000, 20_000
WORDS = 8
DATA_64 = 2 << 29
"""Selector bits: store the 64-bit value that the packet carries."""


class _Ring:
    """A command ring of RELEASE_MEM packets, each to a word of its own, and the executor that walks it."""

    def __init__(self, executor: Any, opcode: int) -> None:  # noqa: ANN401 - of a package without types
        self.signals = np.zeros(PACKETS, np.uint64)
        self._words = np.zeros((PACKETS, WORDS), np.uint32)
        address = self.signals.ctypes.data + 8 * np.arange(PACKETS, dtype=np.uint64)
        self._words[:, 0] = 3 << 30 | 6 << 16 | opcode << 8
        self._words[:, 2] = DATA_64
        self._words[:, 3] = address & np.uint64(0xFFFFFFFF)
        self._words[:, 4] = address >> np.uint64(32)
        self._words[:, 5] = 1 + np.arange(PACKETS)
        self._read, self._write = ctypes.c_uint64(0), ctypes.c_uint64(WORDS * PACKETS)
        pointers = (ctypes.addressof(self._read), ctypes.addressof(self._write))
        self._queue = executor(None, self._words.ctypes.data, self._words.nbytes, *pointers)

    def run(self) -> None:
        """Execute every packet once."""
        self._read.value = 0
        self._queue.execute()


def _ring() -> _Ring:
    try:
        mock = importlib.import_module("test.mockgpu.amd.amdgpu")
        return _Ring(mock.PM4Executor, mock.amd_gpu.PACKET3_RELEASE_MEM)
    except (ImportError, AttributeError, OSError) as error:
        what = f"no checkout of tinygrad on the Python path ({type(error).__name__}); set PYTHONPATH to one"
        raise PeerMissingError(what) from None


def _records() -> Loaded:
    struct = layouts()["EventRecordSqe"]
    made = [np.frombuffer(struct.build({"type": RECORD, "event_id": i}), np.uint8) for i in range(ENTRIES)]
    return Loaded([np.stack(made)], ())


def signal_writes() -> tuple[Side, Side]:
    """R11: a stream that does nothing but set signals."""
    peer = _ring()
    peer.run()
    if peer.signals.tolist() != list(range(1, PACKETS + 1)):
        raise UnequalError("the packets did not write their signals")
    loaded = _records()
    if len(loaded.run().signals.values) != ENTRIES:
        raise UnequalError("the entries did not set their events")

    def product() -> None:
        loaded.again(decode=True)
        loaded.run()

    return Side(peer.run, PACKETS), Side(product, ENTRIES)
