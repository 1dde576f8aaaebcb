"""Devices of tests: those that one test made, and those that are set up once and forked for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.device import Device
    from emu_core.snapshot.image import Snapshot

    Setup = Callable[[Device], object]


class Devices:
    """The devices of one test, in the order in which they were made."""

    def __init__(self) -> None:
        self.made: list[Device] = []

    def add(self, device: Device) -> Device:
        """Keep `device` for the report of the test."""
        self.made.append(device)
        return device


class Setups:
    """Snapshots of devices that were set up, each made once for a chip, policies, plugins and set-up function."""

    def __init__(self) -> None:
        self._kept: list[tuple[tuple[str, Mapping[str, Any], Setup | None], Snapshot]] = []

    def fork(self, chip: str, given: Mapping[str, Any], setup: Setup | None) -> Device:
        """An independent device; `given` is what `Device` takes besides.

        Raises:
            PluginError: the device cannot be kept (`snapshot.unkeepable`).
            InputError: there is no such chip.
        """
        wanted = (chip, given, setup)
        found = next((snapshot for key, snapshot in self._kept if key == wanted), None)
        if found is None:
            found = self._made(chip, given, setup)
            self._kept.append((wanted, found))
        return found.fork()

    def _made(self, chip: str, given: Mapping[str, Any], setup: Setup | None) -> Snapshot:
        from emu_core.device import Device  # noqa: PLC0415 - tests without a device do without

        device = Device(chip, **given)
        if setup is not None:
            setup(device)
        return device.snapshot()
