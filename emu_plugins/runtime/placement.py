"""Where the tensors and workspaces of a blob lie in device memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.model import Port
from emu_core.operators import TensorInfo
from formats.blob import TensorRole
from formats.dtypes import dtype_coded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device
    from emu_core.memory import Allocation
    from formats.blob import Blob, BlobOp, BlobTensor


@dataclass
class SharedWords:
    """Device memory that arguments point at: a word per event id, one for hardware synchronisation, hidden inputs."""

    device: Device
    events: dict[int, int] = field(default_factory=dict)
    _hidden: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    _sync: int = 0

    def event(self, number: int) -> int:
        """Address of the word of event `number`, 0 at first."""
        if number not in self.events:
            self.events[number] = self._word(f"event word {number}")
        return self.events[number]

    @property
    def sync(self) -> int:
        """Address that kernels synchronise by; no kernel here does."""
        self._sync = self._sync or self._word("hardware synchronisation")
        return self._sync

    def hidden(self, op_type: str, name: str, kind: str) -> tuple[int, ...]:
        """Addresses of the hidden inputs of one kind that the registration of an operator supplies; none without."""
        if (name, kind) not in self._hidden:
            spec = self.device.host.operators.get(op_type)
            blocks = spec.hidden_inputs(kind) if spec is not None and spec.hidden_inputs is not None else ()
            placed = (self._block(f"hidden input {kind}{i} of {name}", block) for i, block in enumerate(blocks))
            self._hidden[name, kind] = tuple(placed)
        return self._hidden[name, kind]

    def _block(self, label: str, data: bytes) -> int:
        found = self.device.memory.allocate(max(len(data), 1), label=label)
        self.device.memory.write(found.address, data)
        return found.address

    def _word(self, label: str) -> int:
        found = self.device.memory.allocate(8, label=label)
        self.device.memory.write(found.address, bytes(8))
        return found.address


@dataclass
class Placement:
    """Addresses by index: tensors of the blob, workspaces of each operator.

    Attributes:
        scratch: allocations whose contents do not survive an execution.
        words: words that arguments of the tasks point at.
    """

    device: Device
    blob: Blob
    tensors: list[int] = field(default_factory=list)
    workspaces: list[list[Allocation]] = field(default_factory=list)
    scratch: list[int] = field(default_factory=list)

    words: SharedWords = field(init=False)

    def __post_init__(self) -> None:
        self.words = SharedWords(self.device)
        for tensor in self.blob.tensors:
            _check_size(tensor)
            if _unknown(tensor):
                self.tensors.append(0)
                continue
            self.tensors.append(self._tensor(tensor.name, max(tensor.size, 1)))
            if tensor.role is TensorRole.CONSTANT:
                self.device.memory.write(self.tensors[-1], tensor.data)
            else:
                self.scratch.append(self.tensors[-1])
        for op in self.blob.ops:
            placed = [self._workspace(op, i, size) for i, size in enumerate(op.workspaces)]
            self.workspaces.append(placed)
            self.scratch.extend(w.address for w in placed)

    @property
    def unknown(self) -> tuple[int, ...]:
        """Tensors that have no place before :meth:`reshape`, by index."""
        return tuple(i for i, address in enumerate(self.tensors) if not address)

    def reshape(self, shapes: Mapping[int, tuple[int, ...]]) -> None:
        """Give tensors `shapes` (by index, all dimensions known) and new places; what they held is gone."""
        tensors = list(self.blob.tensors)
        for index, shape in shapes.items():
            old = tensors[index]
            size = math.prod(shape) * dtype_coded(old.dtype).size
            if self.tensors[index]:
                self.device.memory.free(self.tensors[index])
                self.scratch.remove(self.tensors[index])
            tensors[index] = replace(old, shape=shape, size=size)
            self.tensors[index] = self._tensor(old.name, max(size, 1))
            self.scratch.append(self.tensors[index])
        self.blob = replace(self.blob, tensors=tuple(tensors))

    def _tensor(self, name: str, size: int) -> int:
        return self.device.memory.allocate(size, label=f"tensor {name}").address

    def _workspace(self, op: BlobOp, index: int, size: int) -> Allocation:
        return self.device.memory.allocate(max(size, 1), label=f"workspace {index} of {op.name}")

    def info(self, index: int) -> TensorInfo:
        """Element type and shape of tensor `index`."""
        tensor = self.blob.tensors[index]
        return TensorInfo(dtype_coded(tensor.dtype).name, tensor.shape)

    def ports(self, indices: tuple[int, ...]) -> tuple[Port, ...]:
        """Ports for tensors, in order."""
        return tuple(
            Port(t.name, dtype_coded(t.dtype).name, t.shape, self.tensors[i], t.size)
            for i in indices
            for t in [self.blob.tensors[i]]
        )


def _unknown(tensor: BlobTensor) -> bool:
    return tensor.role is not TensorRole.CONSTANT and min(tensor.shape, default=0) < 0 and not tensor.size


def _check_size(tensor: BlobTensor) -> None:
    if _unknown(tensor):
        return
    needed = math.prod(tensor.shape) * dtype_coded(tensor.dtype).size
    given = len(tensor.data) if tensor.role is TensorRole.CONSTANT else tensor.size
    if min(tensor.shape, default=0) < 0 or not needed == tensor.size == given:
        raise InputError(
            f"tensor {tensor.name} has the shape {list(tensor.shape)} but {tensor.size} bytes, data of {given}",
            id="blob.tensor",
            where=f"tensor {tensor.name}",
            remedy="compile the graph again",
        )
