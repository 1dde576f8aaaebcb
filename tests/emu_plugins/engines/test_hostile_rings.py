"""Rings full of anything: a run ends, with faults or without, and nothing else happens.

Every entry is 64 bytes of one of three kinds: noise of a given type; a layout of the family with fields that make
sense (addresses that exist, ids of streams, sizes at the edges); a condition program of random instructions.
"""

from __future__ import annotations

import builtins
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.errors import DeviceFault, EmulatorBug, SqemuError
from emu_core.model import Model
from emu_core.plugins import PluginHost
from emu_core.trace import Trace
from formats.cond_isa import assemble

CHIPS = ("ascend910b3", "ascend310p3", "ascend950pr_9599")
STREAMS, ENTRIES, ROOM = 4, 12, 4096
LONG = 200
"""NOPs before the entries of some queues: enough to run ahead of single steps."""
CLOCK_STEPS = 100_000
"""Far more than these rings need within their 500 condition steps."""
POLICIES = {
    "condition_steps": ["500"],
    "nop_model": ["window", "latency", "both"],
    "stale_prefetch": ["execute_copy", "fault", "refetch"],
    "failure_mode": ["continue", "stop"],
    "completion_reader": ["prompt", "round_trip"],
    "absent_hardware": ["complete", "fault"],
    "uninitialised_read": ["hazard", "fault", "ignore"],
    "schem_batch_overflow": ["never_start", "error"],
    "event_wait_timeout_s": ["0", "1"],
    "update_bad_target": ["fault", "keep_old"],
    "update_unknown_key": ["fault", "keep_old"],
    "update_after_consume": ["hazard", "fault"],
    "context_preload": ["start", "with_sqe"],
}
LIKELY_TYPES = (0, 1, 3, 3, 3, 4, 5, 6, 7, 8, 11, 20, 20)
OPCODES = (0x00, 0x71, 0x05, 0x12, 0x63, 0x84, 0x06, 0x3F, 0x91)
LOW, HIGH = "_low", "_high"
TEXTS = (
    "addi r1, r1, 1", "ld r1, [{at:#x}]", "ldr r2, [r3 + 8]", "sd r1, [r3 + 0]", "llwi r3, {at:#x}", "beq r0, r0, {n}",
    "bne r1, r2, {n}", "goto_i {queue}, {n}", "active_i {queue}", "deactive_i {queue}", "goto_r r1", "active_r r2",
    "loop r1, {n}, 3", "func_call r3, r1", "csrrw r1, 3, r2", "nop", "error",
)  # fmt: skip


@pytest.fixture(scope="module")
def host():
    """The installed plugins."""
    return PluginHost()


