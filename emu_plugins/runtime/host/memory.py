"""Device memory for the host: allocate, free, copy. Copies are done when the call returns and wait for no stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.memory import Space, raw_bytes
from emu_core.ordering import records
from emu_plugins.runtime.host.base import RuntimeCore, api_call
from emu_plugins.runtime.host.errors import bad_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.memory import Buffer


class MemoryCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def malloc(self, size: int, *, label: str = "", ts: bool = False) -> int:
        """Address of `size` new bytes.

        Args:
            size: bytes, at least 1.
            label: what messages call it.
            ts: memory that the task scheduler reads, such as the key and block dim of an update.

        Raises:
            RuntimeApiError: not positive (107000, EE1003); memory used up (207001, EE1023).
        """
        if size < 1:
            raise bad_value("malloc", "size", size, "1 or more")
        space = Space.TS if ts else Space.HBM
        found = self.device.memory.allocate(size, label=label or "memory of the host program", space=space)
        self._allocated.add(found.address)
        return found.address

    @api_call
    def free(self, address: int) -> None:
        """Give memory of `malloc` back; later uses of it are faults of the task that makes them.

        Raises:
            RuntimeApiError: not an address that `malloc` gave and nobody freed (107000, EE1003).
        """
        if address not in self._allocated:
            raise bad_value("free", "address", hex(address), "an address that malloc gave")
        self._allocated.remove(address)
        self.device.memory.free(address)

    @api_call
    def memcpy_to_device(self, address: int, data: Buffer | None) -> None:
        """Copy the bytes of `data` to device memory: any C-contiguous buffer, for example a numpy array of any type.

        Raises:
            RuntimeApiError: null (107000, EE1004); no buffer, or not contiguous (107000, EE1003); outside of any
                allocation (107000, EE1001).
        """
        assert data is not None
        self.device.memory.write(address, data)
        self._touched(records.WRITE, address, len(raw_bytes(data)))

    @api_call
    def memcpy_to_host(self, address: int, size: int) -> bytes:
        """`size` bytes of device memory; 107000 outside of any allocation."""
        found = self.device.memory.read(address, size)
        self._touched(records.READ, address, size)
        return found

    @api_call
    def memcpy_on_device(self, target: int, source: int, size: int) -> None:
        """Copy within device memory; 107000 outside of any allocation."""
        self.device.memory.write(target, self.device.memory.read(source, size))
        self._touched(records.READ, source, size)
        self._touched(records.WRITE, target, size)

    def _touched(self, what: int, address: int, size: int) -> None:
        """Tell who follows what orders accesses (policy `ordering`): streams may be using these bytes now."""
        if self.device.ordering is not None:
            self.device.ordering.host_touched(what, address, size)

    @api_call
    def arguments(self, words: Iterable[int], *, label: str = "arguments") -> int:
        """Address of a new argument block: 64-bit words, in order. Free it like memory of `malloc`.

        Raises:
            RuntimeApiError: null (107000, EE1004); a word that is no value of 64 bits (107000, EE1003).
        """
        listed = list(words)
        found = self.device.memory.allocate(max(8 * len(listed), 8), label=label)
        self._allocated.add(found.address)
        self.device.memory.write(found.address, b"".join(word.to_bytes(8, "little") for word in listed))
        return found.address
