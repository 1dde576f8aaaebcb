"""How a model ends for the stream that waits for it: result codes, status word, abort."""

from __future__ import annotations

import pytest

from emu_core import codes
from emu_core.errors import DeviceFault
from emu_core.hookspecs import hookimpl
from emu_core.kernels import AicpuKernelSpec
from emu_core.model import Model, ModelState
from emu_core.trace import TaskDone
from emu_plugins.engines.notifies import notify

END = 3
"""Notify that the end of the graph records."""


class _Failing:
    """An AI CPU function that fails with the TS code it gets as its argument address; 0 succeeds."""

    @hookimpl
    def sqemu_aicpu_kernels(self):
        def run(launch):
            if launch.args:
                raise DeviceFault("as asked", ts_code=launch.args, id="mine.failed")

        return [AicpuKernelSpec("libmine.so", "Fail", run, lambda _: 700)]


class _Bench:
    """A model of one stream, with a caller that executes it and waits for its end."""

    def __init__(self, bench):
        self.bench = bench
        self.device = bench.device
        self.stream, self.caller = bench.stream(bound=True), bench.stream()

        def build(model_id):
            return Model(
                device=self.device, model_id=model_id, name="m", streams=(self.stream,), head_streams=(self.stream,),
                caller=self.caller, end=notify(END), inputs=(), outputs=(), scratch=(), launch=self._launch,
            )  # fmt: skip

        self.model = self.device.add_model(build)

    def _launch(self, model):
        self.bench.add(self.caller, "model_execute", model.id)
        self.bench.add(self.caller, "notify_wait", END)
        self.device.scheduler.ring_doorbell(self.caller)

    def aicpu(self, args):
        at = self.bench.room(64)
        self.device.memory.write(at, b"libmine.so\0Fail\0")
        self.bench.add(self.stream, "aicpu", library=at, function=at + 11, args=args, custom=False)

    def ends(self):
        self.bench.add(self.stream, "notify_record", END)

    def aborts(self, **changes):
        """A stream that aborts the model 4000 ns after the start, while the model works."""
        stream = self.bench.stream()
        for _ in range(40):
            self.bench.add(stream, "nop")
        fields = {"type": 3, "task_type": 12, "pre_p": 1, "operation": 6, "model_id": self.model.id, **changes}
        self.bench.raw(stream, "PhModelMaintenanceSqe", **fields)
        self.device.scheduler.ring_doorbell(stream)
        return stream


@pytest.fixture
def bench(queues):
    """A `_Bench` on a 910B3."""
    return _Bench(queues(plugins=[_Failing()]))


@pytest.mark.parametrize(
    ("cause", "result", "ts_code", "acl"),
    [
        (codes.AICORE_EXCEPTION, 1, 0x91, 507011),
        (codes.AICPU_EXCEPTION, 1, 0x91, 507011),
        (0x95, 2, 0x95, 507005),
        (0x10E, 3, 0x10E, 507023),
        (0x28, 4, 0x28, 507017),
        (0x777, 1, 0x91, 507011),
    ],
    ids=["failed", "exception", "end of sequence", "aborted", "aicpu timeout", "unknown"],
)
def test_s52_the_cause_decides_the_result_and_the_code_of_the_waiting_stream(bench, cause, result, ts_code, acl):
    """S52: failed 0x91, end of sequence 0x95, abort 0x10E, AI CPU timeout 0x28, anything else 0x91."""
    bench.aicpu(cause)
    bench.ends()
    found = bench.model.execute({})
    assert [f.id for f in found.faults] == ["mine.failed", "model.failed"]
    assert (found.faults[1].ts_code, found.faults[1].acl_code) == (ts_code, acl)
    assert found.faults[0].consequences[-1] == f"model m ends with TS {ts_code:#x}, ACL {acl}"
    status = bench.device.layout("CqeError").parse(bench.device.memory.read(bench.device.cq.ring.address + 16, 16))
    assert status["sq_sw_status"] == result << 28 | bench.stream.id << 16
    assert (status["sqe_type"], status["error_type"]) == (7, 32)


def test_a_model_that_reaches_its_end_has_no_result_to_report(bench):
    """The function succeeds, the end of the graph is recorded, the wait passes."""
    bench.aicpu(0)
    bench.ends()
    assert bench.model.execute({}).ok


def test_an_abort_ends_the_wait_of_the_caller_and_stops_the_streams_of_the_model(bench):
    """Task type 12, operation 6: 0x10E, result 3; the model can be aborted by the host and executed again."""
    bench.bench.add(bench.stream, "event_wait", 1)
    bench.ends()
    aborter = bench.aborts()
    found = bench.model.execute({})
    assert [(f.id, f.ts_code, f.acl_code) for f in found.faults] == [("model.aborted", 0x10E, 507023)]
    assert f"aborted by stream {aborter.id} task 40" in found.faults[0].what
    assert (bench.stream.state.name, bench.stream.queue.pending) == ("IDLE", 0)
    raw = bench.device.memory.read(bench.device.cq.ring.address, 16)
    assert bench.device.layout("CqeError").parse(raw)["sq_sw_status"] == 3 << 28 | aborter.id << 16 | 40
    assert bench.model.state is ModelState.FAILED
    bench.model.abort()
    assert bench.model.state is ModelState.READY


def test_without_pre_p_nobody_looks_at_an_abort(bench):
    """The model ends as if nothing had been sent."""
    bench.aicpu(0)
    bench.ends()
    bench.aborts(pre_p=0)
    assert bench.model.execute({}).ok


def test_a_stream_of_the_model_may_abort_it_itself(bench):
    """Its own queue stops behind the entry; the caller's wait ends."""
    fields = {"type": 3, "task_type": 12, "pre_p": 1, "operation": 6, "model_id": bench.model.id}
    bench.bench.raw(bench.stream, "PhModelMaintenanceSqe", **fields)
    bench.bench.add(bench.stream, "nop")
    bench.ends()
    found = bench.model.execute({})
    assert [f.id for f in found.faults] == ["model.aborted"]
    assert [e.kind for e in found.trace if isinstance(e, TaskDone)] == ["model_execute", "model_maintenance"]
