"""Records of the probe and of ChunkGatedDeltaRule, their pages, and a reader of what a page embeds."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from formats.blob import TaskType, decode, encode
from tools import cli

PROBE = {
    "format": "sqemu-graph",
    "version": 1,
    "name": "probe",
    "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [
        {"name": "x", "dtype": "float32", "shape": [40]},
        {"name": "n", "dtype": "int32", "shape": [1]},
    ],
    "nodes": [{"name": "probe0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
    "outputs": ["y"],
}


def call(*arguments, code=0):
    """Run the command in this process and hold its exit code."""
    with pytest.raises(SystemExit) as stopped:
        cli.main([str(each) for each in arguments])
    assert (stopped.value.code or 0) == code


class Reader(HTMLParser):
    """Elements of a page: (name, attributes) of each, text by element name, and whether all that opened was closed."""

    EMPTY = frozenset({"meta", "input", "br"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self._open = [], {}, []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Keep an element without an end."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        """Hold that the innermost element ends."""
        assert self._open.pop() == tag

    def handle_data(self, data):
        """Keep text by its element."""
        for tag in self._open[-1:]:
            self.texts.setdefault(tag, []).append(data)

    @property
    def text(self):
        """All text that is shown."""
        return " ".join(t for tag, ts in self.texts.items() if tag not in {"script", "style"} for t in ts)


class Page:
    """A page that was made: its text, elements, and embedded data."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        self.text = self.bytes.decode()
        self.read = Reader(self.text)
        self.data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', self.text)[1])

    def word(self, number):
        """A text by its number."""
        return self.data["strings"][number]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with records."""
    made = tmp_path_factory.mktemp("pages")
    (made / "probe.json").write_text(json.dumps(PROBE))
    for n in (3, 5):
        np.savez(made / f"in{n}.npz", x=np.arange(40, dtype="f4"), n=np.array([n], "i4"))
    three, five = ("--inputs", made / "in3.npz"), ("--inputs", made / "in5.npz")
    graph = made / "probe.json"
    call("run", graph, *three, *five, "--record", made / "a.sqr", "--trace", made / "a.jsonl")
    call("run", graph, *three, *five, "--tiling", "host", "--record", made / "host.sqr")
    call("run", graph, *three, "--record", made / "one.sqr")
    call("run", graph, *three, "--policy", "nop_count=0", "--record", made / "stale.sqr", code=1)
    call("compile", graph, "-o", made / "p.sqt", "--online")
    blob = decode((made / "p.sqt").read_bytes())
    left = tuple(task for task in blob.tasks if task.type != TaskType.EVENT_RECORD)
    (made / "dead.sqt").write_bytes(encode(replace(blob, tasks=left)))
    call("run", made / "dead.sqt", *three, "--record", made / "dead.sqr", code=1)
    return made


@pytest.fixture(scope="session")
def page_of(folder):
    """Make the page of a record of the folder, once for each way it is called."""
    made = {}

    def page(name, *more):
        if (name, *more) not in made:
            target = folder / f"{len(made)}.html"
            words = [word.replace("FOLDER", str(folder)) for word in more]
            call("report", folder / name, "-o", target, *words)
            made[name, *more] = Page(target)
        return made[name, *more]

    return page


@pytest.fixture
def page_at():
    """Read the page in a file."""
    return Page


@pytest.fixture
def changed(folder, tmp_path):
    """A copy of a record in which text of its members is replaced; the blob stays as it is."""

    def change(name, *pairs):
        copy = io.BytesIO()
        with zipfile.ZipFile(folder / name) as old, zipfile.ZipFile(copy, "w") as new:
            for member in old.namelist():
                data = old.read(member)
                if member.endswith((".json", ".jsonl")):
                    for before, after in pairs:
                        data = data.replace(before.encode(), after.encode())
                new.writestr(member, data)
        target = tmp_path / "changed.sqr"
        target.write_bytes(copy.getvalue())
        return target

    return change
