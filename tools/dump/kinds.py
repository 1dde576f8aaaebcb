"""SQE kinds for people: a short name and the facts that matter, from one table.

A kind is found by layout and, where a layout serves several kinds, by the value of one field. Layouts that are
not in the table (those of plugins, too) get a name made from theirs and their first fields that are not 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from formats.describe import render_value
from formats.enums import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from formats import Decoded

    Namer = Callable[[int], str]
    Shown = Callable[[int, Namer], str]

_BLOCK_DIM_PLACEHOLDER = 0xFFFF
_ALL_ONES = (1 << 64) - 1
HEADER = frozenset({"type", "rt_stream_id", "task_id", "kernel_credit", "task_type", "wr_cqe"})
"""Fields that are no facts of a kind without a table of its own."""
MOST_FACTS = 3
"""Facts of such a kind: its first fields that are set."""


def no_name(address: int) -> str:
    """The namer of an address of which nothing is known."""
    del address
    return ""


def _number(value: int, _name: Namer) -> str:
    return str(value)


def _address(value: int, name: Namer) -> str:
    known = name(value)
    return f"{value:#x} ({known})" if known else f"{value:#x}"


def _named(value: int, name: Namer) -> str:
    return name(value) or f"{value:#x}"


def _hexadecimal(value: int, _name: Namer) -> str:
    return f"{value:#x}"


def _blocks(value: int, _name: Namer) -> str:
    return "0xffff (placeholder)" if value == _BLOCK_DIM_PLACEHOLDER else str(value)


def _bytes_of(value: int, _name: Namer) -> str:
    return f"{1 << value} bytes"


def _seconds(value: int, _name: Namer) -> str:
    return f"{value} s" if value else "none"


def _enum(table: str) -> Shown:
    def show(value: int, _name: Namer) -> str:
        return (name_of(table, value) or str(value)).lower().replace("_", " ")

    return show


def _offset(value: int, name: Namer) -> str:
    """A device offset; all ones stands for none."""
    return "none" if value == _ALL_ONES else _address(value, name)


@dataclass(frozen=True)
class Fact:
    """One thing worth saying about an entry: label, field (or joined value), and how its value is written.

    `offset` marks device offsets, which a namer has to be asked about in another way than addresses.
    """

    label: str
    field: str
    show: Shown = _number
    offset: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of SQE: short name, layout, the value of `field` that makes it this kind, and its facts."""

    name: str
    struct: str
    facts: tuple[Fact, ...] = ()
    field: str = ""
    value: int = 0


_EVENT = (Fact("event", "notify_id"),)
_LIMIT = Fact("limit", "timeout", _seconds)

KINDS = (
    Kind("kernel", "AicoreKernelSqe", (
        Fact("blocks", "block_dim", _blocks), Fact("pc", "pc_addr", _address), Fact("args", "param_addr", _address),
    )),
    Kind("kernel", "AicKernelSqe", (
        Fact("blocks", "block_dim", _blocks), Fact("pc", "aic_start_pc", _address),
        Fact("args", "aic_task_param_ptr", _address),
    )),
    Kind("vector kernel", "AivKernelSqe", (
        Fact("blocks", "block_dim", _blocks), Fact("pc", "aiv_start_pc", _address),
        Fact("args", "aiv_task_param_ptr", _address),
    )),
    Kind("ffts+", "FftsPlusSqe", (
        Fact("sub type", "sub_type", _enum("ffts_sub_type")), Fact("contexts", "total_context_num"),
        Fact("at", "context_address_base", _address),
    )),
    Kind("copy", "MemcpyAsyncSqe", (
        Fact("from", "src_addr", _address), Fact("to", "dst_addr", _address), Fact("bytes", "length"),
    )),
    Kind("copy", "MemcpyLinearSqe", (
        Fact("from", "src_addr", _address), Fact("to", "dst_addr", _address), Fact("bytes", "length_move"),
    )),
    Kind("model end", "AicpuKernelSqe", (), "task_so_addr", 0),
    Kind("aicpu", "AicpuKernelSqe", (
        Fact("function", "task_name_str_ptr", _named), Fact("library", "task_so_addr", _named),
        Fact("args", "param_addr", _address),
    )),
    Kind("event record", "EventRecordSqe", (Fact("event", "event_id"),)),
    Kind("event wait", "EventWaitSqe", (Fact("event", "event_id"), Fact("limit", "timeout", _seconds))),
    Kind("event record", "NotifyRecordSqe", _EVENT, "sub_type", 4),
    Kind("event record", "NotifyRecordSqe", _EVENT, "sub_type", 6),
    Kind("event reset", "NotifyRecordSqe", _EVENT, "sub_type", 8),
    Kind("event reset", "NotifyRecordSqe", _EVENT, "sub_type", 9),
    Kind("count notify record", "NotifyRecordSqe", (
        Fact("notify", "notify_id"), Fact("mode", "record_mode_bit"), Fact("value", "cnt_value"),
    ), "sub_type", 2),
    Kind("event wait", "NotifyWaitSqe", (*_EVENT, _LIMIT), "sub_type", 5),
    Kind("event wait", "NotifyWaitSqe", (*_EVENT, _LIMIT), "sub_type", 7),
    Kind("count notify wait", "NotifyWaitSqe", (
        Fact("notify", "notify_id"), Fact("mode", "wait_mode_bit"), Fact("value", "cnt_value"), _LIMIT,
    ), "sub_type", 3),
    Kind("notify record", "NotifyRecordSqe", (Fact("notify", "notify_id"),)),
    Kind("notify wait", "NotifyWaitSqe", (Fact("notify", "notify_id"), Fact("limit", "timeout", _seconds))),
    Kind("event reset", "WriteValueSqe", (
        Fact("event", "event_id"), Fact("word", "write_addr", _address),
    ), "sub_type", 1),
    Kind("write value", "WriteValueSqe", (
        Fact("to", "write_addr", _address), Fact("size", "awsize", _bytes_of),
        Fact("value", "write_value_part0", _hexadecimal),
    )),
    Kind("task update", "PhModelTaskUpdateSqe", (
        Fact("target stream", "des_stream_id"), Fact("target task", "des_task_id"),
        Fact("rows", "tiling_tab_len"), Fact("key at", "tiling_key_offset", _offset, offset=True),
    )),
    Kind("nop", "PhSqe", (), "task_type", 103),
    Kind("place holder", "PhSqe", (Fact("stands for", "task_type", _enum("task_type")),)),
    Kind("model execute", "FunctionCallSqe", (Fact("model", "model_id"),), "conds_sub_type", 1),
    Kind("condition", "FunctionCallSqe", (Fact("sub type", "conds_sub_type", _enum("conds_sub_type")),)),
    Kind("done", "CqeError", (
        Fact("queue", "sq_id"), Fact("head", "sq_head"), Fact("entry", "sqe_index"),
    ), "error_bit", 0),
    Kind("error", "CqeError", (
        Fact("queue", "sq_id"), Fact("head", "sq_head"), Fact("error", "error_type", _enum("error_type")),
    )),
    Kind("model done", "CqeModelExec", (Fact("queue", "sq_id"), Fact("head", "sq_head")), "error_bit", 0),
    Kind("model failed", "CqeModelExec", (
        Fact("queue", "sq_id"), Fact("head", "sq_head"), Fact("error", "error_type", _enum("error_type")),
    )),
    Kind("time stamp", "CqeSysCnt", (Fact("queue", "sq_id"), Fact("head", "sq_head"), Fact("at", "syscnt"))),
    Kind("unknown kind", "CommonSqe", (Fact("type", "type"),)),
)  # fmt: skip
"""All kinds with a name of their own; the first that matches is taken."""


