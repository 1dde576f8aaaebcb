"""What each id of this package means and what to do, for `sqemu explain`; vendor ids are explained by the command."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "format.args-format": "A text that says what fills the argument slots of a task has an unknown token. "
    "The byte offset is that of the token's opening brace.",
    "graph.arity": "A node lists another number of inputs or outputs than its operator has. List every input of the "
    "operator's definition in order, with null for an absent optional one.",
    "graph.attr": "An attribute is unknown to the operator, missing although it has no default, or of another kind: "
    "numbers are not written as text, true is not 1.",
    "graph.constant": "The data of a constant do not fit its dtype and shape, or the npz file, its array, shape or "
    "element type are not as declared. bfloat16 travels in npz files as uint16.",
    "graph.cycle": "Some nodes wait for each other's outputs, so none can run first.",
    "graph.dangling": "A node or the graph reads a tensor that nothing produces; most often a spelling mistake.",
    "graph.dtype": "An element type does not exist, or an operator does not take it for that input.",
    "graph.duplicate-name": "Two nodes, two tensors or two outputs have one name. Inputs, constants and node outputs "
    "share one set of names.",
    "graph.empty": "A graph needs at least one node and one output.",
    "graph.format": 'The key "format" must be "sqemu-graph".',
    "graph.host-placement": "An operator whose tiling depends on a value must be able to tile on the host, too: the "
    "host tiles it once for the workspace size. The vendor reports E19999.",
    "graph.json": "The text is not JSON, names a key twice in one object, holds NaN or Infinity, or nests too deeply.",
    "graph.kernel": "The operator's kernel does not run on this chip's product. Compile for another chip.",
    "graph.missing-input": "An input that is not optional is null.",
    "graph.missing-key": "A required key of the graph, a tensor or a node is not there.",
    "graph.name": "A name is empty, longer than 255 characters, or not printable.",
    "graph.never-timeout": "An operator whose tiling sinks must not be set to never time out. Policy "
    "never_timeout_with_sink = allow turns this into a warning.",
    "graph.shape": "A shape is not a list of at most 25 integers of 64 bits, or does not suit the operator.",
    "graph.sink-depends": "_tiling_sink_op is set on an operator whose tiling reads no value.",
    "graph.sink-workspace": "The address of the tiling data is passed right behind the last workspace, so an operator "
    "without workspace cannot sink. Let its tiling function ask for one.",
    "graph.size": "One tensor is larger than the memory of the chip.",
    "graph.tiling": "The tiling function refused this operator at compile time. When its tiling depends on a value, "
    "that value is not known then, and the function has to answer with the largest workspace.",
    "graph.tiling-key": "The tiling function chose a key that the kernel binary has no entry for.",
    "graph.type": "A value has another JSON type than the format says.",
    "graph.unknown-key": "A key is not part of the format. Keys of your own start with x-.",
    "graph.unknown-operator": "No plugin that is switched on declares an operator of this type.",
    "graph.unknown-shape": "A dimension is not known at compile time. This version compiles static shapes only.",
    "graph.version": "The graph was written for another version of the format.",
    "graph.workspace": "An operator asks for more than 16 workspaces, or for one that no memory of this chip holds.",
    "input.encoding": "A text file is not UTF-8.",
    "input.file": "A file cannot be opened or read.",
    "limit.events": "The graph needs more events than the chip has: one per sinking operator, and one per producer of "
    "a depended input.",
    "limit.memory": "Tensors and workspaces together do not fit the memory of the chip.",
    "limit.persistent-tasks": "The chip keeps fewer sunk tasks than the graph has on all streams together.",
    "limit.streams": "The graph needs more streams than the chip has.",
    "limit.tasks": "A stream gets more entries than its queue holds. An event wait is two entries: wait and reset.",
    "plugin.attr-kind": "An operator declares an attribute of a kind that does not exist.",
    "plugin.depends": "An operator declares that its tiling reads an input that does not exist, or number 64 or more.",
    "plugin.infer": "The shape inference of an operator raised something unexpected or gave a useless answer.",
    "plugin.kernel": "An operator names a kernel that no plugin supplies. Switch on the plugin that has it.",
})  # fmt: skip
