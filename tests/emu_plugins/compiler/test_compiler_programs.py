"""Whatever is compiled is a program that the checks find nothing wrong with, and that orders all of its data."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.checks import Level, references
from emu_core.limits import entries_of
from emu_plugins.checks.events import events
from emu_plugins.checks.races import races
from emu_plugins.checks.sink import sink_sequences

NODES = st.lists(
    st.tuples(
        st.sampled_from(["Relu", "Probe", "CustomProbe", "LensInt"]),
        st.sampled_from(["", "", "one", "two"]),
        st.integers(0, 20),
        st.integers(0, 20),
        st.booleans(),
        st.sampled_from([False] * 9 + [True]),
    ),
    min_size=1,
    max_size=12,
)


def graph_of(lab, shape):
    """A graph in which each node reads some tensor computed before, and its value some int computed before."""
    tensors, ints, nodes = ["x"], ["lens", "fixed"], []
    for i, (type_, label, tensor, value, fused, forced) in enumerate(shape):
        inputs = [tensors[tensor % len(tensors)]]
        if "Probe" in type_:
            inputs += [ints[value % len(ints)], None]
        attrs = {**({"_stream_label": label} if label else {}), **({"_super_kernel_scope": "sk"} if fused else {})}
        attrs |= {"_force_unknown_shape": True} if forced else {}
        nodes.append(lab.node(f"n{i}", type_, inputs, **attrs))
        (ints if type_ == "LensInt" else tensors).append(f"n{i}_out")
    return lab.graph(*nodes, outputs=[f"n{i}_out" for i in range(len(nodes))])


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=NODES,
    room=st.sampled_from([40, 50, 2013]),
    join=st.sampled_from(["needed", "always"]),
)
def test_programs_are_well_formed(lab, shape, room, join):
    """Whatever labels, sinks, fusion and host parts there are: waits pass, reads are ordered, streams fit."""
    lab.host.operators["Probe"] = replace(lab.host.operators["Probe"], infer=lab.host.operators["Relu"].infer)
    chip = replace(lab.chip, usable_tasks=room + 27)
    blob = lab.compile(graph_of(lab, shape), chip=chip, policies={"nop_count": "2", "end_join": join}).blob
    found = [*references(blob), *events(blob, chip, None, None), *races(blob, chip, None, None)]
    found += sink_sequences(blob, chip, None, None)
    assert [f.text() for f in found if f.level is not Level.INFO] == []
    for stream in blob.streams:
        assert sum(entries_of(t) for t in blob.tasks if t.stream_id == stream.id) <= room + 27
