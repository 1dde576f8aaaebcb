"""MODEL_DEF: the graph of a model and its attributes (`reference/om_format.md` 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emu_plugins.om.attributes import Names, read_attributes, read_desc, text
from emu_plugins.om.messages import parse_partition
from emu_plugins.om.values import Graph, Op

if TYPE_CHECKING:
    from emu_plugins.om.attributes import Attributes
    from emu_plugins.om.container import Partition


@dataclass(frozen=True)
class ModelDef:
    """What MODEL_DEF says: names, attributes of the model, its graphs (the first is the main one)."""

    name: str
    version: int
    custom_version: str
    attrs: Attributes
    graphs: tuple[Graph, ...]
    compressed: Names


def read_model_def(partition: Partition) -> ModelDef:
    """The model in `partition`.

    Raises:
        FormatError: `om.message`, `om.too-many`, `om.attribute`. PluginError: `extra.missing`.
    """
    raw = parse_partition("ModelDef", partition)
    where = f"partition {partition.name}"
    attrs = read_attributes(raw.attr, Names(where=where))
    names = Names.of(attrs, where)
    graphs = tuple(_graph(each, names) for each in raw.graph)
    return ModelDef(text(raw.name), raw.version, text(raw.custom_version), attrs, graphs, names)


def _graph(raw: Any, names: Names) -> Graph:  # noqa: ANN401 - a message of the extra
    return Graph(
        name=text(raw.name),
        ops=tuple(_op(each, names) for each in raw.op),
        inputs=tuple(map(text, raw.input)),
        outputs=tuple(map(text, raw.output)),
        attrs=read_attributes(raw.attr, Names(where=names.where)),
    )


def _op(raw: Any, names: Names) -> Op:  # noqa: ANN401 - a message of the extra
    return Op(
        id=raw.id,
        name=text(raw.name),
        type=text(raw.type),
        stream_id=raw.stream_id,
        inputs=tuple(map(text, raw.input)),
        attrs=read_attributes(raw.attr, names),
        input_descs=tuple(read_desc(each, names) for each in raw.input_desc),
        output_descs=tuple(read_desc(each, names) for each in raw.output_desc),
        input_offsets=tuple(raw.input_i),
        output_offsets=tuple(raw.output_i),
        workspaces=tuple(raw.workspace),
        workspace_bytes=tuple(raw.workspace_bytes),
    )