def kind_of(decoded: Decoded) -> Kind:
    """The kind of an entry; an entry of zeros only is `empty`."""
    struct, values = decoded.struct, decoded.struct.join(decoded.values)
    if not any(_set(value) for value in decoded.values.values()):
        return Kind("empty", struct.struct_name)
    for kind in KINDS:
        if kind.struct == struct.struct_name and (not kind.field or values.get(kind.field) == kind.value):
            return kind
    return Kind(_plain_name(struct.struct_name), struct.struct_name)


def unit_kind(first: Kind, unit: int) -> Kind:
    """The kind of further unit number `unit` of a task whose first entry is of kind `first`."""
    return Kind(f"{first.name} +{unit}", "")


def kind_names(struct: str) -> tuple[str, ...]:
    """Every kind that an entry of the layout `struct` can be."""
    named = tuple(kind.name for kind in KINDS if kind.struct == struct)
    always = any(kind.struct == struct and not kind.field for kind in KINDS)
    return named if always else (*named, _plain_name(struct))


@cache
def _plain_name(struct: str) -> str:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", struct.removesuffix("Sqe"))
    return " ".join(words[len(words) > 1 and words[0] == "Ph" :]).lower()


def facts(decoded: Decoded, kind: Kind, name: Namer = no_name, name_offset: Namer = no_name) -> Iterator[str]:
    """The facts of an entry as short texts, for example `blocks 8`; `name` and `name_offset` name addresses."""
    values = decoded.struct.join(decoded.values)
    if kind in KINDS:
        for fact in kind.facts:
            if fact.field in values:
                yield f"{fact.label} {fact.show(values[fact.field], name_offset if fact.offset else name)}"
        return
    others = [(n, v) for n, v in values.items() if _set(v) and n not in HEADER][:MOST_FACTS]
    for field, value in others:
        if isinstance(value, list):
            yield f"{field}[{len(value)}]"
            continue
        yield f"{field} {render_value(decoded.struct.joined.get(field) or decoded.struct.by_name[field], value)}"


def _set(value: int | list[int]) -> bool:
    return any(value) if isinstance(value, list) else bool(value)


def field_texts(decoded: Decoded) -> Iterator[tuple[int, str]]:
    """(first byte, `name=value`) of every named field that is not 0; elements of arrays one by one."""
    struct = decoded.struct
    values: Mapping[str, int | list[int]] = struct.join(decoded.values)
    for name, value in values.items():
        pair = struct.joined.get(name)
        field = pair.low if pair else struct.by_name[name]
        if isinstance(value, list):
            for k, x in enumerate(value):
                if x:
                    yield (field.offset + k * field.width) // 8, f"{name}[{k}]={x:#x}"
        elif value:
            yield field.offset // 8, f"{name}={render_value(pair or field, value)}"
