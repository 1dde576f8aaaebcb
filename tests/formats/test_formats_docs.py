"""`docs/formats.md` says what the code does."""

import re
from pathlib import Path

import pytest

from formats import BUILTIN, blob, define
from formats.blob import layout

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


def table_under(heading):
    """First column of the first table under a heading, without the head."""
    part = DOCS.split(f"### {heading}\n", 1)[1].split("\n### ", 1)[0].split("\n## ", 1)[0]
    rows = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [row.split("|")[1].strip().strip("`") for row in rows]


def test_the_sections_are_listed_in_file_order():
    """The table of sections has the sections of the layout, in order."""
    assert table_under("Sections") == [s.name for s in layout.SECTIONS]


@pytest.mark.parametrize("struct", layout.STRUCTS, ids=lambda s: s.struct_name)
def test_the_record_tables_are_those_of_the_layout(struct):
    """Each record of the blob has a table with its fields, in order."""
    assert table_under(f"`{struct.struct_name}`, {struct.size} bytes") == [f.name for f in struct.named_fields]


def test_every_error_id_is_explained():
    """Each id that the package raises stands in the table of errors."""
    sources = Path(blob.__file__).parents[1].rglob("*.py")
    text = "\n".join(p.read_text(encoding="utf-8") for p in sources)
    raised = set(re.findall(r'"((?:format|blob)\.[a-z0-9-]+)"', text))
    assert raised == set(table_under("Errors"))


def test_the_examples_run():
    """Each Python example of the document runs as it is shown."""
    examples = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    assert len(examples) == 3
    for text in examples:
        exec(compile(text, "docs/formats.md", "exec"), {"define": define})


def test_the_families_are_counted():
    """The table of families states how many structs each has."""
    rows = {row[0]: row[-1] for row in _rows("## Families\n")}
    counts = {f: str(len([s for s in BUILTIN.structs if s.family == f])) for f in BUILTIN.families}
    assert rows["`v100`"] == counts["v100"]
    assert rows["`v200`"] == counts["v200"]
    assert rows["`v201`, `arch9201`"] == f"{counts['v201']}, {counts['arch9201']}"
    assert counts["arch5162"] == "15"
    assert rows["`other`"] == counts["other"]
    assert rows["`blob`"] == counts["blob"]


def _rows(heading):
    part = DOCS.split(heading, 1)[1].split("\n#", 1)[0]
    return [[c.strip() for c in row.strip("|").split("|")] for row in part.splitlines() if row.startswith("|")][2:]
