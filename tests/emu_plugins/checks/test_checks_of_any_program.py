"""Whatever a blob holds, checking it gives findings and never an exception."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.checks import Finding, run_checks
from emu_core.policies import PolicySet
from formats.blob import (
    BLOCK_DIM_PLACEHOLDER,
    Blob,
    BlobEvent,
    BlobKernel,
    BlobOp,
    BlobStream,
    BlobTask,
    BlobTensor,
    TensorRole,
)
from formats.blob import TaskType as Type

STREAMS, EVENTS, OPS, TENSORS = 3, 3, 2, 3
NO = st.none()

tasks = st.builds(
    BlobTask,
    type=st.sampled_from([*(int(kind) for kind in Type), 77]),
    stream_id=st.integers(0, STREAMS - 1),
    event_id=NO | st.integers(0, EVENTS - 1),
    op=NO | st.integers(0, OPS - 1),
    kernel=NO | st.just(0),
    block_dim=st.sampled_from([0, 1, BLOCK_DIM_PLACEHOLDER]),
    args_format=st.sampled_from(["", "{ws0*}{tiling_context.tiling_data}", "{", "{i0*}"]),
    node=st.sampled_from(["", "a", "b"]),
)
ops = st.builds(
    BlobOp,
    name=st.sampled_from(["a", "b"]),
    type=st.sampled_from(["TilingProbe", "Nothing"]),
    inputs=st.tuples(NO | st.integers(0, TENSORS - 1), NO | st.integers(0, TENSORS - 1)),
    outputs=st.tuples(st.integers(0, TENSORS - 1)),
    depends=st.sampled_from([(), (0,), (0, 1)]),
    sink=st.booleans(),
)
blobs = st.builds(
    Blob,
    chip=st.sampled_from(["ascend310p3", "ascend910b3", "elsewhere"]),
    name=st.just("any"),
    unknown_shape=st.booleans(),
    streams=st.just(tuple(BlobStream(i, f"s{i}") for i in range(STREAMS))),
    events=st.just(tuple(BlobEvent(i, f"e{i}") for i in range(EVENTS))),
    tasks=st.lists(tasks, max_size=14).map(tuple),
    ops=st.tuples(ops, ops),
    tensors=st.just(tuple(BlobTensor(f"t{i}", 0, (1,), TensorRole.INTERMEDIATE, 4) for i in range(TENSORS))),
    kernels=st.just((BlobKernel("nobody", 0, (0, 1)),)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(blobs, st.sampled_from(["on", "off"]), st.sampled_from(["seed", "0", "4096"]))
def test_any_program_can_be_checked(host, blob, reset, depth):
    """Findings with a sentence, a place and an id, in the same order every time."""
    chip = host.chip("ascend310p3")
    policies = PolicySet(host.policy_specs, {"wait_reset": reset, "prefetch_depth": depth})
    found = list(run_checks(blob, chip, policies, host))
    assert all(isinstance(f, Finding) and f.id and f.where and f.what for _, all_ in found for f in all_)
    assert found == list(run_checks(blob, chip, policies, host))
