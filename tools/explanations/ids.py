"""Ids of this product that no plugin explains itself, the device's included: meaning, usual cause, what to do."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.ids_device import DEVICE_IDS
from tools.explanations.ids_om import OM_IDS
from tools.explanations.ids_plugins import PLUGIN_IDS
from tools.explanations.ids_snapshot import SNAPSHOT_IDS
from tools.explanations.ids_trace import TRACE_IDS
from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
# plans of injections
injection.plan
  means  a plan of injections cannot be read
  cause  No JSON, an unknown kind or field, a value of another type, or two fields that exclude each other.
  do     The message names the place; docs/injection.md has all kinds with their fields.
injection.target
  means  a plan names something that the program does not have
  cause  A mistyped node, kind, engine or buffer; a stream or task id of another chip or another compilation; an entry
         that sets no flag, or an operator whose tiling does not sink.
  do     The message lists what there is; sqemu dump PROGRAM shows all entries with their streams and tasks.
injection.field
  means  a plan names a field that the entry or context does not have
  cause  A mistyped name, or a field of another kind of entry.
  do     The message lists the fields; sqemu formats NAME shows a layout.
injection.bits
  means  bits or a value of a plan do not fit the field
  cause  Bits count from 0, the lowest, within the field, not within the entry.
  do     The message has the width of the field.
injection.buffer
  means  bytes of a plan lie outside of the buffer, or belong to a ring, a context or a tiling cell
  cause  An offset too large; or bytes that only updates and the tiling server write.
  do     Use flip-field for entries, flip-context for contexts and corrupt-cell for tiling cells.
injection.moment
  means  a change before the fetch is asked for an entry that is fetched as it is submitted
  cause  The entry belongs to a stream of no model, whose entries the host submits one by one.
  do     Use "when": "execute".
injection.limit
  means  a plan sets a limit to what is not less than the chip has, or to less than any chip has
  cause  The figure of another chip, or 0.
  do     sqemu chips NAME shows the figures of a chip.
# the command
usage
  means  the command line cannot be read
  cause  An unknown option, or an argument too many or too few.
  do     Call the command with --help.
bug
  means  this product broke a promise of its own
  cause  A mistake in sqemu, not in your input.
  do     Report the block that was printed; --debug adds the traceback.
memory
  means  the machine has not enough memory
  cause  Tensors, or text and zeros to assemble, that do not fit.
  do     Use smaller input, or a machine with more memory.
file
  means  the operating system refused a file operation
  cause  A full disk or a closed device, a missing folder, missing permissions.
  do     The message names file or standard output; make room, or check path and permissions.
output.file
  means  an output file cannot be written
  cause  A missing or protected folder, a full disk.
  do     Check folder and permissions; nothing was left half written.
option.pair
  means  an argument is not of the form KEY=VALUE
  cause  A missing equals sign or an empty key.
  do     Write, for example, --policy nop_count=8.
option.sweep
  means  a range of --sweep cannot be read
  cause  Another form than NAME=FIRST..LAST, a name that is no number of the shape, or an empty range.
  do     Write, for example, --sweep dk=1..256, --sweep ub=65536..262144:16384 or --sweep dk=64,80,96.
option.wait-graph
  means  the file of --wait-graph has no name that says in which form it is to be written
  cause  The form follows from the end of the name.
  do     End it with .dot (Graphviz), .mmd (Mermaid) or .json.
option.compiled
  means  an option that counts when a graph is compiled was given for a compiled program
  cause  A policy of scope compile, a GE option or --tiling with a task blob; --explain with one that V1 runs.
  do     Give it to sqemu compile, or run the graph itself.
option.contradiction
  means  two options say different things
  cause  --runtime names one runtime and --policy runtime=… the other.
  do     Give one of the two.
dump.options
  means  options of sqemu dump that do not belong together
  cause  For example --family with a task blob.
  do     The message says which one to drop.
dump.unknown
  means  a file is neither a task blob nor SQEs
  cause  An empty file, a graph, an npz.
  do     Give a blob written by sqemu compile, or a file of 64-byte entries as --dump-rings writes them.
dump.where
  means  the expression of --where cannot be read
  cause  A field name that no entry has, a single =, a missing quote or parenthesis.
  do     Look at the column that is named; docs/cli_dump.md has the language.
dump.field
  means  --query or --ignore names a field that no entry of the family has
  cause  A typing mistake, or a field of another family.
  do     sqemu formats STRUCT lists the fields of a layout.
dump.kind
  means  --kind names something that no entry of the family can be
  cause  A typing mistake, or the task type of a blob, which is another numbering.
  do     Use a kind as the table of sqemu dump writes it, or a struct of sqemu formats.
dump.range
  means  --range is no range of slots, or lies behind the last entry
  cause  A typing mistake, or a file that is shorter than expected.
  do     Write A:B; the message says how many entries there are.
dump.number
  means  --stream or --task is no number or range of numbers
  cause  A typing mistake.
  do     Write, for example, --task 3,5-8.
dump.hex
  means  hex text cannot be read at all
  cause  --hex for a binary file, or text of another kind.
  do     Give the output of hexdump -C, xxd or od, or plain hex words.
dump.log
  means  a log holds no whole entry
  cause  Its lines report faults without the words of entries, or the words are cut.
  do     sqemu postmortem says what the log reports; the firmware's log of the same moment has the words.
capture.empty
  means  a folder holds no file to read
  cause  It is empty, or another folder than that of the logs.
  do     Give a log, or the folder that the logs were collected into.
replay.empty
  means  no whole entry was captured, so there is nothing to load into a device
  cause  The logs have no words of entries, or each lacks some.
  do     Give the firmware's logs, or the host's at level debug; sqemu postmortem --json shows what was read.
replay.chip
  means  no chip is known for the family of the captured entries
  cause  --family names one whose chips are not described here, or the family was guessed wrongly.
  do     Name one with --chip; sqemu chips lists them.
replay.fault
  means  a captured entry failed, as the logs say that it did
  cause  A replay repeats the fault of the logs; its reason lies in memory that logs do not have.
  do     Read the report of sqemu postmortem on that task.
dump.cqes
  means  the family has no completion entries that are known
  cause  --cqes with a family that has no completion queue format.
  do     Use v100 or v200.
asm.syntax
  means  assembler text or a JSON line cannot be read
  cause  A missing brace, a directive that does not exist, text that is not JSON.
  do     Look at line and column; sqemu dump --asm shows correct text.
asm.field
  means  a struct or field does not exist, or a field is given twice
  cause  A typing mistake, another family, or a joined value beside its halves.
  do     sqemu formats STRUCT lists the fields.
asm.value
  means  a value does not fit its field
  cause  A number that is too large, a name that the field does not know, a wrong number of elements.
  do     The message says which values fit.
asm.family
  means  the family of the layouts is missing or unknown
  cause  Text without a .family line, JSON lines without the first object of the dump.
  do     Begin with .family v100, or give --family.
asm.text
  means  the input of sqemu asm is not text
  cause  A binary file.
  do     Give what sqemu dump --asm or sqemu dump --json wrote.
diff.options
  means  options of sqemu diff that do not belong together
  cause  For example choices of entries with two task blobs.
  do     The message says which one to drop.
diff.kinds
  means  a task blob and a file of SQEs cannot be compared
  cause  Two inputs of different kinds.
  do     Compare two blobs, or two ring files of sqemu run --dump-rings.
explain.unknown
  means  a code or id that is not known
  cause  A typing mistake, or an id of a plugin that is not loaded.
  do     Look at the suggestions; sqemu plugins list shows what is loaded.
bench.unknown
  means  there is no benchmark group or figure of that name
  cause  A typing mistake.
  do     The message lists the groups; sqemu bench --help says more.
case.missing-key
  means  the npz of a single operator lacks something
  cause  An input array or a key of the case is absent.
  do     Add what the message names.
case.no-reference
  means  there is nothing to compare the outputs with
  cause  --check was asked for, but neither the npz nor the operator brings expected outputs.
  do     Add arrays named as the outputs to the npz.
case.unsupported
  means  the operator cannot be run on its own from an npz
  cause  Its plugin describes no test case form.
  do     Write a graph and use sqemu run.
case.value
  means  a value of the case in the npz cannot be used
  cause  An attribute of another kind, or a bad shape.
  do     Repair what the message names.
operator.unknown
  means  no plugin declares an operator of that name
  cause  A typing mistake or a missing plugin.
  do     Look at the names in the message; sqemu plugins list shows what is loaded.

# inputs
input.none
  means  no input arrays were given
  cause  The graph has inputs, and --inputs is missing.
  do     Give an npz with one array per graph input.
input.npz
  means  a file is no readable npz
  cause  Damaged, a single array, or with pickled objects, which are refused.
  do     Write it with numpy.savez and plain arrays.
argument.type
  means  a function of the Python API was given something of another type
  cause  A file name where its content is meant, or None.
  do     Give what the text names.
input.array
  means  an input cannot be made an array
  cause  A nested list with rows of different length, objects, or masked values.
  do     Give a numpy array; fill masked values first.
input.missing
  means  a graph input has no array
  cause  The npz has no array of that name.
  do     Name the arrays as the inputs of the graph.
input.dtype
  means  an array has another element type than the graph says
  cause  float64 where float32 is meant, most often.
  do     Convert with astype; bfloat16 travels as uint16.
input.shape
  means  an array has another shape than the graph says
  cause  A dimension or an axis is missing.
  do     Give the shape of the graph; shapes are static.

# chips, policies, plugins
chip.unknown
  means  there is no chip of that name
  cause  A typing mistake, or a chip of a plugin that is not loaded.
  do     sqemu chips lists the names.
chip.no-engines
  means  no loaded plugin executes the entries of this chip's family
  cause  The chip of a plugin has entries of another family than v100 and v200, or the plugin with the engines is left
         out.
  do     Load a plugin with engines and a loader for the family, or compile for another chip. Programs for this one can
         be compiled, checked and dumped.
policy.unknown
  means  there is no policy of that name
  cause  A typing mistake, or a policy of a plugin that is not loaded.
  do     sqemu policies lists the names.
policy.value
  means  a policy does not have that value
  cause  A typing mistake, or a number out of range.
  do     sqemu policies NAME shows the values.
plugin.missing
  means  no plugin does what is needed
  cause  The plugin is broken, not installed or left out.
  do     sqemu plugins list says which plugins are there and why one is broken.
plugin.unknown
  means  there is no installed plugin of that name to leave out
  cause  A typing mistake in --no-plugin.
  do     sqemu plugins list shows the names.
plugin.import
  means  a plugin given with --plugin cannot be imported
  cause  No such file or module, or an error while it was imported: the message has it.
  do     Give the path of a Python file, or the name of a module that can be imported.
plugin.invalid
  means  an object that was given as a plugin is none
  cause  A hook with an argument that it does not have, a name that does not exist, or a hook wrapper.
  do     Compare its hooks with the table in docs/plugins.md.
plugin.raised
  means  a hook of a plugin raised an exception, or gave something else than its contract says
  cause  A mistake in that plugin; the message names plugin, distribution, version and hook, and has its error.
  do     Repair the plugin; --debug shows where it happened, --no-plugin leaves an installed one out.
plugin.answer
  means  a compiler or loader of a plugin answered with an object of another class
  cause  A mistake in that plugin: sqemu_compile gives a Compiled, sqemu_load a Model, or None.
  do     Report it to the author of the plugin, or leave it out: --no-plugin NAME.
plugin.engine-raised
  means  the code of an engine failed
  cause  A mistake in the plugin: engines report bad entries as faults.
  do     Report it to the author of the plugin; --debug shows where it happened, --no-plugin leaves the plugin out.
plugin.engine-answer
  means  an engine answered with something that is no Run, Launch or Wait
  cause  A mistake in the plugin.
  do     Report it to the author of the plugin, or leave it out: --no-plugin NAME.
plugin.clash
  means  two plugins bring a thing of one name
  cause  Two chips, operators or kernels with the same name.
  do     Leave one of the two out: --no-plugin NAME.
plugin.policy-clash
  means  two plugins declare one policy
  cause  The same policy name twice.
  do     Leave one of the two out: --no-plugin NAME.
plugin.handler-clash
  means  two plugins handle one kind of SQE
  cause  Two engines for the same type and selector value.
  do     Leave one of the two out: --no-plugin NAME.
plugin.handler
  means  an engine of a plugin is declared wrongly
  cause  A type out of range, or a value to select by without a field.
  do     Report it to the author of the plugin; --debug shows where it happened, --no-plugin leaves the plugin out.
plugin.host-function-raised
  means  a host function of yours raised an exception
  cause  A mistake in the callable in device.host_functions.
  do     Repair it; the message has the exception.
plugin.kernel-raised
  means  the code of a kernel failed
  cause  A mistake in the plugin: kernels report bad input as faults.
  do     Report it to the author of the plugin; --debug shows where it happened, --no-plugin leaves the plugin out.
plugin.aicpu-raised
  means  the code of an AI CPU function failed
  cause  A mistake in the plugin.
  do     Report it to the author of the plugin; --debug shows where it happened, --no-plugin leaves the plugin out.
plugin.check-raised
  means  the code of a check failed, or it gave something that is no finding
  cause  A mistake in the plugin.
  do     Report it to the author of the plugin; --debug shows where it happened, --no-plugin leaves the plugin out.
plugin.tiling-raised
  means  the code of a tiling function failed
  cause  A mistake in the plugin: tiling functions refuse input with TilingError.
  do     Report it to the author of the plugin; --debug shows where it happened, --no-plugin leaves the plugin out.
operator.missing
  means  a blob uses an operator that is not registered
  cause  Its plugin is not loaded.
  do     Load the plugin; the message lists the operators that are there.
operator.arity
  means  a blob and the registered operator differ in the number of inputs or outputs
  cause  The blob was compiled with another version of the plugin.
  do     Compile the graph again with this release and the plugins that are loaded now.

# task blobs
blob.magic
  means  the file is no task blob
  cause  Another file, or the first bytes are damaged.
  do     A blob starts with SQEMUBLB; write one with sqemu compile.
blob.version
  means  the blob has a layout version that this release does not read
  cause  It was written by a newer or a much older release.
  do     Compile the graph again with this release and the plugins that are loaded now.
blob.truncated
  means  the blob ends too early
  cause  A copy that was cut off.
  do     The file was changed or cut after it was written. Write it again.
blob.crc
  means  the checksum of the blob is wrong
  cause  Some byte changed.
  do     The file was changed or cut after it was written. Write it again.
blob.section
  means  the section table of the blob is wrong
  cause  Offsets that overlap or lie outside.
  do     The file was changed or cut after it was written. Write it again.
blob.index
  means  a record of the blob points at nothing
  cause  A damaged blob, or one made by another tool.
  do     The file was changed or cut after it was written. Write it again.
blob.text
  means  a text of the blob is not UTF-8
  cause  A damaged blob, or one made by another tool.
  do     The file was changed or cut after it was written. Write it again.
blob.value
  means  a value of the blob is not allowed
  cause  A damaged blob, or one made by another tool.
  do     The file was changed or cut after it was written. Write it again.
blob.reference
  means  the blob refers to something that is not there
  cause  A task, operator or tensor of the blob names another one wrongly.
  do     Compile the graph again with this release and the plugins that are loaded now.
blob.tensor
  means  a tensor of the blob has a size that does not suit its shape and element type
  cause  A blob made by another tool.
  do     Compile the graph again with this release and the plugins that are loaded now.
blob.capacity
  means  an operator of the blob asks for more tiling data than is allowed
  cause  A blob made by another tool, or a damaged one.
  do     Compile the graph again with this release and the plugins that are loaded now.
blob.chip
  means  the blob was compiled for another chip
  cause  --chip differs from the chip in the blob.
  do     Give --chip as the message says, or compile the graph for your chip.
blob.task
  means  a task of the blob lacks something, or has a value that its type does not allow
  cause  A blob made by another tool.
  do     Compile the graph again with this release and the plugins that are loaded now.
blob.task-type
  means  the loader does not know a task type
  cause  A blob made by another tool, with tasks that this version does not execute.
  do     sqemu dump shows the task list.
blob.args-format
  means  the arguments of a task cannot be built
  cause  Its args format asks for something the operator does not have.
  do     Compile the graph again with this release and the plugins that are loaded now.
blob.no-end
  means  the task list has no end of graph
  cause  Without it nobody learns that the model has ended.
  do     Compile the graph again with this release and the plugins that are loaded now.
blob.update-order
  means  an update stands before the kernel it patches
  cause  The update names the kernel's task id, which exists only after the launch.
  do     Put tiling task, kernel and update in this order.
kernel.missing
  means  a blob needs a kernel that no plugin supplies
  cause  Its plugin is not loaded.
  do     Load the plugin.
kernel.product
  means  a kernel has no binary for this chip
  cause  It was written for other products.
  do     Use one of the chips that the message lists.
kernel.no-entry
  means  a kernel has no entry for a tiling key
  cause  Tiling and kernel come from different versions.
  do     Compile the graph again with this release and the plugins that are loaded now.

# formats
format.value
  means  a value does not fit a layout
  cause  See the message.
  do     Compare the call with the documentation of the method.
format.size
  means  bytes are too few, too many or no whole number of records
  cause  A wrong file or slice.
  do     An SQE has 64 bytes; the message says how many were needed.
format.range
  means  a value does not fit its field
  cause  Negative, too large, or no integer.
  do     The message names struct, field and limits.
format.count
  means  an array field got another number of elements
  cause  A list that is too short or too long.
  do     The message says how many are needed.
format.type
  means  a value of the wrong kind was given
  cause  Not a mapping, not a buffer, not an SQE.
  do     Compare the call with the documentation of the method.
format.assembly
  means  a line of a condition program cannot be read
  cause  An unknown instruction, another form of operands, or a value that does not fit.
  do     The message names the line and says how the instruction is written.
format.text
  means  a text cannot be written to a blob
  cause  It is too long or cannot be encoded.
  do     Use a shorter name.
format.index
  means  a record number is outside the ring
  cause  Counting past the end.
  do     Compare the call with the documentation of the method.
format.read-only
  means  a field of a read-only buffer was to be changed
  cause  bytes cannot be changed.
  do     Use a bytearray, or a writable array.
format.unknown-field
  means  a struct has no such field
  cause  A typing mistake.
  do     The message lists the fields.
format.unknown-struct
  means  a family has no such struct
  cause  A typing mistake, or another family.
  do     The message lists the structs.
format.unknown-family
  means  there is no such family, or it has no SQEs
  cause  A typing mistake.
  do     The message lists the families.
format.struct-clash
  means  two layouts of one family have one name
  cause  A plugin adds a struct that exists already.
  do     Give the struct another name, or the plugin a family of its own.
format.table
  means  the table of a layout is wrong
  cause  A gap, an overlap or a field given twice.
  do     Repair the table in the plugin; the message quotes the line.
format.dtype
  means  an element type is not known
  cause  A typing mistake, or a code of another numbering.
  do     The message lists the types.
format.no-c
  means  a layout cannot be written as a C struct
  cause  A field that C has no type for.
  do     Use the layout from Python.

# pages of runs
report.input
  means  sqemu report was given a trace
  cause  A page shows rings and patched entries, which only a run record has.
  do     Record the run with sqemu run PROGRAM --record F.sqr, and give F.sqr.
report.other
  means  the record given with --host does not belong to the first one
  cause  Another chip, another graph, or another number of executions.
  do     Record the same graph with the same --inputs and --chip twice: with --tiling sink, and with --tiling host.
# run records
record.format
  means  a zip is no run record, or one that was not finished
  cause  Another zip file, or a run that was killed while it wrote the record.
  do     Record the run again with sqemu run --record F.sqr.
record.version
  means  a run record has a version that this release does not read
  cause  It was written by another release.
  do     Read it with the release named in its manifest, or record the run again.
record.damaged
  means  a run record cannot be read completely
  cause  The file was cut or changed on its way; the message names the member.
  do     Copy it again, or record the run again.
record.run
  means  a run record has no execution of that number
  cause  Executions are counted from 0, as in the names of output files.
  do     Choose one that the record has; sqemu dump F.sqr lists them.

"""

IDS: Mapping[str, Parts] = MappingProxyType(
    {**parse(_TABLE), **DEVICE_IDS, **OM_IDS, **SNAPSHOT_IDS, **PLUGIN_IDS, **TRACE_IDS}
)
"""Parts of an explanation by id."""
