"""pytest support, switched on with `-p emu_core.testing`; see docs/testing.md.

| fixture | is |
|---|---|
| `npu` | a device for this test alone: a fork of one that was set up once |
| `npu_factory` | makes devices; `npu_factory("ascend910b3", policies={…})` |
| `npu_setup` | override it: a function that prepares the device of which `npu` is a fork |

| marker | means |
|---|---|
| `npu(chip=…, policies=…, plugins=…)` | which device the fixture `npu` is |
| `scenario(id, …)` | the test is about these scenarios; `--scenario ID` chooses |

The report of a test that fails has the hazards, faults and last 50 events of each of its devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emu_core.testing.devices import Devices, Setups
from emu_core.testing.sections import LAST, sections_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emu_core.chips import Chip
    from emu_core.device import Device

__all__ = ["LAST", "Devices", "Setups"]

DEFAULT_CHIP = "ascend310p3"
_DEVICES = pytest.StashKey[Devices]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--scenario ID`, `--npu-chip NAME`, and the ini option `npu_chip`."""
    group = parser.getgroup("sqemu")
    group.addoption("--scenario", action="append", default=[], metavar="ID", help="Only tests of this scenario.")
    group.addoption("--npu-chip", default=None, metavar="NAME", help="Chip of the fixtures npu and npu_factory.")
    parser.addini("npu_chip", f"chip of the fixtures npu and npu_factory ({DEFAULT_CHIP})", default=DEFAULT_CHIP)


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    config.addinivalue_line("markers", "npu(chip, policies, plugins): which device the fixture npu is")
    config.addinivalue_line("markers", "scenario(id, ...): scenarios that the test is about")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about none of the scenarios that were asked for."""
    wanted = {_plain(each) for each in config.getoption("--scenario")}
    if not wanted:
        return
    chosen = [item for item in items if wanted & _scenarios(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _scenarios(item: pytest.Item) -> set[str]:
    return {_plain(each) for marker in item.iter_markers("scenario") for each in marker.args}


def _plain(scenario: object) -> str:
    """`S07`, `s7` and 7 are one scenario."""
    text = str(scenario).lower()
    number = text.removeprefix("s")
    return f"s{int(number)}" if number.isdecimal() else text


@pytest.fixture(scope="session")
def _npu_setups() -> Setups:
    """Devices that were set up, for forks."""
    return Setups()


@pytest.fixture
def _npu_devices(request: pytest.FixtureRequest) -> Devices:
    """The devices of this test, for its report."""
    found: Devices = request.node.stash.setdefault(_DEVICES, Devices())
    return found


@pytest.fixture
def npu_chip(request: pytest.FixtureRequest) -> str:
    """Name of the chip: of the marker `npu`, of `--npu-chip`, of the ini file."""
    marker = request.node.get_closest_marker("npu")
    named = _of_marker(marker).get("chip")
    return str(named or request.config.getoption("--npu-chip") or request.config.getini("npu_chip"))


@pytest.fixture
def npu_factory(npu_chip: str, _npu_devices: Devices) -> Callable[..., Device]:
    """Makes a device, and keeps it for the report: chip (by default `npu_chip`), and what `Device` takes."""

    def make(chip: Chip | str | None = None, **named: Any) -> Device:  # noqa: ANN401 - what Device takes
        from emu_core.device import Device  # noqa: PLC0415 - tests without a device do without

        return _npu_devices.add(Device(npu_chip if chip is None else chip, **named))

    return make


@pytest.fixture(scope="session")
def npu_setup() -> Callable[[Device], object] | None:
    """What prepares the device of which `npu` is a fork, for example loads a model; override it. By default nothing."""
    return None


@pytest.fixture
def npu(
    request: pytest.FixtureRequest,
    npu_chip: str,
    npu_setup: Callable[[Device], object] | None,
    _npu_setups: Setups,
    _npu_devices: Devices,
) -> Device:
    """A device for this test alone: a fork of one that was made and set up once; its models are `npu.models`."""
    given = {k: v for k, v in _of_marker(request.node.get_closest_marker("npu")).items() if k != "chip"}
    return _npu_devices.add(_npu_setups.fork(npu_chip, given, npu_setup))


def _of_marker(marker: pytest.Mark | None) -> dict[str, Any]:
    """Keywords of the marker; its first argument is the chip."""
    if marker is None:
        return {}
    return {**({"chip": marker.args[0]} if marker.args else {}), **marker.kwargs}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach what the devices of a failing test saw."""
    report = yield
    if report.failed and _DEVICES in item.stash:
        scenarios = sorted(_scenarios(item))
        if scenarios:
            report.sections.append(("scenarios", ", ".join(scenarios)))
        report.sections.extend(sections_of(item.stash[_DEVICES].made))
    return report
