"""A whole offline model from its bytes: the frame, and what is in every partition that is known.

Weights, kernels and libraries stay views of the file. Partitions of other executors and of data-flow and bundle models
are listed, not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.om.container import Container, Header, Partition, Parts, read_container
from emu_plugins.om.cursor import om_error
from emu_plugins.om.graph import ModelDef, read_model_def
from emu_plugins.om.items import Item, Library, read_custom_ops, read_items, read_libraries
from emu_plugins.om.layout import ModelType, PartitionType
from emu_plugins.om.ports import Ports, read_ports
from emu_plugins.om.tasks import TaskList, read_task_list
from emu_plugins.om.tilings import Tiling, read_tilings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_plugins.om.attributes import Attributes
    from emu_plugins.om.values import Graph, Op
    from formats.buffers import Buffer

_NEED_NO_GRAPH = frozenset({int(ModelType.BUNDLE), int(ModelType.FLOW)})
READ = frozenset({
    PartitionType.MODEL_DEF, PartitionType.WEIGHTS_DATA, PartitionType.TASK_INFO, PartitionType.TBE_KERNELS,
    PartitionType.CUST_AICPU_KERNELS, PartitionType.SO_BINS, PartitionType.MODEL_INOUT_INFO,
    PartitionType.TILING_DATA, PartitionType.CUSTOM_OPS,
})  # fmt: skip
"""Partitions whose contents are read; of the others place and size are shown."""


@dataclass(frozen=True)
class OmModel:
    """One model of a file.

    Attributes:
        parts: its partitions. definition: its graph and attributes, None for a model without MODEL_DEF.
        task_list, kernels, aicpu_kernels, libraries, custom_ops, ports, tilings: contents of the partitions.
    """

    parts: Parts
    definition: ModelDef | None
    task_list: TaskList
    kernels: tuple[Item, ...]
    aicpu_kernels: tuple[Item, ...]
    libraries: tuple[Library, ...]
    custom_ops: tuple[Item, ...]
    ports: Ports
    tilings: tuple[Tiling, ...]

    @property
    def name(self) -> str:
        """Name by MODEL_DEF."""
        return self.definition.name if self.definition else ""

    @property
    def attrs(self) -> Attributes:
        """Attributes of the model."""
        return self.definition.attrs if self.definition else {}

    @property
    def graph(self) -> Graph | None:
        """The main graph."""
        return self.definition.graphs[0] if self.definition and self.definition.graphs else None

    @property
    def ops(self) -> tuple[Op, ...]:
        """Operators of the main graph."""
        return self.graph.ops if self.graph else ()

    @property
    def weights(self) -> memoryview[int]:
        """Bytes of WEIGHTS_DATA."""
        found = self.parts.first(PartitionType.WEIGHTS_DATA)
        return found.data if found else memoryview(b"")

    @cached_property
    def tiling_of(self) -> Mapping[int, Tiling]:
        """The stored tiling by each id it is stored for; of two for one id the first."""
        found: dict[int, Tiling] = {}
        for tiling in self.tilings:
            for number in tiling.ids:
                found.setdefault(number, tiling)
        return MappingProxyType(found)

    def number(self, name: str) -> int:
        """The attribute `name` of the model as a number; 0 when it is absent or none."""
        found = self.attrs.get(name)
        return found if isinstance(found, int) else 0


@dataclass(frozen=True)
class OmFile:
    """A file: header, and its models in file order (a dynamic file has its root model first)."""

    header: Header
    models: tuple[OmModel, ...]


def read_om(data: Buffer) -> OmFile:
    """The offline model in `data`; the file is not copied, and must stay as long as the result is used.

    Raises:
        FormatError: ids that begin with `om.`, with the offset in the file.
        PluginError: `extra.missing`: protobuf is not installed.
    """
    container = read_container(data)
    return OmFile(container.header, tuple(_model(container, index) for index in range(len(container.models))))


def _model(container: Container, index: int) -> OmModel:
    parts = container.models[index]
    define = parts.first(PartitionType.MODEL_DEF)
    return OmModel(
        parts,
        _definition(container, index, define),
        read_task_list(parts.first(PartitionType.TASK_INFO)),
        read_items(parts.first(PartitionType.TBE_KERNELS)),
        read_items(parts.first(PartitionType.CUST_AICPU_KERNELS)),
        read_libraries(parts.first(PartitionType.SO_BINS)),
        read_custom_ops(parts.first(PartitionType.CUSTOM_OPS)),
        read_ports(parts.first(PartitionType.MODEL_INOUT_INFO)),
        read_tilings(parts.first(PartitionType.TILING_DATA)),
    )


def _definition(container: Container, index: int, partition: Partition | None) -> ModelDef | None:
    if partition is not None:
        return None if container.header.model_type == ModelType.FLOW else read_model_def(partition)
    if container.header.model_type in _NEED_NO_GRAPH:
        return None
    raise om_error(
        "om.table", f"model {index} has no partition MODEL_DEF", f"partition table of model {index}",
        container.models[index].table_offset,
    )  # fmt: skip
