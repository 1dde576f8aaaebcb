"""`sqemu postmortem`: what failed first, what only followed, what ran out, and which statements are sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats import BUILTIN
from tools.capture.build import capture_of
from tools.postmortem.analyse import report_on
from tools.postmortem.words import core_bits, error_bits, span, ts_code

LOGS = Path(__file__).parents[1] / "data" / "logs"
KERNEL = BUILTIN.get("v100", "AicoreKernelSqe")
DAY = "2026-01-02-10:00:"


def host(at, text, level="ERROR"):
    """A line of the host, `at` milliseconds after ten."""
    return f"[{level}] RUNTIME(5,app):{DAY}{at // 1000:02d}.{at % 1000:03d}.000 [h.cc:1]7 F:{text}"


def device(at, text):
    """A line of the firmware."""
    return f"[ERROR] TSCH(-1,null):{DAY}{at // 1000:02d}.{at % 1000:03d}.000 {at} (dieid:0,cpuid:0) [f.c:1] {text}"


def interrupt(at, stream, task):
    """The firmware's line about a queue."""
    return device(
        at,
        f"proc_stars_acc_exception_inner: rtsq_id={stream}, sq_head={task}, sq_tail={task + 2}, acsq_id=3, "
        f"stream_id={stream}, task_id={task}, sqe_type=0, bind_flag=0, error_type=8, pid=1",
    )


def completion(at, stream, task, sqe="0(ffts)", error="0x1(task exception)", status="0"):
    """The host's line about a completion."""
    return host(
        at,
        f"Task run failed, device_id=0, stream_id={stream}, task_id={task}, sqe_type={sqe}, errType={error}, "
        f"sqSwStatus={status}",
    )


def kernel(at, stream, task, report, name):
    """The host's line about a kernel."""
    return host(
        at,
        f"Aicore kernel execute failed, device_id=0, stream_id={stream}, report_stream_id={report}, task_id={task}, "
        f"flip_num=0, fault kernel_name={name}, program id=8, hash=14",
    )


def words_of(raw, stream, task, at):
    """The firmware's dump of an entry."""
    words = [int.from_bytes(raw[i : i + 4], "little") for i in range(0, 64, 4)]
    dump = " ".join(f"word[{i}]=0x{w:08x}" for i, w in enumerate(words))
    return [
        device(at, f"stars_dump_sqe: stream_id={stream}, task_id={task}, sqe_type=0"),
        device(at + 1, f"stars_dump_sqe: {dump}"),
    ]


def halves_of(raw, at):
    """The host's dump of an entry."""
    words = [int.from_bytes(raw[i : i + 4], "little") for i in range(0, 64, 4)]
    return [
        host(at + k, "AicoreKernelTask: " + " ".join(f"{w:08x}" for w in words[8 * k : 8 * k + 8]), "DEBUG")
        for k in (0, 1)
    ]


@pytest.fixture
def told(tmp_path):
    """The report on some lines."""

    def report(*lines):
        path = tmp_path / "a.log"
        path.write_text("\n".join(lines), encoding="utf-8")
        return report_on(capture_of([str(path)]))

    return report


def texts(report, name):
    """The statements of a section, as one text each."""
    return [s.text for section in report.sections if section.name == name for s in section.statements]


def statement(report, part):
    """The one statement that holds `part`."""
    (found,) = [s for section in report.sections for s in section.statements if part in s.text]
    return found


def cause(report):
    """Stream and task of the first fault."""
    return (report.cause.stream, report.cause.task)


