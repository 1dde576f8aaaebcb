"""The tiling function over a context: what it reads, what it writes, and in which order."""

from __future__ import annotations

import itertools
import struct
from dataclasses import replace

import pytest

from emu_core.tiling import TilingError
from emu_plugins.cgdr.tiling_function import cgdr_tiling_function, debug_line_wanted, tile_context


def test_everything_is_set(make_context):
    """Key, block dim, workspace and the 64 bytes are set, block dim and key before the workspace."""
    context = make_context()
    cgdr_tiling_function(context)
    assert context.calls[:3] == [("block_dim", 8), ("key", 1), ("workspaces", (33554432,))]
    assert context.calls[3][0] == "data"
    assert len(context.result["data"]) == 64


@pytest.mark.parametrize(("desc", "tensor", "shape"), list(itertools.product((False, True), repeat=3)))
def test_gamma_needs_all_three_parts(make_context, desc, tensor, shape):
    """G counts as given only if descriptor, tensor and shape of input 6 are all there."""
    context = make_context(descs={6} if desc else set(), tensors={6} if tensor else set())
    if shape:
        context.shapes[6] = (192, 8)
    assert tile_context(context).has_gamma is (desc and tensor and shape)


def test_scale_defaults_to_one(make_context, fake_attrs):
    """Without a table, with an empty one, and with a null entry the scale is 1."""
    for attrs in (None, fake_attrs(), fake_attrs([None])):
        assert tile_context(make_context(attrs=attrs)).scale_value == 1.0


def test_scale_is_attribute_zero(make_context, fake_attrs):
    """The scale in the tiling data is attribute 0."""
    context = make_context(attrs=fake_attrs([0.25, 3.0]))
    cgdr_tiling_function(context)
    assert struct.unpack_from("<f", context.result["data"], 52) == (0.25,)


def test_storage_shapes_decide(make_context):
    """Dimensions come from storage shapes: T, Hqk, Dk of query, Hv, Dv of value, B of initial_state."""
    context = make_context(shapes={0: (130, 2, 65), 2: (999, 4, 48), 4: (3, 1, 1, 1)})
    dims = tile_context(context).dims
    assert (dims.t, dims.hqk, dims.dk, dims.hv, dims.dv, dims.batch) == (130, 2, 65, 4, 48, 3)


def test_an_axis_that_is_not_there_is_zero(make_context):
    """A shape of too low a rank gives 0 for the missing axis, as the narrowed error value of the shape object does."""
    dims = tile_context(make_context(shapes={0: (130,), 2: (130, 4, 48), 4: (3,)})).dims
    assert (dims.t, dims.hqk, dims.dk) == (130, 0, 0)


def test_cores_fall_back_to_the_other_query(make_context):
    """Vector cores are used; if there are none, the general core count is."""
    context = make_context()
    assert tile_context(context).cores == 8
    context.platform = replace(context.platform, core_num_aiv=0)
    assert tile_context(context).cores == 32


@pytest.mark.parametrize(("index", "name"), [(0, "query"), (2, "value"), (4, "initial_state")])
def test_a_missing_shape_is_an_error(make_context, index, name):
    """Each of the three shapes is required, and the message names it."""
    context = make_context()
    del context.shapes[index]
    with pytest.raises(TilingError, match=name):
        cgdr_tiling_function(context)
    assert context.calls == []


def test_a_missing_platform_is_an_error(make_context):
    """Without platform information there is no tiling."""
    with pytest.raises(TilingError, match="platform"):
        tile_context(make_context(platform=None))


def test_other_inputs_are_not_looked_at(make_context):
    """The tiling reads neither key, beta nor the lengths."""
    context = make_context()
    for index in (1, 3, 5):
        del context.shapes[index]
    assert tile_context(context).block_dim == 8


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [({}, False), ({"CGDR_DEBUG_LOG": ""}, False), ({"CGDR_DEBUG_LOG": "0"}, False), ({"CGDR_DEBUG_LOG": "1"}, True),
     ({"CGDR_DEBUG_LOG": "1x"}, True), ({"CGDR_DEBUG_LOG": "01"}, False)],
)  # fmt: skip
def test_when_the_debug_line_is_wanted(environ, wanted):
    """Only a value that starts with the character 1 asks for the line."""
    assert debug_line_wanted(environ) is wanted


def test_debug_line_goes_to_standard_error(make_context, monkeypatch, capsys):
    """With the variable set, one line appears on standard error and nothing on standard output."""
    monkeypatch.setenv("CGDR_DEBUG_LOG", "1")
    cgdr_tiling_function(make_context())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ChunkGatedDeltaRule tiling: T=192, ")
    assert captured.err.endswith("restBytes=249344\n")


def test_a_failed_tiling_prints_nothing(make_context, monkeypatch, capsys):
    """On failure there is no debug line."""
    monkeypatch.setenv("CGDR_DEBUG_LOG", "1")
    context = make_context()
    context.platform = replace(context.platform, ub_bytes=1000)
    with pytest.raises(TilingError):
        cgdr_tiling_function(context)
    assert capsys.readouterr().err == ""