class _Hostile:
    """A device with rings of random entries and two models that may start each other."""

    def __init__(self, host, chip, seed):
        self.random = random.Random(seed)
        self.rings_left = 20
        policies = {name: self.random.choice(values) for name, values in POLICIES.items()}
        self.device = device = Device(chip, policies, host, trace=Trace(()))
        self.rooms = [device.memory.allocate(ROOM, label="room", align=256).address for _ in range(3)]
        for room in self.rooms:
            device.memory.write(room, self.random.randbytes(ROOM // 2))
        self.streams = [device.create_stream("s", bound=bool(i % 2)) for i in range(STREAMS)]
        device.host_functions.update({0: self._again, 1: lambda _: None, 2: self._refuse})
        self.layouts = [s for s in host.registry.structs if s.family == device.chip.family and s.size == 64]
        for stream in self.streams[1::2]:
            self._model(stream)
        self._contents()
        nop = device.layout("PhSqe").build({"type": 3, "task_type": 103})
        for stream in self.streams:
            for _ in range(self.random.choice((0, 0, 0, LONG))):
                stream.queue.append(nop)
            for _ in range(self.random.randrange(ENTRIES)):
                stream.queue.append(self._entry(stream))

    def _again(self, _data):
        """A host function that submits and rings."""
        stream = self.streams[0]
        if stream.queue.pending < ENTRIES and self.rings_left:
            self.rings_left -= 1
            stream.queue.append(self._entry(stream))
            self.device.scheduler.ring_doorbell(stream)

    def _refuse(self, _data):
        raise DeviceFault("no", ts_code=0, id="mine.no")

    def _model(self, head):
        def build(model_id):
            return Model(
                device=self.device, model_id=model_id, name="m", streams=(head,), head_streams=(head,),
                caller=self.streams[0], end=None, inputs=(), outputs=(), scratch=(), launch=lambda _: None,
            )  # fmt: skip

        self.device.add_model(build)

    def _contents(self):
        """Addresses, small numbers, programs and texts in memory."""
        write, pick = self.device.memory.write, self.random
        for room in self.rooms:
            write(room, assemble(self._program(24)) if self.device.chip.family in {"v100", "v200"} else b"")
            for offset in range(1024, 2048, 8):
                write(room + offset, self._number().to_bytes(8, "little"))
            write(room + 2048, b"libmine.so\0")
            write(room + 2112, b"RunAicpuRpcSrvLaunch\0")
            for offset in range(2304, 2304 + 64 * 4, 64):
                write(room + offset, self._descriptor())
            if pick.random() < 0.5:
                write(room + 3000, bytes([255]) * 1096)

    def _descriptor(self):
        """The descriptor of a kernel that exists."""
        spec = self.random.choice(list(self.device.host.kernels.values()))
        values = {
            "kernel_key": spec.key,
            "core_type": spec.core_type,
            "tiling_key": self.random.choice(spec.tiling_keys),
        }
        magic = int.from_bytes(b"SQEMUKRN", "little")
        return self.device.runtime_layout("KernelDescriptor").build({**values, "magic": magic})

    def _number(self):
        pick = self.random
        ring = self.streams[pick.randrange(STREAMS)].queue.address(pick.randrange(ENTRIES))
        where = pick.choice((pick.choice(self.rooms), pick.choice(self.rooms), ring))
        return pick.choice((
            pick.randrange(STREAMS), pick.randrange(16), 64, 0xFFFF, 0xFFFFFFFF, 1 << 48,
            where + 8 * pick.randrange(ROOM // 8), where, where - (0x1240 << 32) & (1 << 64) - 1,
            where + 2048 + 64 * pick.randrange(8), where + 2304,
        ))  # fmt: skip

    def _program(self, lines):
        return "\n".join(
            self.random.choice(TEXTS).format(
                at=self.random.choice(self.rooms) + 8 * self.random.randrange(140),
                n=self.random.randrange(12),
                queue=self.random.randrange(STREAMS + 1),
            )
            for _ in range(lines)
        )

    def _entry(self, stream):
        kind = self.random.random()
        if kind < 0.2:
            raw = bytearray(self.random.randbytes(64))
            raw[0] = self.random.choice((*LIKELY_TYPES, self.random.randrange(64)))
            return bytes(raw)
        if kind < 0.45 and self.device.chip.family in {"v100", "v200"}:
            return self._condition(stream)
        if kind < 0.7 and self.device.chip.family == "v100":
            return self._useful()
        return self._sensible(stream)

    def _useful(self):
        """An entry of v100 that does something as a rule."""
        pick, room = self.random, self.random.choice(self.rooms)
        small, place, code = pick.randrange(6), room + 8 * pick.randrange(300), pick.choice(OPCODES)
        struct, values = pick.choice((
            ("AicoreKernelSqe", {"type": 0, "ffts_type": pick.choice((0, 1, 5)), "param_addr": place,
                                 "pc_addr": room + 2304 + 64 * (small % 4), "block_dim": pick.choice((1, 8, 999))}),
            ("AicpuKernelSqe", {"type": 1, "task_so_addr": room + 2048, "task_name_str_ptr": room + 2112,
                                "param_addr": place}),
            ("HostfuncCallbackSqe", {"type": 1, "topic_id": 26, "hostfunc_addr": small, "is_block": small & 1}),
            ("EventRecordSqe", {"type": 4, "event_id": small}), ("EventWaitSqe", {"type": 5, "event_id": small}),
            ("NotifyRecordSqe", {"type": 6, "notify_id": small}),
            ("NotifyWaitSqe", {"type": 7, "notify_id": small, "timeout": small}),
            ("WriteValueSqe", {"type": 8, "va": 1, "awsize": small, "write_addr": room + 32 * small}),
            ("MemcpyAsyncSqe", {"type": 11, "opcode": code, "length": pick.choice((0, 8, 64, 1 << 30)),
                                "src_addr": room, "dst_addr": place, "pre_p": small == 0}),
            ("PhCommonCmdSqe", {"type": 3, "task_type": 104, "pre_p": 1, "cmd_type": small & 1, "notify_id": small,
                                "target_stream_id": small}),
            ("PhModelMaintenanceSqe", {"type": 3, "task_type": 12, "pre_p": 1, "operation": 6, "model_id": small & 1}),
            ("PhMaintenanceSqe", {"type": 3, "task_type": 6, "pre_p": 1, "sub_type": 0x67, "target_id": small}),
            ("PhSqe", {"type": 3, "task_type": 103}),
        ))  # fmt: skip
        return self.device.layout(struct).build({**values, "kernel_credit": pick.choice((0, 1, 254))})

    def _condition(self, stream):
        layout = self.device.layout("FunctionCallSqe")
        sub_type = self.random.choice((0, 1, 1, 4, 6, 7, 8, 9, 24))
        values = {"type": 20, "conds_sub_type": sub_type, "model_id": self.random.randrange(3), "kernel_credit": 254}
        program = assemble(self._program(12))[:48]
        return layout.build(values)[:16] + program + bytes(48 - len(program))

    def _sensible(self, stream):
        layout = self.random.choice(self.layouts)
        types = [value for name, wanted in layout.match.items() if name == "type" for value in wanted]
        values = {}
        for field in layout.named_fields:
            if field.count is None and self.random.random() < 0.6:
                values[field.name] = self._number() & (1 << field.width) - 1
        for low in [name for name in layout.by_name if name.endswith(LOW)]:
            high, where = low.removesuffix(LOW) + HIGH, self._number()
            if high in layout.by_name:
                values[low] = where & (1 << layout.by_name[low].width) - 1
                values[high] = where >> layout.by_name[low].width & (1 << layout.by_name[high].width) - 1
        for name, wanted in layout.match.items():
            if name in layout.by_name:
                values[name] = self.random.choice(wanted)
        raw = bytearray(layout.build(values))
        raw[0] = raw[0] & 0xC0 | (self.random.choice(types) if types else self.random.choice(LIKELY_TYPES))
        if self.random.random() < 0.9:
            raw[14] = self.random.choice((1, 254, 255))
        return bytes(raw)

    def run(self):
        """Start every stream and let the device work; more clock steps than reasonable are a failure."""
        scheduler, clock = self.device.scheduler, self.device.clock
        for stream in self.streams:
            start = scheduler.activate if stream.queue.bound else scheduler.ring_doorbell
            try:
                start(stream)
            except SqemuError as error:
                _known(error)
        steps = 0
        try:
            while clock.step():
                steps += 1
                assert steps < CLOCK_STEPS, "the run does not end"
        except SqemuError as error:
            _known(error)
        scheduler.deadlock(self.streams)
        return steps


def _known(error):
    """A bug of the product is no answer to bad input."""
    assert not isinstance(error, EmulatorBug), error
    assert error.id
    assert error.what


@pytest.fixture
def no_files(monkeypatch):
    """Opening any file to write it is a failure."""
    real = builtins.open

    def guarded(file, mode="r", *args, **kwargs):
        assert not set(mode) & set("wax+"), f"{file} is written"
        return real(file, mode, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", guarded)


@pytest.mark.parametrize("chip", CHIPS)
def test_any_ring_ends_without_an_error_of_ours(host, chip, no_files):
    """Random rings under random policies: faults and deadlocks are fine, exceptions and endless work are not."""

    @settings(max_examples=150, deadline=None, database=None)
    @given(seed=st.integers(0, 1 << 32))
    def check(seed):
        hostile = _Hostile(host, chip, seed)
        before = hostile.device.memory.used
        hostile.run()
        assert hostile.device.memory.used == before

    check()
