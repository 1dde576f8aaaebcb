"""What `sqemu plugins check` does: the conformance kit on one plugin, with a program of the user if there is one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from emu_core.conformance import Outcome, Program, check_plugin
from emu_core.device import Device
from emu_core.errors import OptionError
from emu_core.snapshot.session import Executions
from tools.given_plugins import make_host
from tools.npz import NpzArrays
from tools.program import Wanted, load_program
from tools.show import columns, json_line, safe
from tools.stacked import wrapped

if TYPE_CHECKING:
    from emu_core.conformance import Verdict
    from emu_core.plugins import PluginHost
    from emu_core.snapshot.session import Session
    from formats.blob import Blob
    from tools.npz import Array

STEPS = 5
"""Steps of the user's program before the snapshot."""


def run(
    name: str,
    without: tuple[str, ...],
    program: str | None,
    inputs: tuple[str, ...],
    chip: str,
    policies: tuple[str, ...],
    *,
    as_json: bool,
) -> int:
    """Check and print; 1 when something is wrong."""
    host = make_host(without)
    if inputs and program is None:
        raise OptionError("--inputs are those of --program", id="plugins.inputs", remedy="give --program, too")
    programs = () if program is None else (_program(program, inputs, chip, policies, host),)
    verdicts = check_plugin(host, _known(host, name), programs)
    for verdict in verdicts:
        _show(verdict, as_json=as_json)
    return int(any(verdict.outcome is Outcome.FAILED for verdict in verdicts))


def _known(host: PluginHost, name: str) -> str:
    """The plugin called `name`, or the given one whose package ends with it: `edu` is `sqemu_edu` when it was given."""
    names = [plugin.name for plugin in host.plugins]
    return name if name in names else next((each for each in names if each.endswith(f"_{name}")), name)


def _program(path: str, inputs: tuple[str, ...], chip: str, policies: tuple[str, ...], host: PluginHost) -> Program:
    loaded = load_program(path, Wanted(chip, policies=policies), host)
    arrays = [dict(NpzArrays(each)) for each in inputs]
    return Program(path, partial(_made, loaded.blob, loaded.policies, arrays), before=STEPS, after=1_000_000)


def _made(
    blob: Blob, policies: dict[str, str], arrays: list[dict[str, Array]], host: PluginHost
) -> tuple[Device, Session]:
    device = Device(blob.chip, policies, host)
    return device, Executions(device.load(blob), arrays)


def _show(verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        values = {"outcome": str(verdict.outcome), "looked_at": verdict.looked_at, "wrong": list(verdict.wrong)}
        json_line({"check": verdict.check, **values})
        return
    click.echo(f"{verdict.outcome:<8} {verdict.check:<14} {verdict.looked_at} looked at")
    for text in verdict.wrong:
        click.echo("\n".join(wrapped(safe(text), columns(), first="  ", others="    ")))
