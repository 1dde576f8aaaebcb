"""`sqemu trace sql`: tables, what may be asked, and what may not."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from emu_core.trace import Patched
from tools.trace.database import TABLES, database
from tools.trace.source import RecordedRun


def ask(sqemu, file, statement):
    """The rows of a statement as objects."""
    found = sqemu("trace", "sql", file, statement, "--json")
    assert found.code == 0, found.err
    return found.objects


class TestTables:
    def test_tasks(self, sqemu, record):
        """Five NOPs of 100 ns in each execution."""
        rows = ask(sqemu, record, "select run, count(*) n, sum(busy) ns from tasks where kind = 'nop' group by run")
        assert rows == [{"run": 0, "n": 5, "ns": 500}, {"run": 1, "n": 5, "ns": 500}]

    def test_events_and_json(self, sqemu, record):
        """Fields that have no column of their own are in `data`."""
        rows = ask(sqemu, record, "select json_extract(data, '$.signal') s, time from events where event = 'task.wait'"
                   " and run = 0 order by n")  # fmt: skip
        assert rows == [{"s": "event 0", "time": 1000}, {"s": "notify 0", "time": 1000}]

    def test_patches_join_tasks(self, sqemu, record):
        """The kernel of the second execution started 1100 ns after its patch: record 500, reset 100, 5 NOPs."""
        rows = ask(sqemu, record, "select t.started - p.time late from patches p join tasks t on t.run = p.run and"
                   " t.stream = p.stream and t.task = p.task where p.field = 'block_dim' and p.run = 1")  # fmt: skip
        assert rows == [{"late": 1100}]

    def test_faults_and_hazards(self, sqemu, stale):
        """Failures and hazards have tables of their own."""
        assert [row["id"] for row in ask(sqemu, stale, "select id from faults order by time, stream")] == [
            "kernel.placeholder-block-dim", "model.failed",
        ]  # fmt: skip
        (hazard,) = ask(sqemu, stale, "select id, stream, task from hazards")
        assert hazard == {"id": "hazard.stale-prefetch", "stream": 0, "task": 2}

    def test_one_execution(self, sqemu, record):
        """--run leaves the others out."""
        found = sqemu("trace", "sql", record, "select distinct run from tasks", "--run", "1", "--json")
        assert found.objects == [{"run": 1}]

    def test_large_values(self):
        """A value beyond 63 bits is kept as text."""
        patch = Patched(
            time=1, run=1, stream=0, slot=0, task=0, struct="S", field="f", bit_offset=0, bit_width=64, before=0,
            after=2**64 - 1, writer_stream=1, writer_task=1, engine="e",
        )  # fmt: skip
        with closing(database([RecordedRun(0, 1, (patch,))])) as made:
            assert made.execute("select after from patches").fetchall() == [(str(2**64 - 1),)]

    def test_listing(self, sqemu, record):
        """Without a statement the tables and columns are listed."""
        assert [row["table"] for row in sqemu("trace", "sql", record, "--json").objects] == [t.name for t in TABLES]
        found = sqemu("trace", "sql", record)
        assert "waits_since" in found.out
        assert max(map(len, found.out.splitlines())) <= 80

    def test_table_for_people(self, sqemu, record):
        """Rows come as a table, nulls as nothing, bytes in hex, with their number below."""
        found = sqemu("trace", "sql", record, "select 1 a, null b, x'0aff' c")
        assert found.out.split() == ["a", "b", "c", "-", "-", "-------", "1", "x'0aff'", "1", "row"]

    def test_more_rows_than_people_read(self, sqemu, record):
        """People get the first 1000 rows; programs all."""
        count = "with recursive k(i) as (select 1 union all select i + 1 from k where i < 1500) select i from k"
        assert "1000 rows, the first 1000 of more" in sqemu("trace", "sql", record, count).out
        assert len(ask(sqemu, record, count)) == 1500


class TestReadOnly:
    @pytest.mark.parametrize(
        "statement",
        [
            "delete from tasks", "drop table tasks", "insert into faults(id) values ('x')", "create table x (a)",
            "attach 'x.db' as x", "pragma writable_schema = on", "vacuum into 'x.db'", "select load_extension('x')",
            "update tasks set kind = ''", "begin",
        ],
    )  # fmt: skip
    def test_writing_is_refused(self, sqemu, record, statement, tmp_path, monkeypatch):
        """Whatever is no reading is refused, and leaves no file."""
        monkeypatch.chdir(tmp_path)
        found = sqemu("trace", "sql", record, statement, "--json")
        assert (found.code, found.error["error"]) == (2, "trace.sql")
        assert "only statements that read are allowed" in found.error["what"]
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("statement", ["selec 1", "select nope from tasks", "select 1; select 2", "select '", "\0"])
    def test_mistakes(self, sqemu, record, statement):
        """A mistake is told in the words of the database, with where to find the columns."""
        found = sqemu("trace", "sql", record, statement, "--json")
        assert (found.code, found.error["error"]) == (2, "trace.sql")
        assert "lists the tables" in found.error["remedy"]

    def test_nothing_selected(self, sqemu, record):
        """A statement of comments alone selects nothing."""
        assert sqemu("trace", "sql", record, "/* nothing */").out == "the statement selects nothing\n"

    def test_interruption(self, monkeypatch):
        """An interruption while the database works ends the command as one."""
        from tools.trace import database as module

        def interrupted(_runs):
            made = sqlite3.connect(":memory:")
            made.set_progress_handler(lambda: 1, 1)
            return made

        monkeypatch.setattr(module, "database", interrupted)
        with pytest.raises(KeyboardInterrupt):
            module.show_sql([], "with recursive k(i) as (select 1 union all select i + 1 from k) select max(i) from k",
                            as_json=False)  # fmt: skip


def test_every_row_has_its_columns(record):
    """Each table gives rows as wide as its columns, and `data` is JSON."""
    from tools.trace.source import read_recording

    for run in read_recording(str(record)).runs:
        for table in TABLES:
            rows = list(table.rows(run))
            assert all(len(row) == len(table.columns) for row in rows)
            if table.name == "events":
                assert all(isinstance(json.loads(row[-1]), dict) for row in rows)
