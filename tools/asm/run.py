"""What `sqemu asm` does, once its options are read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from tools.asm import jsonl, reader
from tools.files import STDIN, Outputs, read_bytes
from tools.given_plugins import make_host
from tools.show import json_line, safe

if TYPE_CHECKING:
    from collections.abc import Sequence


def source_name(path: str) -> str:
    """A file as messages name it."""
    return "standard input" if path == STDIN else safe(path)


def assembled(path: str, family: str | None, without: Sequence[str]) -> bytes:
    """The bytes that the text or the JSON lines of `path` stand for.

    Raises:
        InputError: not readable, not text (`asm.text`), or text that cannot be assembled (`asm.*`).
    """
    raw, source = read_bytes(path), source_name(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise InputError(
            f"is not text: byte {error.start} is not UTF-8", id="asm.text",
            where=f"{source}: line {line}, column {column}",
            remedy="give what `sqemu dump --asm` or `sqemu dump --json` wrote",
        ) from None  # fmt: skip
    registry = make_host(tuple(without)).registry
    if family is not None:
        registry.names(family)
    read = jsonl.assemble if text.lstrip().startswith("{") else reader.assemble
    return read(registry, text, source, family)


def asm(path: str, output: str, family: str | None, without: Sequence[str], *, as_json: bool) -> None:
    """Assemble `path` into `output`, completely or not at all; `-` is standard output."""
    data = assembled(path, family, without)
    if output == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with Outputs(never=(path,)) as files:
        files.write(output, data)
        files.commit()
    if as_json:
        json_line({"output": output, "bytes": len(data)})
    else:
        click.echo(f"{safe(output)}: {len(data)} bytes")
