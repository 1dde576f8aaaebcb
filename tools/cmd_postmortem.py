"""`sqemu postmortem`: which task failed first in logs of host and device, and what only followed."""

from __future__ import annotations

import click

from tools.options import debug_option, json_option, plugin_option


@click.command("postmortem")
@click.argument("logs", nargs=-1, required=True, metavar="LOG|DIR...")
@click.option(
    "--replay", metavar="FILE.sqr", help="Load the captured entries into a device, run it, write a run record."
)
@click.option("--chip", metavar="NAME", help="Chip that the logs are of; --replay needs one, else it is guessed.")
@click.option("--family", metavar="NAME", help="Family of the entries, for example v100; else guessed.")
@plugin_option
@json_option
@debug_option
def command(
    logs: tuple[str, ...],
    replay: str | None,
    chip: str | None,
    family: str | None,
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Read firmware and host logs (plain, gzip, folders) and say which stream, task and kernel failed first, what its
    entry and cores say, what only followed, and what ran out or timed out; each statement marked as sure or inferred.

    Lines of other programs and unknown lines are passed over.
    """  # noqa: D205 - the first paragraph is what `--help` shows
    from tools.postmortem.run import Asked, postmortem  # noqa: PLC0415 - `--help` stays quick

    return postmortem(Asked(logs=logs, replay=replay, chip=chip, family=family, as_json=as_json, without=without))
