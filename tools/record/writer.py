"""Writing a run record while the run goes on."""

from __future__ import annotations

import hashlib
import json
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING

from formats.blob import encode
from tools.executions import as_values, patch_values, ring_files, trace_lines
from tools.files import STDIN, read_bytes
from tools.npz import FIRST_DATE
from tools.record import BLOB, FORMAT, MANIFEST, VERSION
from tools.version import VERSION as PRODUCT_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emu_core.model import Model, Result
    from formats.blob import Blob


class RecordWriter:
    """A record being written to `path`; `finish` completes it, `close` leaves it as it is.

    Raises (`OSError`, all of its methods but `close`): there is no room; the file is closed then.
    """

    def __init__(self, path: Path, blob: Blob, program: str) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._blob = blob
        self._program = program
        self._inputs: list[dict[str, object]] = []
        self._put(BLOB, encode(blob))

    def _put(self, name: str, data: bytes) -> None:
        info = zipfile.ZipInfo(name, FIRST_DATE)
        info.compress_type = zipfile.ZIP_DEFLATED
        try:
            self._zip.writestr(info, data)
        except OSError:
            self.close()
            raise

    def add(self, model: Model, result: Result, before: dict[int, bytes], inputs: str | None) -> None:
        """One execution: events, journal, report, rings, and the hash of its input file."""
        folder = f"runs/{len(self._inputs)}"
        self._inputs.append({"file": inputs, "sha256": _hash(inputs)})
        self._put(f"{folder}/trace.jsonl", trace_lines(result.trace))
        entries = (json.dumps(patch_values(entry)) + "\n" for entry in result.patches)
        self._put(f"{folder}/journal.jsonl", "".join(entries).encode())
        values = as_values(result, dict(model.details))
        del values["patches"]
        self._put(f"{folder}/report.json", json.dumps(values).encode())
        for name, data in ring_files(model, before, None):
            self._put(f"{folder}/rings/{name}", data)

    def finish(self, model: Model) -> None:
        """Write the manifest and close the file."""
        policies: Mapping[str, str] = {p.name: model.device.policies[p.name] for p in model.device.policies}
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "sqemu": PRODUCT_VERSION,
            "chip": model.device.chip.name,
            "policies": {**policies, **self._blob.policies},
            "program": {"file": self._program, "sha256": _hash(self._program)},
            "inputs": self._inputs,
            "plugins": [{"name": p.name, "from": p.origin} for p in model.device.host.plugins],
        }
        self._put(MANIFEST, json.dumps(manifest, indent=1).encode())
        self._zip.close()

    def close(self) -> None:
        """Close the file as it is; without its manifest it is no record, so a disk that is full does not matter."""
        with suppress(OSError):
            self._zip.close()


def _hash(path: str | None) -> str | None:
    if path is None or path == STDIN:
        return None
    return hashlib.sha256(read_bytes(path)).hexdigest()
