"""`sqemu plugins`: `list` what was found, `new` writes a package, `check` runs the conformance kit on a plugin."""

from __future__ import annotations

import click

from tools.options import chip_option, debug_option, json_option, plugin_option, policy_option


@click.group("plugins")
def command() -> None:
    """List plugins, write a new one, check one."""


@command.command("list")
@plugin_option
@json_option
@debug_option
def list_plugins(without: tuple[str, ...], as_json: bool) -> None:
    """List plugins in the order in which they were loaded: milliseconds it took, where from, hooks, what is wrong.

    Below: who is asked first for the one answer of a hook. The first plugin that imports a module pays for it alone.
    """
    from tools.plugin_list import show  # noqa: PLC0415 - `--help` stays quick

    show(without, as_json=as_json)


@command.command("new")
@click.argument("folder", metavar="DIR")
@click.option("--name", required=True, metavar="WORD", help="Name of the plugin; the others follow from it.")
@click.option("--package", default="", metavar="NAME", help="Python package; sqemu_NAME.")
@click.option("--distribution", default="", metavar="NAME", help="Name for pip; as the package, with -.")
@click.option("--chip", default="", metavar="NAME", help="Name of the chip; NAME-one.")
@click.option("--family", default="", metavar="NAME", help="Family of its queue entries; as the name.")
@json_option
@debug_option
def new(folder: str, name: str, package: str, distribution: str, chip: str, family: str, as_json: bool) -> None:
    """Write a package into DIR: a chip, entries, two engines and tests. Nothing is overwritten."""
    from tools.plugin_new.names import names  # noqa: PLC0415
    from tools.plugin_new.write import write  # noqa: PLC0415
    from tools.show import json_line, safe  # noqa: PLC0415

    found = names(name, package=package, distribution=distribution, chip=chip, family=family)
    for path in write(folder, found):
        if as_json:
            json_line({"file": f"{folder}/{path}"})
        else:
            click.echo(safe(f"{folder}/{path}"))
    if not as_json:
        click.echo(safe(f"next: pip install -e {folder} && sqemu plugins check {found.plugin}"))


@command.command("check")
@click.argument("name")
@click.option("--program", metavar="PROGRAM", help="A graph or task blob to run as well, on --chip.")
@click.option("--inputs", multiple=True, metavar="IN.npz", help="Its inputs; each file is one execution.")
@chip_option
@policy_option
@plugin_option
@json_option
@debug_option
def check(
    name: str,
    program: str | None,
    inputs: tuple[str, ...],
    chip: str,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Check whether plugin NAME keeps the contracts: layouts, chips, policies, texts, two equal runs, snapshots.

    Exit code 1 says that something is wrong.
    """
    from tools.plugin_check import run  # noqa: PLC0415

    return run(name, without, program, inputs, chip, policies, as_json=as_json)