class TestCause:
    def test_first_in_time_not_most_often(self, told):
        """The fault that was first is the cause, although a later one is reported ten times."""
        lines = [completion(2000 + k, 5, 9) for k in range(10)]
        report = told(*lines, completion(1000, 4, 7))
        assert cause(report) == (4, 7)
        assert "reported 10 times" in texts(report, "others")[0]

    def test_notify_wait_names_the_real_task(self, told):
        """The published status word 0x16620324 of a notify wait makes stream 1634 task 804 the cause."""
        wait = completion(1000, 3, 5981, "7(notify wait)", "0x20(sq sw status error)", "0x16620324")
        report = told(wait, kernel(2200, 1634, 804, 3, "Combine"))
        assert cause(report) == (1634, 804)
        assert statement(report, "its status word names stream 1634 task 804").sure
        assert "Combine" in texts(report, "cause")[1]

    def test_task_that_is_only_named(self, told):
        """Without a line of its own the task that the status word names is still the cause, by inference."""
        report = told(completion(1000, 3, 5981, "7(notify wait)", "0x20(sq sw status error)", "0x16620324"))
        assert cause(report) == (1634, 804)
        assert "no line of the task's own" in texts(report, "cause")[0]
        assert not statement(report, "failed first").sure

    def test_packed_result_alone(self, told):
        """A packed result on a line without ids makes the task that it names a fault; result 0 is none."""
        assert cause(told(device(1, "model_end: model_id=3, task_result=0x16620324"))) == (1634, 804)
        assert told(device(1, "model_end: model_id=3, task_result=0x6620324")).kind == "nothing"

    def test_hwts_names_the_real_task(self, told):
        """In HWTS wording the real task is the cause and the model's task a consequence."""
        report = told(
            host(1, "Real task exception! device_id=0, stream_id=5, task_id=2, task_type=0 (KERNEL_AICORE)"),
            host(2, "Task exception! device_id=0, stream_id=3, task_id=1, type=13(MODEL_EXECUTE), retCode=0x91, [x]"),
        )
        assert cause(report) == (5, 2)
        assert statement(report, "the runtime names the real fault").sure

    def test_model_of_stars_names_the_real_task(self, told):
        """*Real fault task* after a model's report makes that task the cause, whatever is reported first."""
        report = told(
            host(1, "model execute task failed, device_id=0, model stream_id=59, model task_id=8, model_id=62"),
            host(2, "Real fault task, device_id=0, stream_id=56, task_id=3, type=0[KERNEL_AICORE]."),
        )
        assert cause(report) == (56, 3)

    def test_first_of_several_is_inferred(self, told):
        """That one of two unrelated faults was first is an inference; that there is one at all is not."""
        assert statement(told(completion(1, 4, 7)), "failed first").sure
        assert not statement(told(completion(1, 4, 7), completion(9, 5, 9)), "failed first").sure

    def test_950_wording(self, told):
        """On 950 the position is the task, and bit 1 is a bus error."""
        report = told(
            host(1, "Task run failed, stream_id=5, pos=12, task_sn=77, sqe_type=1(aiv), errType=0x2(x), sqSwStatus=0")
        )
        assert cause(report) == (5, 12)
        assert "bus error" in statement(report, "The completion reports").text
        assert "serial number is 77" in statement(report, "position in the ring").text

    def test_nothing(self, told):
        """Lines without a fault give a report without a cause."""
        report = told("[INFO] all is well")
        assert (report.kind, report.cause, report.sections) == ("nothing", None, ())


