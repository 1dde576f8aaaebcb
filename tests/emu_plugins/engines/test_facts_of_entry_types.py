"""Type numbers of entries (`device_semantics.md` 2.3, `sqe_formats.md`) reach the engines they name, and no others."""

from __future__ import annotations

import pytest

V100 = {
    0: "ai_core", 1: "ai_cpu", 3: "place_holder", 4: "event", 5: "event", 6: "notify", 7: "notify", 8: "write_value",
    11: "sdma", 20: "condition",
}  # fmt: skip
V200 = {
    0: "ai_core", 1: "ai_core", 3: "place_holder", 5: "ai_cpu", 6: "notify", 7: "notify", 8: "write_value", 11: "sdma",
    20: "condition",
}  # fmt: skip


@pytest.mark.parametrize(
    ("chip", "engines"), [("ascend910b3", V100), ("ascend310p3", V100), ("ascend950pr_9599", V200)]
)
def test_each_type_number_has_its_engine(queues, chip, engines):
    """Of the 64 type numbers, those of the table are executed; all others have no engine."""
    find = queues(chip=chip).device.dispatch.find
    found = {number: find(bytes([number]) + bytes(63)) for number in range(64)}
    assert {number: handler.engine for number, handler in found.items() if handler} == engines


@pytest.mark.parametrize("number", [12, 13, 14, 15, 16, 17, 19, 63])
def test_a_type_without_an_engine_is_an_sqe_error_that_keeps_its_number(queues, number):
    """Media units, random numbers, network, PCIe, data queues, invalid: bit 3, and who failed stands in the entry."""
    bench = queues()
    stream = bench.stream()
    bench.add(stream, "nop")
    bench.raw(stream, "CommonSqe", type=number)
    bench.run(stream)
    (entry,) = [bench.device.layout("CqeError").parse(raw) for raw in bench.device.cq.drain()]
    expected = {
        "error_bit": 1, "error_type": 8, "sqe_type": number, "sq_id": stream.id, "sq_head": 1, "stream_id": stream.id,
        "task_id": 1, "sqe_index": 1, "sq_sw_status": 0x106,
    }  # fmt: skip
    assert {name: entry[name] for name in expected} == expected
