"""The files of a new plugin package beside its code."""

from __future__ import annotations

PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "$distribution"
version = "0.1"
description = "The chip $soc for sqemu: figures, entries and engines"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["sqemu"]

[project.optional-dependencies]
dev = ["pytest>=8.2"]

[project.entry-points."sqemu.plugins"]
$plugin = "$package"

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.package-data]
$package = ["py.typed"]

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "-p emu_core.testing"
npu_chip = "$chip"
"""

README = """\
# $distribution

The chip `$chip` for sqemu, with entries of family `$family`.

```sh
pip install -e '.[dev]'
pytest
sqemu plugins check $plugin
sqemu chips $chip
sqemu formats ${prefix}FlagSqe
```

Without installing it: `--plugin src/$package` with each command.

| file | what to put in |
|---|---|
| `src/$package/chip.py` | the figures of the chip, with a source for each |
| `src/$package/layouts.py` | its queue entries, field by field |
| `src/$package/idle.py`, `flags.py` | an engine each; add one per kind of entry |
| `src/$package/texts.py` | what the ids of your faults mean |
| `tests/` | programs of your entries; the conformance checks run on them, too |

To run graphs the chip needs a loader (`sqemu_load`), which writes entries for the tasks of a blob: docs/plugins.md and
docs/build_a_chip.md of sqemu.
"""

CONFTEST = '''\
"""The plugin, whether it is installed or not."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from emu_core import PluginHost

INSTALLED = any(entry.name == "$plugin" for entry in entry_points(group="sqemu.plugins"))
if not INSTALLED:
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))


@pytest.fixture(scope="session")
def host():
    """A host with the plugin."""
    import $package

    return PluginHost() if INSTALLED else PluginHost([$package])


@pytest.fixture(scope="session")
def name():
    """How the host calls the plugin."""
    return "$plugin" if INSTALLED else "$package"
'''

PROGRAMS = '''\
"""Programs of the entries of this chip, for tests and for the conformance checks."""

from __future__ import annotations

from $package.layouts import FLAG, IDLE, RECORD, WAIT

from emu_core import Device
from emu_core.snapshot.session import Idle
from emu_core.testing.conformance import Program

WAITING, RECORDING = "waiting", "recording"


def handshake(host):
    """One stream waits for flag 3, another one idles twice and records it."""
    return written(Device("$chip", plugins=host)), Idle()


def written(device):
    """Write both streams and ring their doorbells."""
    idle, flag = device.layout("${prefix}IdleSqe"), device.layout("${prefix}FlagSqe")
    waiting = device.create_stream(WAITING, bound=False)
    recording = device.create_stream(RECORDING, bound=False)
    waiting.queue.append(flag.build({"type": FLAG, "action": WAIT, "flag": 3}))
    for sqe in (
        idle.build({"type": IDLE}),
        idle.build({"type": IDLE}),
        flag.build({"type": FLAG, "action": RECORD, "flag": 3}),
    ):
        recording.queue.append(sqe)
    for stream in (waiting, recording):
        device.scheduler.ring_doorbell(stream)
    return device


PROGRAMS = (Program("handshake", handshake),)
'''

TEST_CHIP = '''\
"""The chip: it keeps the contracts, and its entries do what they say."""

from __future__ import annotations

import pytest
from $package.layouts import FLAG, RECORD
from ${plugin}_programs import PROGRAMS, written

from emu_core.testing.conformance import CHECKS, conforms


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(host, name, check):
    """One test per check of `sqemu plugins check`."""
    conforms(host, name, check, PROGRAMS)


def test_a_wait_passes_when_the_flag_is_recorded(host, npu_factory):
    """Two idle entries and a record take 100 + 100 ns and the event; only then the wait ends."""
    device = written(npu_factory(plugins=host))
    device.scheduler.run_until_idle()
    ended = [(event.kind, event.time) for event in device.trace if event.name == "task.done"]
    latencies = device.chip.latencies
    recorded = 2 * latencies.nop_ns + latencies.event_ns
    assert [kind for kind, _ in ended] == ["idle", "idle", "record", "wait"]
    assert dict(ended)["record"] == recorded
    assert dict(ended)["wait"] >= recorded
    assert not device.scheduler.faults


def test_a_flag_that_does_not_exist_is_a_fault(host, npu_factory):
    """The fault has the id that `sqemu explain` knows."""
    device = npu_factory(plugins=host)
    stream = device.create_stream("bad", bound=False)
    flag = device.layout("${prefix}FlagSqe")
    stream.queue.append(flag.build({"type": FLAG, "action": RECORD, "flag": device.chip.max_events}))
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    assert [fault.id for fault in device.scheduler.faults] == ["$plugin.flag"]
'''
