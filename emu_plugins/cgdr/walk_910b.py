"""The stages of one group over device memory: tensors in, areas of the workspace between, out and states back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from emu_plugins.cgdr.codecs import bfloat16_to_float32, float32_to_bfloat16
from emu_plugins.cgdr.constants import CHUNK_SIZE, FP32_BYTES, INPUT_GAMMA, INPUT_INITIAL_STATE
from emu_plugins.cgdr.data_910b import ARG_WORKSPACE, stage_1_units, stage_2_heads, stage_3_units
from emu_plugins.cgdr.items import key_head
from emu_plugins.cgdr.launch import ARG_OUT
from emu_plugins.cgdr.numerics import Numerics
from emu_plugins.cgdr.stages_910b import Handed, Unit, stage_1, stage_2, stage_3

if TYPE_CHECKING:
    from emu_core.kernels import KernelLaunch
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.data_910b import Data910b, Group

BITS, BITS_BYTES = "<u2", 2
_NOT_NEEDED = np.zeros((0, 0), np.float32)


class Walk910b:
    """One launch; `run` does a group."""

    def __init__(self, launch: KernelLaunch, data: Data910b) -> None:
        self._launch = launch
        self._data = data
        self._numerics = Numerics.of(launch.policies)
        self._scale = np.float32(data.scale)
        workspace = launch.arg(ARG_WORKSPACE)
        self._areas = {name: workspace + offset for name, offset in data.areas().items()}
        self._widths = {
            "k_cumdecay": data.dk, "v_inner": data.dv, "q'": data.dk, "inter-chunk output": data.dv, "kg": data.dk,
            "QK^T": CHUNK_SIZE,
        }  # fmt: skip

    def run(self, group: Group, final_state: Any) -> None:  # noqa: ANN401 - device memory
        """All three stages of `group`, each after the one before it; the last group fills `final_state`."""
        data, chunks = self._data, group.chunks()
        # Infinite and NaN inputs are data, and nobody is warned.
        with np.errstate(all="ignore"):
            for units in stage_1_units(len(chunks), data.nv, data.cores):
                for chunk, head in units:
                    self._stage_1(group, *chunks[chunk], head)
            for heads in stage_2_heads(data.nv, data.cores):
                for head in heads:
                    self._stage_2(group, head, final_state)
            for units in stage_3_units(len(chunks), data.nv, data.cores):
                for chunk, head in units:
                    self._stage_3(group, *chunks[chunk], head)

    def _tensor(self, argument: int, first: int, rows: int, row: tuple[int, ...]) -> Any:  # noqa: ANN401
        """Rows of an input of bfloat16."""
        address = self._launch.arg(argument) + first * int(np.prod(row)) * BITS_BYTES
        return self._launch.memory.array(address, BITS, (rows, *row))

    def _stage_1(self, group: Group, at: int, rows: int, head: int) -> None:
        data, first = self._data, group.start + at
        key = key_head(head, data.nv, data.nk)
        unit = Unit(
            q=bfloat16_to_float32(self._tensor(0, first, rows, (data.nk, data.dk))[:, key]),
            k=bfloat16_to_float32(self._tensor(1, first, rows, (data.nk, data.dk))[:, key]),
            v=bfloat16_to_float32(self._tensor(2, first, rows, (data.nv, data.dv))[:, head]),
            beta=bfloat16_to_float32(self._tensor(3, first, rows, (data.nv,))[:, head]),
            g=self._gates(first, rows, head),
        )
        made = stage_1(unit, self._scale, self._numerics)
        self._launch.memory.write(self._prefix_at(head, at), made.prefix.astype("<f4").tobytes())
        for name, tile in (
            ("k_cumdecay", made.k_cumdecay), ("v_inner", made.v_inner), ("q'", made.queries), ("kg", made.keys),
        ):  # fmt: skip
            self._put(name, head, at, tile)
        squares = np.zeros((rows, CHUNK_SIZE), np.float32)
        squares[:, :rows] = made.qk
        self._put("QK^T", head, at, squares)

    def _gates(self, first: int, rows: int, head: int) -> F32:
        data = self._data
        if not data.has_gamma:
            return np.zeros(rows, np.float32)
        address = self._launch.arg(INPUT_GAMMA) + first * data.nv * FP32_BYTES
        slab: Any = self._launch.memory.array(address, "<f4", (rows, data.nv))
        return np.ascontiguousarray(slab[:, head])

    def _stage_2(self, group: Group, head: int, final_state: Any) -> None:  # noqa: ANN401
        state = self._state_before(group, head)
        for at, rows in group.chunks():
            handed = Handed(
                prefix=self._prefix(head, at, rows),
                k_cumdecay=self._get("k_cumdecay", head, at, rows),
                v_inner=self._get("v_inner", head, at, rows),
                queries=self._get("q'", head, at, rows),
                keys=self._get("kg", head, at, rows),
                qk=_NOT_NEEDED,
            )
            v_new, inter, state = stage_2(handed, state, self._numerics)
            self._put("v_inner", head, at, v_new)
            self._put("inter-chunk output", head, at, inter)
        bits = float32_to_bfloat16(state)
        if group.last:
            final_state[head] = bits
        else:
            self._launch.memory.write(self._state_at(group.sequence.batch, head), bits.tobytes())

    def _stage_3(self, group: Group, at: int, rows: int, head: int) -> None:
        data = self._data
        out = stage_3(
            np.ascontiguousarray(self._get("QK^T", head, at, rows)[:, :rows]),
            self._prefix(head, at, rows),
            self._get("v_inner", head, at, rows),
            self._get("inter-chunk output", head, at, rows),
            self._scale,
            self._numerics,
        )
        bits, base = float32_to_bfloat16(out), self._launch.arg(ARG_OUT)
        for row in range(rows):
            place = ((group.start + at + row) * data.nv + head) * data.dv
            self._launch.memory.write(base + place * BITS_BYTES, bits[row].tobytes())

    def _state_before(self, group: Group, head: int) -> F32:
        data, batch = self._data, group.sequence.batch
        address = self._state_at(batch, head)
        if group.first:
            size = data.dv * data.dk * BITS_BYTES
            address = self._launch.arg(INPUT_INITIAL_STATE) + (batch * data.nv + head) * size
        bits: Any = self._launch.memory.array(address, BITS, (data.dv, data.dk))
        return bfloat16_to_float32(bits)

    def _state_at(self, batch: int, head: int) -> int:
        """The state of a head between groups, in bfloat16."""
        data = self._data
        return self._areas["states"] + (batch * data.nv + head) * data.dv * data.dk * BITS_BYTES

    def _prefix_at(self, head: int, at: int) -> int:
        return self._areas["G"] + (head * self._data.group + at) * FP32_BYTES

    def _prefix(self, head: int, at: int, rows: int) -> F32:
        found: Any = self._launch.memory.array(self._prefix_at(head, at), "<f4", (rows,))
        return np.array(found, np.float32)

    def _place(self, name: str, head: int, at: int) -> int:
        return self._areas[name] + (head * self._data.group + at) * self._widths[name] * BITS_BYTES

    def _put(self, name: str, head: int, at: int, tile: F32) -> None:
        self._launch.memory.write(self._place(name, head, at), float32_to_bfloat16(tile).tobytes())

    def _get(self, name: str, head: int, at: int, rows: int) -> F32:
        bits: Any = self._launch.memory.array(self._place(name, head, at), BITS, (rows, self._widths[name]))
        return bfloat16_to_float32(bits)