class TestEntry:
    def test_patched_block_dim(self, told):
        """Where the firmware's entry differs from the host's, the change is named with both values."""
        fields = {"rt_stream_id": 2, "task_id": 5, "kernel_credit": 254, "pc_addr": 0x124000000000, "ffts_type": 1}
        before, after = (KERNEL.build({**fields, "block_dim": n}) for n in (0xFFFF, 40))
        report = told(*halves_of(before, 1), interrupt(10, 2, 5), *words_of(after, 2, 5, 11), completion(15, 2, 5))
        assert "block_dim 0xffff -> 0x28" in statement(report, "It was patched").text

    def test_unpatched(self, told):
        """An entry that is what the host built is said to be that."""
        raw = KERNEL.build({"rt_stream_id": 2, "task_id": 5, "kernel_credit": 254, "block_dim": 3})
        report = told(*halves_of(raw, 1), interrupt(10, 2, 5), *words_of(raw, 2, 5, 11))
        assert "It is what the host had built." in texts(report, "entry")

    def test_only_the_host_has_it(self, told):
        """An entry of the host alone is said to be that of load time."""
        raw = KERNEL.build({"rt_stream_id": 2, "task_id": 5, "kernel_credit": 254, "block_dim": 3})
        report = told(*halves_of(raw, 1), completion(5, 2, 5))
        assert not statement(report, "entry at load time").sure

    def test_cut_entry(self, told):
        """Of a cut entry the missing words are named, and it is not decoded."""
        raw = KERNEL.build({"rt_stream_id": 2, "task_id": 5, "kernel_credit": 254})
        head, dump = words_of(raw, 2, 5, 11)
        report = told(interrupt(10, 2, 5), head, dump[: dump.index(" word[14]")])
        assert texts(report, "entry") == ["Its entry is cut: words 14, 15 are missing."]

    def test_time_budget(self, told):
        """254 credits are the documented 1091 s, 255 no limit."""
        for credit, budget in ((254, "1091 s"), (255, "no time budget")):
            raw = KERNEL.build({"rt_stream_id": 2, "task_id": 5, "kernel_credit": credit, "ffts_type": 1})
            report = told(interrupt(10, 2, 5), *words_of(raw, 2, 5, 11))
            assert budget in statement(report, "time budget").text

    def test_950_entry_by_serial_number(self, told):
        """A 950's entry names no stream: the serial number of the report finds it, and its leading half is shown."""
        fields = {
            "type": 1, "task_id": 77, "block_dim": 16, "kernel_credit": 252, "aiv_start_pc": 0x1240C0000040,
            "aiv_task_param_ptr": 0x124100000000,
        }  # fmt: skip
        raw = BUILTIN.get("v200", "AivKernelSqe").build(fields)
        line = "Task run failed, stream_id=5, pos=12, task_sn=77, sqe_type=1(aiv), errType=0x1(x), sqSwStatus=0"
        report = told(*halves_of(raw, 1), host(9, line))
        assert statement(report, "block_dim 16, code at 0x1240c0000040, arguments at 0x124100000000").sure
        assert "It runs on the AI Vector core." in texts(report, "entry")


class TestJoin:
    def test_clock_offset(self, told):
        """Host and firmware are joined by ids, and the clocks are apart by at most the shortest delay of a report."""
        report = told(interrupt(1000, 2, 5), completion(1250, 2, 5))
        assert statement(report, "Firmware and host report the same fault").sure
        assert "250.000 ms" in statement(report, "The host's clock is ahead").text
        assert len(report.cause.records) == 2

    def test_faults_of_both_clocks_are_ordered(self, told):
        """A fault that only the firmware has is placed among those of the host by the offset of the clocks."""
        report = told(
            interrupt(1000, 2, 5), completion(31000, 2, 5), completion(30500, 6, 6), interrupt(400, 7, 7)
        )  # the host's clock is 30 s ahead: 7/7 at 30.4 s, 6/6 at 30.5 s, 2/5 at 31 s
        assert cause(report) == (7, 7)
        assert ["stream 6 task 6" in text for text in texts(report, "others")] == [True, False]

    def test_core_by_address(self, told):
        """A core's report belongs to the fault whose entry has its start address, not to the nearest in time."""
        fields = {"rt_stream_id": 2, "task_id": 5, "kernel_credit": 254, "pc_addr": 0x1240C0000000, "ffts_type": 1}
        core = (
            "there is an aivec error exception, core id is 4, error code = 0x800000, dump info: "
            "pc start: 0x1240c0000000, "
            "current: 0x1240c0000124, vec error info: 0, para base: 0x124100000c00."
        )
        raw = KERNEL.build(fields)
        report = told(
            interrupt(1, 2, 5), *words_of(raw, 2, 5, 2), completion(5, 2, 5), completion(500, 8, 8), host(501, core)
        )
        assert [c.core for c in report.cause.cores] == [4]
        assert "0x124 bytes behind the start" in statement(report, "stood").text


