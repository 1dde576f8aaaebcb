"""What each id of this package means and what to do, for `sqemu explain`; vendor ids are explained by the command.

A text is the meaning, and on lines of their own `cause:` and `do:` (`docs/explain.md`).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "extra.missing": "The file is of a format that needs a package which is not installed, because few users need it.\n"
    "do: Install the extra that the message names, for example pip install 'sqemu[onnx]'.",
    "format.args-format": "A text that says what fills the argument slots of a task has an unknown token. "
    "The byte offset is that of the token's opening brace.\n"
    "do: Use the tokens that the message lists; docs/compiler.md says where each is used.",
    "graph.arity": "A node lists another number of inputs or outputs than its operator has.\n"
    "do: List every input of the operator's definition in order, with null for an absent optional one.",
    "graph.attr": "An attribute is unknown to the operator, missing although it has no default, or of another kind: "
    "numbers are not written as text, true is not 1.\n"
    "do: Give the attributes that the message lists, each of its kind.",
    "graph.builder": "A graph that is built in Python says neither how many outputs an operator has nor their names.\n"
    "do: Give outputs or count; docs/graph.md has the methods.",
    "graph.capability": "Compiling online asks the chip whether it supports the model task update, and the chip's "
    "description does not say. The vendor reports E19999.\n"
    "do: State model_task_update in the plugin of the chip, or compile offline.",
    "graph.constant": "The data of a constant do not fit its dtype and shape, or the npz file, its array, shape or "
    "element type are not as declared. bfloat16 travels in npz files as uint16.\n"
    "do: Correct the data, or the declared dtype and shape.",
    "graph.contradiction": "Two attributes of a node cannot both hold, for example _tiling_sink_op and "
    "_force_unknown_shape: tiling sinks in static graphs only.\n"
    "do: Drop one of the two that the message names.",
    "graph.cycle": "Some nodes wait for each other's outputs, so none can run first.\n"
    "do: Follow the nodes in the message and give one of them another input.",
    "graph.dangling": "A node or the graph reads a tensor that nothing produces; most often a spelling mistake.\n"
    "do: Correct the name, or declare the tensor as an input, a constant or an output of a node.",
    "graph.dtype": "An element type does not exist, or an operator does not take it for that input.\n"
    "do: Use one of the types in the message.",
    "graph.duplicate-name": "Two nodes, two tensors or two outputs have one name. Inputs, constants and node outputs "
    "share one set of names.\n"
    "do: Rename one of the two; the message says where the name was used first.",
    "graph.dynamic-input": "A list of tensors stands where the operator takes one tensor, or the other way round.\n"
    "cause: A dynamic input takes a list of one or more tensors, every other input one name or null.\n"
    "do: Write what the message asks for; docs/operators.md lists the inputs of each operator.",
    "graph.empty": "A graph needs at least one node and one output.\n"
    "do: Add what is missing.",
    "graph.format": 'The key "format" must be "sqemu-graph".\n'
    "do: Give a graph as docs/graph.md describes it.",
    "graph.host-placement": "An operator whose tiling depends on a value must be able to tile on the host, too: the "
    "host tiles it once for the workspace size. The vendor reports E19999.\n"
    "do: Add Placement.HOST to the placements in the operator's plugin.",
    "graph.import": "A graph of another format (ONNX, GE text) holds something that has no counterpart here, or is "
    "damaged. Everything of that kind is reported together.\n"
    "do: Change the export as the message says; docs/graph.md lists what is taken.",
    "graph.json": "The text is not JSON, names a key twice in one object, holds NaN or Infinity, or nests too deeply.\n"
    "do: Correct the text at the line in the message.",
    "graph.kernel": "The operator's kernel does not run on this chip's product.\n"
    "do: Compile for a chip of a product that the message lists.",
    "graph.missing-input": "An input that is not optional is null.\n"
    "do: Connect a tensor to it.",
    "graph.missing-key": "A required key of the graph, a tensor or a node is not there.\n"
    "do: Add the key; docs/graph.md lists all of them.",
    "graph.name": "A name is empty, longer than 255 characters, or not printable.\n"
    "do: Use 1 to 255 printable characters.",
    "graph.never-timeout": "An operator whose tiling sinks must not be set to never time out.\n"
    "do: Drop _op_exec_never_timeout, turn the sink off, or let policy never_timeout_with_sink = allow make a warning "
    "of it.",
    "graph.shape": "A shape is not a list of at most 25 integers of 64 bits, or does not suit the operator.\n"
    "do: Correct the shape of the input that the message names; docs/operators.md has the shapes of each operator.",
    "graph.sink-depends": "_tiling_sink_op is set on an operator whose tiling reads no value.\n"
    "do: Drop the attribute; there is nothing to sink.",
    "graph.sink-kernel-task": "An update patches the task that launches the kernel, and the operator has none of a "
    "type that can be patched. With policy sink_kernel_task = public a plain KERNEL is none.\n"
    "do: Give the operator a dynamic-shape binary, that is _kernel_list_first_name, or use the policy's default.",
    "graph.sink-resources": "An operator whose tiling sinks needs exactly one attached stream and one event, and "
    "_disable_attached_resource keeps it from getting them.\n"
    "do: Drop the attribute, or turn the sink off.",
    "graph.sink-workspace": "The address of the tiling data is passed right behind the last workspace, so an operator "
    "without workspace cannot sink.\n"
    "do: Let its tiling function ask for one with set_workspaces, however small.",
    "graph.size": "One tensor is larger than the memory of the chip.\n"
    "do: Make it smaller.",
    "graph.super-kernel": "An operator of a super kernel scope cannot be fused, and policy super_kernel_scope_check = "
    "abort makes an error of it.\n"
    "do: Take the operator out of the scope, or let the policy leave it out.",
    "graph.super-kernel-reuse": "An operator inside a super kernel reuses a compiled binary, whose variant only the "
    "tiling on the device can choose, and its tiling does not sink.\n"
    "do: Turn the sink on for it, or drop super_kernel_reuse_binary.",
    "graph.tiling": "The tiling function refused this operator at compile time. Values that are no constants are not "
    "known then, and the function has to answer with the largest workspace.\n"
    "do: Read its reason in the message: change the shapes, or mend the tiling function where it insists on a value.",
    "graph.tiling-key": "The tiling function chose a key that the kernel binary has no entry for. That is a mistake of "
    "the operator's plugin, whether the operator sinks or not.\n"
    "do: Let the tiling function choose one of the keys in the message, or add the key to the kernel.",
    "graph.type": "A value has another JSON type than the format says.\n"
    "do: Write it as the message says.",
    "graph.unknown-key": "A key is not part of the format.\n"
    "do: Correct the spelling; keys of your own start with x-.",
    "graph.unknown-operator": "No plugin that is switched on declares an operator of this type.\n"
    "do: Correct the type, or load the plugin: --plugin FILE.py; docs/operators.md lists what is built in.",
    "graph.unknown-shape": "An operator does not know the shape of an output although it knows those of all inputs: it "
    "depends on values, and a graph is launched with the shapes of everything known.\n"
    "do: Leave the operator out, or give it an output of the largest shape.",
    "graph.version": "The graph was written for another version of the format.\n"
    "do: Write it as docs/graph.md describes it.",
    "graph.workspace": "An operator asks for more than 16 workspaces, or for one that no memory of this chip holds.\n"
    "do: Make the tensors smaller, or mend the tiling function.",
    "input.encoding": "A text file is not UTF-8.\n"
    "do: Save it as UTF-8.",
    "input.file": "A file cannot be opened or read.\n"
    "do: Check path and permissions.",
    "limit.memory": "Tensors and workspaces together do not fit the memory of the chip.\n"
    "do: Make the tensors smaller or split the graph.",
    "limit.persistent-tasks": "The chip keeps fewer sunk tasks than the graph has on all streams together.\n"
    "do: Split the graph; sqemu chips NAME shows the limit.",
    "plugin.attr-kind": "An operator declares an attribute of a kind that does not exist.\n"
    "do: Use one of the kinds that the message lists.",
    "plugin.depends": "An operator declares that its tiling reads an input that does not exist, or number 64 or more.\n"
    "do: Let depends hold indices of the operator's own inputs.",
    "plugin.infer": "The shape inference of an operator raised something unexpected or gave a useless answer.\n"
    "do: Return one TensorInfo per output; refuse inputs with ShapeError. If the plugin is not yours, tell its author.",
    "plugin.package": "An operator names a package whose path prefix has nothing behind its first underscore, so no "
    "device library can be named after it.\n"
    "do: Write the package as group_name, for example ops_mine.",
    "plugin.kernel": "An operator names a kernel that no plugin supplies.\n"
    "do: Switch on the plugin that has it, or return the kernel from sqemu_kernels.",
})  # fmt: skip
