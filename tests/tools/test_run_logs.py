"""`sqemu run --log`: lines on standard error, filtered by level, event and stream; structlog as it was configured."""

from __future__ import annotations

import json

import pytest
import structlog

from tools.log_options import console_line, logger_of


@pytest.fixture
def ran(sqemu, probe):
    """Run the probe with options."""

    def call(*options):
        return sqemu("run", probe / "probe.json", "--inputs", probe / "in3.npz", *options)

    return call


def logged(found):
    """Standard error as objects."""
    return [json.loads(line) for line in found.err.splitlines()]


DONE = ("info   ", "task.done    ")


class TestJson:
    def test_patch_event(self, ran):
        """A patch carries SQ, slot, stream, task, struct, field, bits, before, after, key, row and writer."""
        found = ran("--log", "json", "--log-events", "sqe.patch")
        assert found.code == 0
        assert logged(found)[-1] == {
            "device": "ascend310p3", "model": 0, "stream": 0, "task": 7, "op": "probe0", "time": 18000, "run": 1,
            "slot": 7, "model_task": 7, "struct": "AicoreKernelSqe", "field": "block_dim", "bit_offset": 16,
            "bit_width": 16, "before": 0xFFFF, "after": 3, "writer_stream": 1, "writer_task": 1,
            "engine": "task_update", "tiling_key": 0, "table_row": 0, "event": "sqe.patch", "level": "info",
        }  # fmt: skip

    def test_levels(self, ran):
        """From warning on, a good run logs nothing, and a stale launch its hazard and its faults."""
        assert logged(ran("--log", "json", "--log-level", "warning")) == []
        found = ran("--log", "json", "--log-level", "warning", "--policy", "nop_count=0")
        assert [(line["level"], line["event"]) for line in logged(found)] == [
            ("warning", "hazard"), ("error", "fault"), ("error", "fault"),
        ]  # fmt: skip

    def test_streams(self, ran):
        """Streams are those that a line is about, or that wrote it: 1 wrote the patches of an entry of 0."""
        lines = logged(ran("--log", "json", "--log-streams", "1", "--log-level", "info"))
        assert {line["event"] for line in lines} == {"task.start", "task.done", "cell.write", "sqe.patch"}
        assert {line["stream"] for line in lines if line["event"] != "sqe.patch"} == {1}

    def test_all_events_are_those_of_the_trace(self, ran, tmp_path):
        """Without a filter the log has a line for each line of the trace, in order, with the same times."""
        lines = logged(ran("--log", "json", "--trace", tmp_path / "t.jsonl"))
        trace = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
        assert [(a["event"], a["time"]) for a in lines] == [(b["event"], b["time"]) for b in trace]

    def test_standard_output_stays(self, ran):
        """What the command prints is not touched."""
        assert ran("--log", "json", "--json").objects[0]["ok"] is True


class TestConsole:
    def test_lines(self, ran):
        """A line has time, level, event, place and operator first; a filter alone means this form."""
        found = ran("--log-events", "task.done, signal", "--log-streams", "1")
        assert found.err.splitlines() == [
            f"     {time} ns  {level}  {event}  1:{task}     {said}"
            for time, level, event, task, said in (
                (16000, *DONE, 0, "probe0 engine=ai_cpu kind=aicpu started=1000 detail=RunAicpuRpcSrvLaunch"),
                (18000, *DONE, 1, "probe0 engine=task_update kind=task_update started=16000 detail='target 0:7'"),
                (18500, "debug  ", "signal       ", 2, "signal='event 0' value=1"),
                (18500, *DONE, 2, "probe0 engine=event kind=event_record started=18000 detail='event 0'"),
            )
        ]

    def test_zero_is_shown_and_nothing_is_not(self):
        """A key of 0 is a value; what is absent or empty is left out; control codes are escaped."""
        values = {"event": "e", "level": "info", "time": 1, "tiling_key": 0, "table_row": None, "node": "", "x": "a\nb"}
        assert (
            console_line(None, "info", values) == "         1 ns  info     e                      tiling_key=0 x=a\\nb"
        )


class TestStructlog:
    @pytest.fixture(autouse=True)
    def _reset(self):
        yield
        structlog.reset_defaults()

    def test_configured_by_a_plugin(self, ran, tmp_path):
        """Processors that a plugin gives to structlog.configure see every event with its context, and decide."""
        plugin = tmp_path / "loud.py"
        plugin.write_text(
            "import sys\n"
            "import structlog\n"
            "from emu_core.hookspecs import hookimpl\n"
            "def loud(_logger, _method, values):\n"
            '    return f\'{values["op"]}: {values["field"]}!\'\n'
            "structlog.configure(processors=[loud], logger_factory=structlog.WriteLoggerFactory(sys.stderr))\n"
            "@hookimpl\n"
            "def sqemu_explanations():\n"
            "    return {}\n"
        )
        found = ran("--log", "structlog", "--log-events", "sqe.patch", "--plugin", plugin)
        assert found.err.splitlines() == ["probe0: pc_addr_low!", "probe0: pc_addr_high!", "probe0: block_dim!"]

    def test_configured_in_python(self):
        """In Python the same logger is what structlog was told."""
        seen = []
        structlog.configure(
            processors=[lambda _l, _m, values: seen.append(values) or values], cache_logger_on_first_use=False
        )
        structlog.configure(logger_factory=structlog.testing.CapturingLoggerFactory())
        logger_of("structlog").info("x", a=1)
        assert seen == [{"event": "x", "a": 1}]


class TestRefused:
    @pytest.mark.parametrize(
        ("options", "id_"),
        [
            (("--log-events", "sqe.patched"), "log.event"), (("--log-streams", "0,a"), "log.streams"),
            (("--log-streams", "-1"), "log.streams"), (("--log", "xml"), "usage"), (("--log-level", "x"), "usage"),
        ],
    )  # fmt: skip
    def test_before_anything_runs(self, ran, options, id_):
        """A mistake in an option is refused with exit 2, and nothing runs."""
        found = ran(*options, "--json")
        assert (found.code, found.error["error"], found.out) == (2, id_, "")
