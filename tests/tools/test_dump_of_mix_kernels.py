"""`sqemu dump` of a program with a mix kernel leads from its entry, and from its update, to the context."""

from __future__ import annotations

import json

import pytest

from tools import cli

GRAPH = {
    "format": "sqemu-graph", "version": 1, "name": "mix", "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "mix0", "type": "MixProbe", "inputs": ["x", "n"], "outputs": ["y"]}], "outputs": ["y"],
}  # fmt: skip


@pytest.fixture
def dumped(tmp_path, capsys):
    """What `sqemu dump --sqes --fields` of the compiled graph prints."""
    graph, blob = tmp_path / "g.json", tmp_path / "g.sqt"
    graph.write_text(json.dumps(GRAPH))

    def run(*args):
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(a) for a in args])
        assert not stopped.value.code
        return capsys.readouterr().out

    run("compile", graph, "--chip", "ascend910b3", "-o", blob)
    return lambda *args: run("dump", blob, "--sqes", "--fields", *args)


def test_the_entry_leads_to_its_context(dumped):
    """The FFTS+ entry of slot 10: its sub type by name, and the fields of the context behind it."""
    lines = dumped("--stream", "0", "--range", "10:11").splitlines()
    assert any("sub_type" in line and "6 (MIX_AIC)" in line for line in lines)
    (context,) = [line for line in lines if line.startswith("> context 0 at 0x1240")]
    assert "context_type=6 (MIX_AIC)" in context
    assert "tail_block_dim=65535" in context
    assert "tail_block_ratio_n=2" in context


def test_the_update_leads_to_the_context_of_its_target(dumped):
    """Its descriptor offset is read as one, and the rows of the tiling table tell their mix types."""
    lines = dumped("--stream", "1", "--range", "1:2").splitlines()
    (context,) = [line for line in lines if line.startswith("> context of the target at 0x")]
    assert "context_type=6 (MIX_AIC)" in context
    rows = [line for line in lines if line.startswith("> tiling table row")]
    assert [row.partition("mix_type=")[2][:1] for row in rows] == ["3", "3", "2", "4", "1"]
