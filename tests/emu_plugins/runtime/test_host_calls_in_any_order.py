"""A host program that calls in any order, with any handles: codes, never tracebacks, and nothing leaks."""

from __future__ import annotations

from inspect import signature

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from emu_core.device import Device
from emu_plugins.runtime import CODES, LaunchConfig, Runtime, RuntimeApiError, c_api

B3, P3, DAVID = "ascend910b3", "ascend310p3", "ascend950pr_9599"
DEVICE_CODES = {107020, 507001, 507011, 507014, 507015, 507018, 507035}
PICK = st.integers(0, 5)
JUNK = st.sampled_from([None, "x", 1.5, True, -1, 0, 3, 1 << 70, b"raw", [None], (), {"a": 1}]) | st.integers()
CALLS = {
    name: call
    for part in Runtime.__mro__
    for name, call in vars(part).items()
    if not name.startswith("_") and hasattr(call, "__wrapped__")
}
LASTING = {
    "create_stream", "create_event", "create_notify", "create_counted_notify", "create_model", "unregister_program",
    "set_device_failure_mode", "free", "malloc", "arguments", "memcpy_to_device", "memcpy_on_device",
    "set_op_wait_timeout", "set_op_execute_timeout", "set_op_execute_timeout_us", "launch_aicpu", "register_program",
}  # fmt: skip
"""Calls that leave something behind which the other rules do not know of."""
UNUSED = {"rt_binary_unregister", "rt_cpu_kernel_launch"}
FUNCTIONS = sorted(name for name in vars(c_api) if name.startswith(("rt_", "rts_")) and name not in UNUSED)
MOST = 6
"""Handles of a kind, so that the same ones meet again."""


