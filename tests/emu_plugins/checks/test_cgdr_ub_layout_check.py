"""The UB layout of ChunkGatedDeltaRule as a check of a program."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.api import compile_graph
from emu_core.graph import CompileOptions
from emu_plugins.cgdr.tiling_data import CgdrTilingData


def graph(dk, dv, nodes=1):
    """`nodes` equal operators on the same inputs, two heads, 66 tokens."""
    shapes = {
        "query": [66, 2, dk], "key": [66, 2, dk], "value": [66, 2, dv], "beta": [66, 2],
        "initial_state": [1, 2, dv, dk],
    }  # fmt: skip
    inputs = [{"name": name, "dtype": "float16", "shape": shape} for name, shape in shapes.items()]
    inputs.append({"name": "lengths", "dtype": "int32", "shape": [1]})
    return {
        "format": "sqemu-graph", "version": 1, "name": "c", "inputs": inputs,
        "nodes": [
            {
                "name": f"c{i}", "type": "ChunkGatedDeltaRule", "inputs": [*(each["name"] for each in inputs), None],
                "outputs": [f"o{i}", f"s{i}"],
            }
            for i in range(nodes)
        ],
        "outputs": [name for i in range(nodes) for name in (f"o{i}", f"s{i}")],
    }  # fmt: skip


@pytest.fixture
def compiled(host):
    """A program of one shape."""
    return lambda dk, dv, chip="ascend310p3", nodes=1: compile_graph(
        graph(dk, dv, nodes), chip, CompileOptions(offline=False), host
    )


def about_ub(found):
    """Level and text of the findings of this check."""
    return [(each.level.value, each.where, each.what) for each in found if each.id.startswith("check.ub")]


def test_a_layout_that_holds(compiled, findings):
    """Out queue 12800 and buffers 125312 make 138112 of 262144 bytes."""
    found = about_ub(findings(compiled(80, 80), full=True))
    assert found == [("info", "operator c0", "UB layout holds: 138112 of 262144 bytes")]


def test_equal_operators_are_told_once(compiled, findings):
    """Two operators of one tiling give one note."""
    assert len(about_ub(findings(compiled(16, 16, nodes=2), full=True))) == 1


def test_a_program_without_it(probe, findings):
    """Other programs get no word."""
    assert about_ub(findings(probe(), full=True)) == []


def test_the_vector_path_of_a_910b(compiled, findings):
    """128 wide heads with V steps of 80 on 196608 bytes: out queue 20480, buffers 165632."""
    found = about_ub(findings(compiled(128, 128, chip="ascend910b3"), full=True))
    assert found == [("info", "operator c0", "UB layout holds: 186112 of 196608 bytes")]


def test_a_key_of_a_wider_instance(compiled, findings):
    """The 96-wide instance cuts wider buffers than the tiling for 80 left room for."""
    blob = compiled(80, 80)
    made = replace(blob, ops=(replace(blob.ops[0], tiling_key=2),))
    data = CgdrTilingData.unpack(blob.ops[0].tiling_data)
    found = about_ub(findings(made, full=True))
    # 96-wide K rows and 80-wide V rows: the queue is 2 * 96 * 80 bytes.
    assert data.ub_bytes - data.rest_bytes == 12800
    assert found == [
        ("error", "operator c0", "UB layout: the out queue takes 15360 bytes, the tiling data leave 12800")
    ]


def test_a_chip_with_less_ub(compiled, findings, host):
    """The last buffer passes the end of a UB of 138000 bytes by 112."""
    chip = replace(host.chip("ascend310p3"), ub_bytes=138000)
    found = about_ub(findings(compiled(80, 80), chip=chip, full=True))
    assert (
        "error",
        "operator c0",
        "UB layout: beta [137856, 138112) passes the end of UB at 138000 by 112 bytes",
    ) in found


def test_defect_d3_is_an_overlap(compiled, findings):
    """With D3 on, the inverse's scratch over the scores is an error that names both."""
    found = about_ub(findings(compiled(64, 64), full=True, **{"cgdr.defects": "D3"}))
    assert [level for level, _, _ in found] == ["error"]
    assert "scores/state: scores [73728, 90112)" in found[0][2]
    assert "chunkV: inverse product [73728, 77824)" in found[0][2]


def test_many_heads_cost_nothing(compiled, findings):
    """A tiling of a million heads is tried out with one of them."""
    blob = compiled(16, 16)
    raw = bytearray(blob.ops[0].tiling_data)
    raw[24:28] = (1 << 20).to_bytes(4, "little")
    made = replace(blob, ops=(replace(blob.ops[0], tiling_data=bytes(raw)),))
    assert about_ub(findings(made, full=True)) == [("info", "operator c0", "UB layout holds: 107776 of 262144 bytes")]
