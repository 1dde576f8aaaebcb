"""An offline model on the command line: for which chip, and what has to be said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.errors import PluginError
from emu_plugins.om.program import program_of_om
from emu_plugins.om.reader import read_om
from formats import FormatError
from tools.files import input_name
from tools.say import say

if TYPE_CHECKING:
    from emu_core.plugins import PluginHost
    from emu_plugins.om.reader import OmFile
    from formats.blob import Blob
    from formats.buffers import Buffer
    from tools.program import Wanted


def read_file(path: str, data: Buffer) -> OmFile:
    """The offline model in `data`, which `path` held; errors name the file.

    Raises:
        FormatError: ids that begin with `om.`. PluginError: `extra.missing`.
    """
    try:
        return read_om(data)
    except FormatError as error:
        raise _located(path, error) from None
    except PluginError as error:
        raise PluginError(error.what, id=error.id, where=input_name(path), remedy=error.remedy) from None


def _located(path: str, error: FormatError) -> FormatError:
    where = f"{input_name(path)}: {error.where}"
    return FormatError(error.what, id=error.id, where=where, remedy=error.remedy, offset=error.offset)


def om_blob(path: str, data: Buffer, wanted: Wanted, host: PluginHost) -> Blob:
    """The offline model in `data` as a task blob; what a reader should know goes to standard error.

    Raises:
        FormatError, PluginError: as `read_file` and `program_of_om`. InputError: an unknown chip.
    """
    file = read_file(path, data)
    chip, remark = _chip(file, wanted.chip, host)
    try:
        made = program_of_om(file, host.chip(chip), host)
    except FormatError as error:
        raise _located(path, error) from None
    for note in (*remark, *made.notes):
        if wanted.warn:
            say(f"warning: {input_name(path)}: {note}")
    return made.blob


def _chip(file: OmFile, asked: str, host: PluginHost) -> tuple[str, tuple[str, ...]]:
    """The chip that was asked for, else the model's own if it is known here; with a remark where they differ."""
    own = next((soc for model in file.models if isinstance(soc := model.attrs.get("soc_version"), str)), "")
    if not explicit_chip() and own.lower() in host.chips:
        return own.lower(), ()
    if not own or own.lower() == asked.lower():
        return asked, ()
    why = "as --chip says" if explicit_chip() else f"since there is no chip {own} here"
    return asked, (f"the model was compiled for {own}; it is taken for {asked}, {why}",)


def explicit_chip() -> bool:
    """Whether the user named a chip."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source("chip") is click.core.ParameterSource.COMMANDLINE
