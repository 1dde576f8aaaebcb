"""Checks as a hook: plugins add them, broken ones are named, and bad references come first."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from emu_core.checks import REFERENCES, CheckSpec, Finding, Level, run_checks
from emu_core.errors import LimitError, PluginError
from emu_core.hookspecs import hookimpl
from emu_core.plugins import PluginHost
from emu_core.policies import PolicySet
from formats.blob import Blob, BlobStream, BlobTask, TaskType

BLOB = Blob("ascend310p3", "g", streams=(BlobStream(0, "s"),), tasks=(BlobTask(TaskType.NOP, 0),))


def _plugin(*specs):
    @hookimpl
    def sqemu_checks():
        return specs

    return SimpleNamespace(sqemu_checks=sqemu_checks, __name__="mine")


def _run(run, blob=BLOB, name="mine"):
    host = PluginHost([_plugin(CheckSpec(name, "what it is for", run))], without=["checks"])
    return dict(run_checks(blob, host.chip("ascend310p3"), PolicySet(host.policy_specs), host))


def test_a_check_gets_blob_chip_policies_and_host():
    """And its findings come back under its name."""
    seen = []

    def run(*given):
        seen.extend(given)
        yield Finding(Level.WARNING, "mine.odd", "task 0", "looks odd", "look at it")

    found = _run(run)
    assert list(found) == [REFERENCES, "figures", "mine"]
    assert found["mine"][0].text() == "task 0: looks odd; look at it"
    blob, chip, policies, host = seen
    assert (blob, chip.name, policies["nop_count"], "mine" in host.checks) == (BLOB, "ascend310p3", "seed", True)


def test_a_check_that_raises_is_a_plugin_error():
    """It is named with what it raised."""
    with pytest.raises(PluginError, match="check mine: raised ZeroDivisionError") as caught:
        _run(lambda *_: [1 // 0])
    assert caught.value.id == "plugin.check-raised"


def test_a_check_must_give_findings():
    """Anything else is refused."""
    with pytest.raises(PluginError, match="gave a str where a Finding is expected"):
        _run(lambda *_: ["odd"])


def test_errors_of_ours_pass():
    """A check may end with an error that says whose fault it is."""

    def run(*_):
        raise LimitError("too much", id="limit.memory")

    with pytest.raises(LimitError):
        _run(run)


def test_two_checks_of_one_name_clash():
    """As chips and operators do."""
    spec = CheckSpec("fit", "again", lambda *_: ())
    with pytest.raises(PluginError, match="check 'fit' comes from both") as caught:
        _ = PluginHost([_plugin(spec)]).checks
    assert caught.value.id == "plugin.clash"


def test_bad_references_end_the_checks():
    """No check sees a blob with an index that points nowhere."""

    def never(*_):
        raise AssertionError

    bad = Blob("ascend310p3", "g", streams=(BlobStream(0, "s"),), tasks=(BlobTask(TaskType.NOP, 5, event_id=2, op=1),))
    found = _run(never, bad)
    assert list(found) == [REFERENCES]
    assert [f.id for f in found[REFERENCES]] == ["blob.reference", "blob.task", "blob.task"]
    assert all(f.level is Level.ERROR and f.remedy for f in found[REFERENCES])
