"""Engines of plugins that are not ours: what they do wrong is an error that names the plugin, never a traceback."""

from __future__ import annotations

from fractions import Fraction

import pytest

from emu_core import Demand, Device, DeviceFault, Handler, InputError, Launch, PluginError, PluginHost, Run, hookimpl
from emu_core.engine_guard import guarded

KIND = 33  # an SQE type that no built-in engine takes


def fail(*_):
    """What a plugin should not do."""
    raise KeyError("gone")


def refuse(*_):
    """What an engine does about a bad entry."""
    raise DeviceFault("bad entry", ts_code=0x26, id="mine.bad")


class Plugin:
    """A plugin with one engine; handler fields are given by name."""

    def __init__(self, start, **others):
        self._start, self._others = start, others

    @hookimpl
    def sqemu_engines(self, device):
        """The one handler; `start` is given the device, too."""
        return [Handler("mine", "thing", KIND, lambda task: self._start(task, device), **self._others)]


def ran(plugin):
    """The faults of a device that has executed one entry of the plugin's kind."""
    device = Device("ascend310p3", plugins=PluginHost([plugin]))
    stream = device.create_stream("s", bound=False)
    stream.queue.append(device.layout("CommonSqe").build({"type": KIND}))
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    return device.scheduler.faults


def launch(finish):
    """An engine whose entry occupies one core."""
    demand = Demand({"AI Core": 1}, 1, Fraction(5))
    return lambda _task, device: Launch(10, device.cores, demand, finish)


BROKEN = {
    "start": (Plugin(fail), "start raised KeyError: 'gone'"),
    "finish of a run": (Plugin(lambda *_: Run(5, fail)), "finish raised KeyError: 'gone'"),
    "finish of a launch": (Plugin(launch(fail)), "finish raised KeyError: 'gone'"),
    "limit": (Plugin(lambda *_: Run(5), limit=fail), "limit raised KeyError: 'gone'"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_an_exception_is_an_error_with_the_plugins_name(what):
    """Whichever function of the engine raises."""
    plugin, text = BROKEN[what]
    with pytest.raises(PluginError, match=text) as caught:
        ran(plugin)
    assert caught.value.id == "plugin.engine-raised"
    assert caught.value.where == "plugin Plugin (given by the caller), engine mine, kind thing"


@pytest.mark.parametrize("answer", [None, 5, Run])
def test_an_answer_that_is_none_of_the_three(answer):
    """It is named by its class."""
    with pytest.raises(PluginError, match=f"not {type(answer).__name__}") as caught:
        ran(Plugin(lambda *_: answer))
    assert caught.value.id == "plugin.engine-answer"


@pytest.mark.parametrize("plugin", [Plugin(refuse), Plugin(lambda *_: Run(5, refuse)), Plugin(launch(refuse))])
def test_faults_are_faults(plugin):
    """`DeviceFault` passes: it is how an engine refuses an entry."""
    assert [fault.id for fault in ran(plugin)] == ["mine.bad"]


def test_errors_for_the_user_pass():
    """So does an error of ours."""

    def input_error(*_):
        raise InputError("no", id="mine.input")

    with pytest.raises(InputError):
        ran(Plugin(input_error))


def test_engines_that_do_right_do_as_before():
    """Run and Launch reach the machine unchanged but for `finish`."""
    done = []
    assert not ran(Plugin(lambda *_: Run(5, lambda: done.append("run"))))
    assert not ran(Plugin(launch(lambda: done.append("launch"))))
    assert done == ["run", "launch"]


def test_every_function_of_a_handler_is_guarded():
    """Also `setter_of`, which reports call; fields that are no functions stay."""
    handler = Handler("mine", "thing", KIND, fail, setter_of=fail, limit=fail, skips=3)
    found = guarded(handler, "plugin x")
    assert (found.engine, found.kind, found.sqe_type, found.skips, found.select) == ("mine", "thing", KIND, 3, None)
    for call in (found.start, found.setter_of, found.limit):
        with pytest.raises(PluginError, match="plugin x"):
            call(None)


def test_our_own_engines_are_not_guarded(host):
    """Their mistakes are ours, and their calls are the hot path."""
    device = Device("ascend310p3", plugins=host)
    assert not any(hasattr(handler.start, "__wrapped__") for handler in device.dispatch)