class TestLimits:
    def test_streams(self, told):
        """A stream that gets no queue: code, id, limits, and what to do are said."""
        report = told(host(1, "Alloc sq cq failed, stream_id=2047, retCode=0x7020023."))
        assert report.kind == "limit"
        assert "stream 2047 could not be served." in texts(report, "limits")
        assert "2048 queues" in statement(report, "Limits:").text

    @pytest.mark.parametrize(
        ("code", "what"), [("0x702001b", "notifies"), ("0x7020019", "events"), ("0x7110019", "asynchronous copies")]
    )
    def test_others(self, told, code, what):
        """Each code of the driver names its resource."""
        assert (
            what
            in texts(told(host(1, f"Notify create failed, setup failed, drv devId=0, retCode={code}")), "limits")[0]
        )

    def test_capacity(self, told):
        """A capacity that the line names is told."""
        line = "ExpandCapacity failed, capacity=32768, max_depth=32768, stream_id=59, device_id=7, retCode=0x7110019."
        assert "Its capacity is 32768 of at most 32768." in texts(told(host(1, line)), "limits")

    def test_s59_refused_entry_follows(self, told):
        """An entry of type 63 after notifies ran out is a consequence, by inference."""
        report = told(
            host(1, "Notify create failed, setup failed, drv devId=0, retCode=0x702001b"),
            completion(5, 60, 0, "63(unknown)", "0x8(sqe error)"),
            host(
                9,
                "sqe error occurred during task execution, stream_id:60, task_id:0, sq_id:3, sq_head:0.",
            ),
        )
        assert (report.kind, report.cause) == ("limit", None)
        assert not statement(report, "an entry was refused").sure


class TestWaits:
    def test_limit_and_ids(self, told):
        """A wait that timed out is told with stream, queue, task, event and limit."""
        report = told(
            host(1, "event wait timeout occurred, stream_id:19, sq_id:8, task_id:16, event_id=73, "
                    "timeout=1866s.")
        )  # fmt: skip
        found = statement(report, "gave up waiting").text
        assert found == "stream 19 task 16 (SQ 8) gave up waiting for event 73 after its limit of 1866 s."
        assert "No entry that sets event 73" in texts(report, "waits")[1]

    def test_who_holds_it_up(self, told):
        """The task that records the event is found, and what stands before it in its queue."""
        event = BUILTIN.get("v100", "EventRecordSqe").build({"type": 4, "rt_stream_id": 2, "task_id": 1, "event_id": 1})
        blocker = KERNEL.build({"rt_stream_id": 2, "task_id": 0, "kernel_credit": 254, "block_dim": 1})
        trace = []
        for slot, raw in enumerate((blocker, event)):
            words = [int.from_bytes(raw[i : i + 4], "little") for i in range(0, 64, 4)]
            trace += [f"sqe[{8 * k}] 0x " + " ".join(f"{w:08x}" for w in words[8 * k : 8 * k + 8]) for k in (0, 1)]
            trace.append(f"pos={slot}: stream_id=2, task_id={slot}, sqe_type={raw[0] & 63}")
        report = told(
            host(
                1,
                "event wait timeout occurred, stream_id:3, sq_id:3, task_id:4, event_id=1, timeout=9s.",
            ),
            "stream_id=2, rtsq_id=2, sq_fsm=0x5, cur_wait_time=0, head=0, tail=2, sq_en=1",
            *trace,
        )
        assert "stream 2 task 1 is what sets event 1" in texts(report, "waits")[1]
        assert "What holds it up is stream 2 task 0 (kernel)" in texts(report, "waits")[2]

    def test_wait_after_a_fault_follows(self, told):
        """A wait that times out after another stream failed is a consequence, by inference."""
        report = told(
            completion(1, 2, 0),
            host(
                900,
                "notify wait timeout occurred, stream_id:3, sq_id:3, task_id:4, notify_id=1, timeout=1s.",
            ),
        )
        assert cause(report) == (2, 0)
        assert not statement(report, "its record may never have come").sure


