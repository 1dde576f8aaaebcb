"""The grammar of log lines: a row per shape.

Lines hold `name=value` or `name: value` pairs in an order that changes between versions, so most rows only name the
literals that tell the shape and the pairs that count; where a line has no pairs a regular expression reads it. Sources:
`device_semantics.md` 8.4 unless a row says otherwise; "public log" means a line seen in published logs of real devices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ALIASES = {
    "stream_id": "stream", "streamid": "stream", "task_id": "task", "taskid": "task", "device_id": "device",
    "dev_id": "device", "devid": "device", "rtsq_id": "sq", "sq_id": "sq", "report_stream_id": "report_stream",
    "errtype": "error_type", "err_type": "error_type", "sqswstatus": "status", "retcode": "code",
    "wait_sqe_head": "head",
    "sq_head": "head", "sq_tail": "tail", "flip_num": "flip", "innercode": "code", "blockdim": "block_dim",
    "time_out": "timeout", "fault_task": "task", "wait_time": "waited", "exe_time": "waited", "cur_head": "head",
    "program": "program", "kernel_name": "kernel", "errorcode": "code", "block_dim": "block_dim",
}  # fmt: skip
"""Names that versions write differently, in lower case, and ours."""


@dataclass(frozen=True)
class Shape:
    """One line shape.

    Attributes:
        name: unique. kind: what sort of fact it yields; several shapes may share one.
        literals: all must be in a line; the first is looked for first.
        pairs: names (ours) of the pairs that are taken.
        pattern: read in addition; its named groups become values, and it must match.
        dialect: `stars`, `hwts` or `950` when only that scheduler writes it. device: written by the firmware.
        source: where the shape is known from.
    """

    name: str
    kind: str
    literals: tuple[str, ...]
    pairs: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    dialect: str = ""
    device: bool = False
    source: str = "device_semantics.md 8.4"


_IDS = ("device", "stream", "task", "flip")
_LOG = "public firmware log, tests/data/logs"
_SEEN = "public log"
_HEX = r"[0-9a-fA-F]"
_WORD = rf"(?:0x)?{_HEX}{{8}}"
_ADDRESS = r"0x[0-9a-fA-F]{1,16}|\d{1,20}"
_CORE = re.compile(
    r"(?P<sort>ai\s?core|ai\s?vec(?:tor)?)\s*error.{0,40}?"
    rf"core id is (?P<core>\d+), error code = (?P<errcode>{_ADDRESS})"
    rf"(?:.*?pc start: ?(?P<pc_start>{_ADDRESS}))?(?:.*?current: ?(?P<current>{_ADDRESS}))?"
    rf"(?:.*?vec error info: ?(?P<vec>{_ADDRESS}))?(?:.*?mte error info: ?(?P<mte>{_ADDRESS}))?"
    rf"(?:.*?ifu error info: ?(?P<ifu>{_ADDRESS}))?(?:.*?ccu error info: ?(?P<ccu>{_ADDRESS}))?"
    rf"(?:.*?cube error info: ?(?P<cube>{_ADDRESS}))?(?:.*?para base: ?(?P<para>{_ADDRESS}))?"
    r"(?:.*?errorStr: ?(?P<text>[^.\[]{1,160}))?"
)
_EXTEND = re.compile(
    rf"errcode:\((?P<low>{_ADDRESS})(?:, ?(?P<mid>{_ADDRESS}))?(?:, ?(?P<high>{_ADDRESS}))?\)"
    r"(?:.{0,4}errorStr: ?(?P<text>[^.\[]{1,160}))?"
)
_KERNEL = re.compile(r"(?:fault )?kernel_?[Nn]ame=(?P<kernel>[^,\s\[]*)")
_LIBRARY = re.compile(
    r"(?:fault so_name|soName)=(?P<library>[^,\s]*).*?(?:fault kernel_name|funcName)=(?P<kernel>[^,\s]*)"
    r"(?:.*?(?:fault op_name|kernelName)=(?P<op>[^,\s\[]*))?"
)
_WORDS = re.compile(rf"(?P<words>word\[\d{{1,2}}\]={_WORD}(?:[ ,]+word\[\d{{1,2}}\]={_WORD}(?!{_HEX})){{1,15}})")
_EIGHT = re.compile(rf":\s{{1,2}}(?P<words>{_HEX}{{8}}(?: {_HEX}{{8}}){{7}})(?![\w ])")
_CODE = re.compile(r"(?:retCode|InnerCode)=(?P<code>0x(?:7020023|702001[bB]|7020019|7110019))(?![0-9a-fA-F])")

SHAPES: tuple[Shape, ...] = (
    # entries
    Shape("firmware-sqe-line", "sqe_words", ("word[", "]="), (), _WORDS, device=True, source=_LOG),
    Shape("firmware-sqe-word", "sqe_word", ("word[",), (),
          re.compile(rf"^(?!.*word\[.*word\[).*word\[(?P<index>\d{{1,2}})\]=(?P<word>{_WORD})\s*$"),
          device=True, source=_LOG),
    Shape("firmware-sqe-head", "sqe_head", ("dump_sqe", "sqe_type"), ("stream", "task", "sqe_type"), device=True,
          source=_LOG),
    Shape("trace-sqe-half", "sqe_half", ("sqe[", "0x "), (),
          re.compile(rf"sqe\[(?P<index>0|8)\]\s*0x (?P<words>{_HEX}{{8}}(?: {_HEX}{{8}}){{7}})"), device=True,
          source="public schedule trace"),
    Shape("trace-position", "position", ("pos=", "sqe_type="),
          ("pos", "stream", "task", "sqe_type", "event_id", "notify_id"),
          device=True, source="public schedule trace"),
    Shape("host-sqe-half", "host_half", (": ",), (), _EIGHT,
          source="device_semantics.md 8.4 (PrintSqe, PrintErrorSqe)"),
    # queues
    Shape("stars-interrupt", "interrupt", ("exception_inner", "sq_head="),
          ("sq", "head", "tail", "acsq_id", "stream", "task", "sqe_type", "bind_flag", "error_type", "pid"),
          dialect="stars", device=True, source=_LOG),
    Shape("queue-snapshot", "snapshot", ("sq_fsm=", "head="),
          ("stream", "sq", "sq_fsm", "cur_wait_time", "head", "tail", "is_model", "model_id", "sq_en", "pid"),
          device=True, source="public schedule trace"),
    # completion reports
    Shape("stars-report", "cqe", ("Task run failed", "errType", "device_id"),
          (*_IDS, "sqe_type", "error_type", "status"), dialect="stars"),
    Shape("950-report", "cqe", ("Task run", "errType", "task_sn"),
          (*_IDS, "pos", "task_sn", "sqe_type", "task_type", "error_type", "status"), dialect="950",
          source="hicann/runtime, report of the 950"),
    Shape("report-cut", "cqe", ("Task run failed", "stream_id"), (*_IDS, "sqe_type", "error_type", "status"),
          source=_SEEN),
    Shape("hwts-real-report", "real_fault", ("Real task exception!",), (*_IDS, "task_type"), dialect="hwts",
          source=_SEEN),
    Shape("hwts-report", "exception", ("ask exception!", "stream_id"), (*_IDS, "type", "code"), dialect="hwts",
          source=_SEEN),
    # kernels
    Shape("kernel", "kernel", ("fault kernel_name=", "ernel exec"), (*_IDS, "report_stream", "hash", "block_dim"),
          _KERNEL),
    Shape("kernel-short", "kernel", ("ernel execution failed", "kernel_name="), (*_IDS, "report_stream", "block_dim"),
          _KERNEL, source=_SEEN),
    Shape("launch", "launch", ("blockDim=", "schemMode="), ("block_dim", "tilingkey", "argssize"),
          re.compile(r"tilingKey = (?P<tiling_key>\d+)"), source=_SEEN),
    Shape("operator", "op", ("op_name [", "stream_id"), (),
          re.compile(r"(?<!n_)op_name \[(?P<op>[^\]]{1,200})\].*?task_id (?P<task>\d+), stream_id (?P<stream>\d+)"),
          source=_SEEN),
    Shape("aicpu-kernel", "aicpu_kernel", ("icpu kernel exec",), (*_IDS, "code"), None, source=_SEEN),
    Shape("aicpu-kernel-new", "aicpu_kernel", ("AI CPU kernel exec",), (*_IDS, "code"), None, source=_SEEN),
    Shape("aicpu-exception", "aicpu_exception", ("during AICPU exec",), ("stream", "task", "errcode"),
          re.compile(r"^(?:.*?msg:(?P<text>[^.\[]{1,160}))?")),
    Shape("task-code", "retcode", ("retCode=0x", "ask"), ("code",),
          re.compile(r"(?:happen error|error occurred|execution failed).*?retCode=")),
    # cores
    Shape("core-report", "core", ("core id is", "error code"), (), _CORE),
    Shape("core-extended", "extend", ("errcode:(",), ("suberrtype",), _EXTEND, source=_SEEN),
    Shape("hwts-core-code", "core_code", ("coreId(",), (),
          re.compile(rf"coreId\(\s*(?P<core>\d+)\):\s*(?P<errcode>{_ADDRESS})"), dialect="hwts", source=_SEEN),
    Shape("exception-head", "exception_head", ("<exception_print>", "err_type="),
          ("error_type", "ffts_type", "slot", "sq", "intr_type"), dialect="stars", device=True, source=_LOG),
    Shape("core-bitmap", "bitmap", ("own_bitmap",), (),
          re.compile(r"(?P<bits>aic_own_bitmap_l=0x[0-9a-f]+.*)"), dialect="stars", device=True, source=_LOG),
    Shape("core-place", "core_place", ("fsm_id=", "blkid="),
          ("fsm_id", "aiv_id", "aic_id", "blkid", "threadid", "fsmstate"),
          device=True, source=_LOG),
    Shape("register", "register", ("<exception_print>",), (),
          re.compile(r"<exception_print>\s*(?P<name>[A-Z][A-Z0-9_]{2,31})\s*=\s*(?P<value>0x[0-9a-fA-F]{1,16})\s*$"),
          device=True, source=_LOG),
    Shape("register-list", "registers", ("Error register information",), (),
          re.compile(r"coreId=(?P<core>\d+), coreType=(?P<core_type>\d+), (?P<bits>[A-Z0-9_]+=0x.*)"), source=_SEEN),
    Shape("error-pc", "pc", ("err_pc=", "pc_start="), ("current_pc", "err_pc", "pc_start"), device=True, source=_LOG),
    Shape("slot-state", "slot", ("slot_dfx",), (),
          re.compile(r"SLOT(?P<slot>\d{1,3}) info[^:]*: (?P<states>[0-9a-fx, ]+)"),
          device=True, source=_LOG),
    Shape("core-reset", "reset", ("core_id=", "reset"), ("core_id",), device=True, source=_LOG),
    # entries that the device refused, waits
    Shape("sqe-error", "sqe_error", ("sqe error occurred",), ("stream", "task", "sq", "head")),
    Shape("wait-timeout", "wait_timeout", ("wait timeout occurred",),
          ("stream", "sq", "task", "event_id", "notify_id", "timeout"),
          re.compile(r"(?P<sort>event|notify) wait timeout")),
    Shape("device-wait-timeout", "device_timeout", ("sqe_is_timeout",),
          ("sq", "waited", "timeout", "stream", "task", "head"),
          dialect="stars", device=True, source="public schedule trace"),
    Shape("hwts-timeout", "device_timeout", ("exception_proc_timeout", "fault_task="),
          ("slot_id", "task", "ai_cores_count"),
          dialect="hwts", device=True, source=_SEEN),
    # what follows
    Shape("real-fault", "real_fault", ("eal fault task", "stream_id="),
          (*_IDS, "sub_model_id"), re.compile(r"^(?:.*?type=\d+\[(?P<task_name>\w+)\])?")),
    Shape("model-failed", "model_failed", ("model execute task failed",), (*_IDS, "model_id", "first_task_id"),
          source="hicann/runtime, model execution"),
    Shape("model-error", "model_error", ("odel execute error", "retCode="), ("code",),
          source="hicann/runtime, model execution"),
    Shape("task-failed", "task_failed", ("ask execute failed", "stream_id="), (*_IDS, "task_type"), source=_SEEN),
    Shape("stream-sync", "sync", ("ynchronize failed", "stream_id="), ("stream", "code"), source=_SEEN),
    Shape("api", "api", ("ErrCode=",), ("errcode", "code"),
          re.compile(r"(?P<function>\w{3,60}):\s*ErrCode=\d+, desc=\[(?P<text>[^\]]{1,120})\]"), source=_SEEN),
    Shape("task-result", "packed", ("task_result",), (*_IDS, "task_result", "sq"),
          source="reference, packed task_result words"),
    # resources
    Shape("resource", "resource", ("Code=0x7",),
          (*_IDS, "model_id", "capacity", "max_depth", "alloc", "total"), _CODE, source="vendor FAQ on EE1023"),
)  # fmt: skip
"""Tried in this order; a line may fit several of different kinds, of one kind the first counts."""


def _by_first_literal() -> tuple[tuple[str, tuple[Shape, ...]], ...]:
    found: dict[str, list[Shape]] = {}
    for shape in SHAPES:
        found.setdefault(shape.literals[0], []).append(shape)
    return tuple((literal, tuple(shapes)) for literal, shapes in found.items())


_GROUPS = _by_first_literal()
_PLACE = {shape.name: k for k, shape in enumerate(SHAPES)}


def shapes_of(line: str) -> list[Shape]:
    """The rows whose literals are all in `line`, in the order of the table."""
    found = [
        shape
        for literal, shapes in _GROUPS
        if literal in line
        for shape in shapes
        if all(other in line for other in shape.literals[1:])
    ]
    return found if len(found) < 2 else sorted(found, key=lambda shape: _PLACE[shape.name])