class HostProgram(RuleBasedStateMachine):
    """Handles of each kind, dead ones and None among them; every call takes some of them."""

    device: Device

    def __init__(self):
        super().__init__()
        self.runtime = Runtime(self.device)
        self.program = self.runtime.register_program("Shows")
        self.cells = {
            "tiling_key_addr": self.runtime.malloc(8, ts=True),
            "block_dim_addr": self.runtime.malloc(8, ts=True),
        }
        self.runtime.memcpy_to_device(self.cells["tiling_key_addr"], (2).to_bytes(8, "little"))
        self.runtime.memcpy_to_device(self.cells["block_dim_addr"], (4).to_bytes(8, "little"))
        self.args = self.runtime.arguments([0, 0, self.runtime.malloc(8)])
        self.runtime.stack()
        self.baseline = self.device.memory.used
        self.streams = [*(self.runtime.create_stream() for _ in range(4)), None]
        self.events, self.notifies = [self.runtime.create_event(), None], [self.runtime.create_notify(), None]
        self.models = [self.runtime.create_model(), None]
        for stream in self.streams[:2]:
            self.runtime.bind_stream(self.models[0], stream)

    def call(self, function, /, *arguments, **named):
        """The result of a call, None when it was refused with one of the documented codes."""
        try:
            return getattr(self.runtime, function)(*arguments, **named)
        except RuntimeApiError as error:
            code = error.code
        assert code in CODES or code in DEVICE_CODES
        return None

    @staticmethod
    def pick(listed, at):
        """A handle, or None."""
        return listed[at % len(listed)]

    @rule(priority=st.integers(-1, 8))
    def create_stream(self, priority):
        """A new stream."""
        if len(self.streams) < MOST and (made := self.call("create_stream", priority=priority)) is not None:
            self.streams.insert(0, made)

    @rule()
    def create_flags(self):
        """An event and a notify."""
        if len(self.events) < MOST:
            self.events.insert(0, self.runtime.create_event())
            self.notifies.insert(0, self.runtime.create_notify())

    @rule()
    def create_model(self):
        """A model."""
        if len(self.models) < MOST:
            self.models.insert(0, self.runtime.create_model())

    @rule(at=PICK, what=st.sampled_from(["stream", "event", "notify", "model"]), sure=st.integers(0, 3))
    def destroy(self, at, what, sure):
        """Something is destroyed, one time in four; its handle stays in the program."""
        if sure:
            return
        listed = {"stream": self.streams, "event": self.events, "notify": self.notifies, "model": self.models}[what]
        self.call(f"destroy_{what}", self.pick(listed, at))

    @rule(at=PICK, model=PICK, flag=st.sampled_from([0, 1, 0x7FFFFFFF]))
    def bind(self, at, model, flag):
        """Bind."""
        self.call("bind_stream", self.pick(self.models, model), self.pick(self.streams, at), flag)

    @rule(at=PICK, model=PICK, which=st.sampled_from(["unbind_stream", "end_graph", "execute_model"]))
    def on_model_and_stream(self, at, model, which):
        """Calls that take a model and a stream."""
        self.call(which, self.pick(self.models, model), self.pick(self.streams, at))

    @rule(model=PICK, at=PICK, timeout_ms=st.sampled_from([-1, 1]))
    def finish_and_run(self, model, at, timeout_ms):
        """What is left to do for an execution: end, complete, execute, wait."""
        found, caller = self.pick(self.models, model), self.pick(self.streams, at)
        if found is not None and found.streams and found.core is None:
            self.call("end_graph", found, found.streams[0])
            self.call("load_complete", found)
        self.call("execute_model", found, caller)
        self.call("synchronize_stream", caller, timeout_ms)

    @rule(model=PICK, which=st.sampled_from(["load_complete", "abort_model"]))
    def on_model(self, model, which):
        """Calls that take a model."""
        self.call(which, self.pick(self.models, model))

    @rule(at=PICK, flag=PICK, which=st.sampled_from(["record_event", "reset_event", "record_notify", "wait_notify"]))
    def on_flag(self, at, flag, which):
        """Calls that take an event or a notify, and a stream."""
        listed = self.events if which.endswith("event") else self.notifies
        self.call(which, self.pick(listed, flag), self.pick(self.streams, at))

    @rule(at=PICK, flag=PICK)
    def wait_event(self, at, flag):
        """A wait."""
        self.call("wait_event", self.pick(self.streams, at), self.pick(self.events, flag))

    @rule(at=PICK, block_dim=st.sampled_from([0, 1, 4, 0xFFFF]), nops=st.integers(0, 2), key=st.integers(0, 5))
    def launch(self, at, block_dim, nops, key):
        """A kernel."""
        function = self.call("get_function", self.program, key)
        config = LaunchConfig(block_task_prefetch=nops)
        self.call("launch_kernel", function, block_dim, self.pick(self.streams, at), self.args, config)

    @rule(at=PICK, to=PICK, task=st.integers(0, 12))
    def update(self, at, to, task):
        """An update of any task."""
        para = {"hdl": self.program, "ffts_plus_task_info": None, **self.cells}
        self.call("model_task_update", self.pick(self.streams, to), task, self.pick(self.streams, at), para)

    @rule(at=PICK, timeout_ms=st.sampled_from([-2, -1, 0, 1]))
    def synchronize(self, at, timeout_ms):
        """The device runs."""
        self.call("synchronize_stream", self.pick(self.streams, at), timeout_ms)

    @rule(data=st.data(), name=st.sampled_from(sorted(CALLS)))
    def call_with_anything(self, data, name):
        """Any call with arguments of any type, handles of every kind among them; what it makes is forgotten."""
        handles = [*self.streams, *self.events, *self.notifies, *self.models, self.program]
        anything = st.sampled_from([*handles, self.args]) | JUNK
        required = [p for p in list(signature(CALLS[name]).parameters.values())[1:] if p.default is p.empty]
        if name not in LASTING:
            self.call(name, **{p.name: data.draw(anything) for p in required})

    @rule(data=st.data(), name=st.sampled_from(FUNCTIONS))
    def function_with_anything(self, data, name):
        """Any C-like function with arguments of any type returns a status."""
        function = getattr(c_api, name)
        handles = [*self.streams, *self.events, *self.notifies, *self.models, self.program]
        required = [p.name for p in signature(function).parameters.values() if p.default is p.empty]
        found = function(*(data.draw(st.sampled_from(handles) | JUNK) for _ in required))
        assert isinstance(found[0] if isinstance(found, tuple) else found, c_api.Status)

    @invariant()
    def living_ids_differ(self):
        """No two living objects of a kind have one id."""
        for listed in (self.streams, self.events, self.notifies, self.models):
            ids = [each.id for each in listed if each is not None and each.alive and each.id is not None]
            assert len(ids) == len(set(ids))

    @invariant()
    def models_know_their_streams(self):
        """A stream and its model agree."""
        for stream in self.streams:
            if stream is not None and stream.model is not None:
                assert stream.alive
                assert stream in stream.model.streams

    def teardown(self):
        """Everything is aborted and destroyed: all memory but the program's own is free again."""
        for model in self.models:
            self.call("abort_model", model)
            self.call("destroy_model", model)
        for stream in self.streams:
            self.call("destroy_stream", stream)
        assert not any(stream.alive for stream in self.streams if stream is not None)
        assert self.device.streams == self.device.models == {}
        for listed, destroy in ((self.events, "destroy_event"), (self.notifies, "destroy_notify")):
            for flag in listed:
                self.call(destroy, flag)
        assert self.device.memory.used == self.baseline
        assert (self.runtime.create_event(), self.runtime.create_notify().id)[1] == 0


@pytest.mark.parametrize("chip", [B3, P3, DAVID])
def test_any_order_of_calls(host, chip):
    """Whatever is called with whatever, there are only documented codes, no shared ids, and no leaks."""

    class Program(HostProgram):
        """On this chip."""

        def __init__(self):
            self.device = Device(chip, plugins=host)
            super().__init__()

    limits = settings(
        max_examples=100, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    run_state_machine_as_test(Program, settings=limits)