class TestWords:
    def test_error_bits(self):
        """Bits are named from the lowest; 950 calls bit 1 another thing."""
        assert error_bits(0x21) == "task exception + software status"
        assert error_bits(2) == "task trap"
        assert error_bits(2, "950") == "bus error"

    def test_codes(self):
        """A code of the runtime and the TS code in it are the same thing; unknown ones stay numbers."""
        assert ts_code(0x7150026) == ts_code(0x26)
        assert ts_code(0xABCDEF) == "TS 0xabcdef"

    def test_core_bits(self):
        """Known bits of the error registers have words, others their number."""
        assert core_bits({"AIC_ERROR0": 0x800000, "AIC_ERROR2": 0x4000}) == [
            "AIC_ERROR0 bit 23: the DDR address of an MTE instruction is out of range",
            "AIC_ERROR2 bit 14, no public meaning",
        ]

    def test_spans(self):
        """A span has a fitting unit."""
        assert [span(n) for n in (999, 1500, 2_500_000, 3_000_000_000, 3 * 86_400_000_000_000)] == [
            "999 ns", "1.500 µs", "2.500 ms", "3.000 s", "3.0 days"
        ]  # fmt: skip


class TestLaunch:
    def test_blocks_of_the_kernel_line(self, told):
        """A block dim in the kernel's line is sure."""
        report = told(kernel(1, 2, 5, 2, "K") + ", blockDim=40")
        assert statement(report, "launched it with 40 blocks").sure

    def test_line_about_arguments(self, told):
        """The line about arguments just before the kernel's, of the same thread, gives blocks and key by inference."""
        arguments = (
            "tilingKey = 9, print 1 Times totalLen=(3*8), argsSize=24, schemMode=0, blockDim=12, gridDim3=[0,0,0]"
        )
        report = told(host(1, arguments), kernel(2, 2, 5, 2, "K"))
        assert not statement(report, "launched it with 12 blocks, tiling key 9").sure


class TestDevices:
    def test_both_sides_of_each_device_go_together(self, tmp_path):
        """Two devices fail in tasks of the same ids: numbers of folders and reports say which belongs to which."""
        for number, at in ((0, 500), (1, 100)):
            (tmp_path / f"device-{number}").mkdir()
            (tmp_path / f"device-{number}" / "fw.log").write_text(interrupt(at, 2, 5))
        reports = [completion(900, 2, 5), completion(950, 2, 5).replace("device_id=0", "device_id=1")]
        (tmp_path / "plog.log").write_text("\n".join(reports))
        found = capture_of([str(tmp_path)])
        pairs = {(f.device, f.stamp("host") - f.stamp("device")) for f in found.faults}
        assert pairs == {(0, 400_000_000), (1, 850_000_000)}

    def test_ids_used_again(self, told):
        """The same task an hour later is a second fault, a millisecond later the same one, reported again."""
        later = completion(59_000, 2, 5).replace("2026-01-02-10", "2026-01-02-11")
        report = told(completion(1, 2, 5), completion(2, 2, 5), later)
        assert cause(report) == (2, 5)
        assert report.cause.repeats == 1
        assert "stream 2 task 5" in texts(report, "others")[0]


def test_very_many_faults(told):
    """Thousands of faults with their cores are put in order in a short time; ten are told, the rest counted."""
    lines = []
    for k in range(3000):
        lines.append(completion(k % 60000, k % 97, k))
        lines.append(
            host(k % 60000, f"there is an aicore error, core id is 1, error code = 0x1, dump info: pc start: 0x{k:x}")
        )
    report = told(*lines)
    assert len(texts(report, "others")) == 11
    assert texts(report, "others")[-1] == "2989 further faults."
