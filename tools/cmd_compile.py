"""`sqemu compile`: graph to task blob."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from formats.blob import TaskType, encode
from tools.explain_compile import explain_as_json, explain_as_text, write_passes
from tools.explain_execution import execution_as_json, execution_as_text
from tools.files import Outputs, read_bytes
from tools.given_plugins import make_host
from tools.options import (
    chip_option,
    compile_options,
    debug_option,
    json_option,
    pairs,
    plugin_option,
    policy_option,
    split_policies,
)
from tools.program import Wanted, compile_text
from tools.runtime_options import V2, runtime_option, sink_flag, tiling_option, with_runtime
from tools.show import json_line
from tools.stacked import paragraph

if TYPE_CHECKING:
    from emu_core.graph import Compiled
    from formats.blob import Blob


@click.command("compile")
@click.argument("graph")
@click.option("-o", "--output", required=True, metavar="BLOB", help="Task blob to write.")
@click.option("--explain", is_flag=True, help="Say what each pass decided for each node, and show its tasks.")
@click.option("--dump-passes", metavar="DIR", help="Write the graph after each pass as a JSON file into DIR.")
@chip_option
@runtime_option
@tiling_option
@compile_options
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    graph: str,
    output: str,
    explain: bool,
    dump_passes: str | None,
    chip: str,
    runtime: str | None,
    tiling: str | None,
    ge_options: tuple[str, ...],
    tiling_schedule_optimize: str | None,
    online: bool | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compile GRAPH (JSON, ONNX or GE text, told by content; `-`: standard input) into a task blob.

    The build is offline unless --online or the graph's ge.buildGraphMode says otherwise. The blob is the same for
    every runtime; with --runtime v2, --explain also shows the execution graph.
    """
    host = make_host(without)
    details = explain or dump_passes is not None
    asked = with_runtime(policies, runtime)
    flag = sink_flag(tiling, tiling_schedule_optimize)
    wanted = Wanted(chip, ge_options, flag, online, asked, details=details)
    compile_time, rest = split_policies(host, pairs(policies, "--policy"))
    if rest:
        names = ", ".join(sorted(rest))
        raise click.UsageError(f"--policy {names}: decided when the blob is loaded or run; give it to `sqemu run`")
    compiled = compile_text(graph, read_bytes(graph), wanted, host, compile_time)
    data = encode(compiled.blob)
    with Outputs(never=(graph,)) as outputs:
        outputs.write(output, data)
        if dump_passes is not None:
            write_passes(compiled, dump_passes, outputs)
        outputs.commit()
    _report(compiled, output, len(data), explain=explain, as_json=as_json)
    if explain and runtime == V2:
        (execution_as_json if as_json else execution_as_text)(compiled.blob, host)


def _report(compiled: Compiled, output: str, size: int, *, explain: bool, as_json: bool) -> None:
    blob = compiled.blob
    if as_json:
        json_line({"blob": output, "bytes": size, "chip": blob.chip, "name": blob.name, **_counts(blob)})
        if explain:
            explain_as_json(compiled)
        return
    counts = ", ".join(
        f"{n} {what.removesuffix('s') if n == 1 else what}" for what, n in _counts(blob).items() if type(n) is int
    )
    counts += ", host scheduled" if blob.unknown_shape else ""
    paragraph(f"{output}: {size} bytes for {blob.chip}: {counts}", others="  ")
    if explain:
        explain_as_text(compiled)


def _counts(blob: Blob) -> dict[str, object]:
    kernels = sum(t.kernel is not None or t.type == TaskType.SUPER_KERNEL for t in blob.tasks)
    return {
        "tasks": len(blob.tasks),
        "streams": len(blob.streams),
        "events": len(blob.events),
        "operators": len(blob.ops),
        "kernel tasks": kernels,
        "sinking operators": sum(op.sink for op in blob.ops),
        "host scheduled": blob.unknown_shape,
    }
