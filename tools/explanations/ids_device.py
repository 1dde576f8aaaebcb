"""Ids of what happens on the device, as far as no plugin explains them: meaning, usual cause, what to do."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
# hazards
hazard.stale-prefetch
  means  an entry was rewritten after the scheduler had fetched it, so the fetched copy runs
  cause  The kernel stands too close behind the wait: while the wait blocks the queue, everything within the prefetch
         depth is fetched already, and the update comes too late.
  do     Put more NOPs between wait and kernel (policy nop_count): the kernel is fresh when NOPs + 2 exceed the
         prefetch depth. The 2 are the entries of the wait: the wait itself, where the queue stands, and the reset of
         its event behind it put the kernel at distance NOPs + 2. With wait_reset=off there is no reset, so NOPs + 1
         must exceed the depth. The smallest safe counts by default are 4 on 310P (depth 5) and 7 on 910B (depth 8),
         and 5 and 8 with wait_reset=off. Policy stale_prefetch decides what happens instead.
hazard.silent-reuse
  means  an entry runs with the values that an earlier execution patched in
  cause  No update reached it this time; patched rings keep their values from one execution to the next.
  do     Check that the update ran before the kernel in this execution: that the kernel waits for it, and that the event
         is reset behind the wait, so that it does not pass on the record of an earlier execution.
hazard.unwritten-output
  means  an output was not written completely, so what lay there before is returned
  cause  A kernel ran with too few blocks or a wrong key, or leaves parts out on purpose, such as the state of an
         empty sequence.
  do     Find the task that should write it; look for hazard.stale-prefetch and hazard.silent-reuse beside it.
hazard.uninitialised-read
  means  a task reads bytes that nobody wrote
  cause  The task that should have written them did not run, or runs later.
  do     Find the writer and the order; policy uninitialised_read = fault stops at the first one.
ring.slot
  means  a program patches a slot that the ring does not have
  cause  A slot counts entries of the ring from 0; a task id is no slot once ids have flipped.
  do     Ask the queue: slot_of gives the slot of a task id.
hazard.unordered-access
  means  two entries touch the same bytes, one of them writes, and nothing orders the two
  cause  No chain of events, notifies, activations or host calls leads from one to the other. Here one came first; on
         another chip, or on another day, the other may.
  do     Let the first record an event that the stream of the second waits for. Seen with policy ordering=report.
hazard.update-inputs
  means  a task update reads a tiling cell that another entry writes, and nothing orders the two
  cause  The tiling task and the update are on different streams without an event between them.
  do     Put the update behind the tiling task on its stream, or let an event order them.
hazard.unordered-update
  means  an entry executes that an update patches, and nothing orders it behind the update
  cause  The wait in front of the kernel is missing, or is for an event that is recorded before the update.
  do     Record the event behind the update, and wait for it before the kernel, with enough NOPs in between.
hazard.lost-update
  means  a field was patched twice before its entry executed, so that the first patch has no effect
  cause  Two updates name one kernel, or a kernel was left out between them.
  do     Let the kernel execute between the two, or take one of them out.
hazard.flag-reuse
  means  a wait passes a flag that was set twice since it was clear, so it may come before either setter
  cause  The reset between two uses of an event is missing, or two streams record one event.
  do     Reset the event between the two, or give each its own.
deadlock
  means  no task can run, and streams wait
  cause  An event or notify that nobody sets: its setter failed, waits itself, or does not exist.
  do     The report names for each stream what it waits for and where the setter is; "because" tells the circle or the
         missing record, and "do" one way out.

# faults
injection.failed-task
  means  a task fails because a plan of injections says so
  cause  sqemu run --inject with an injection of kind fail-task; the code is the plan's.
  do     Look at what else stops because of it; take the injection out of the plan to run without it.
kernel.placeholder-block-dim
  means  a kernel started with the placeholder block dim 0xFFFF
  cause  The update had not reached the entry that ran: it came too late for the prefetch, or the event was recorded
         before the update.
  do     Look for hazard.stale-prefetch, and at the order of update and record on the attached stream.
kernel.block-dim-zero
  means  a kernel started with block dim 0
  cause  The entry was built or patched with 0 blocks.
  do     Set at least one block.
kernel.bad-pc
  means  the program counter of a kernel points at no kernel
  cause  The entry was patched with a wrong table row, or was built by hand.
  do     Compare pc with the addresses that sqemu dump --sqes names.
super-kernel.no-entry
  means  a sub kernel of a super kernel was told a tiling key that its binary has no entry for
  cause  The tiling function wrote a key that the kernel does not declare, or the key cell was overwritten.
  do     Compare the key with the tiling keys of the kernel (sqemu plugins); report it to the author of the plugin.
kernel.core-type
  means  a context starts an entry of a kernel on cores it is not for
  cause  The mix type of the tiling table's row does not fit its program counters, or a context was built by hand.
  do     Compare the row with the entries of the kernel.
ffts.entry
  means  an FFTS+ entry cannot be executed
  cause  Its counts do not fit its kind, or the address of its contexts is no multiple of 128.
  do     Look at it with sqemu dump; a mix kernel has exactly one context.
ffts.context
  means  a context of an FFTS+ entry cannot be one
  cause  No threads, too many successors, successors that do not exist, or no mix context in a mix kernel.
  do     Look at it with sqemu dump.
ffts.graph
  means  the contexts of an FFTS+ entry cannot all run
  cause  A cycle, a wrong count of predecessors, or a wrong number of ready contexts.
  do     Make pred_cnt the number of contexts that name this one as successor.
kernel.unknown
  means  a kernel image belongs to no registered kernel
  cause  Its plugin is not loaded.
  do     Load the plugin.
aicpu.unknown-function
  means  no such function is registered for the AI CPU
  cause  Functions are found by library and name; the plugin that brings it is not loaded.
  do     Load the plugin.
tiling.does-not-fit
  means  no V step of this shape fits into UB
  cause  The K tiles and the state grow with dk; even the narrowest V tile then needs more than UB has.
  do     The message has the missing bytes; use a smaller dk, or a chip (--chip, --ub) with more UB.
tiling.refused
  means  the host tiling refuses the shape or the platform
  cause  Beyond the operator's limits, or a platform without UB or cores.
  do     The message names the number and its limit.
tiling.failed
  means  a tiling function refused its input
  cause  A depended value or a shape that it cannot tile.
  do     Check the values this tiling reads; the message has its reason.
tiling.parameter-invalid
  means  the tiling server got bad arguments
  cause  A null pointer, or an operator that is not registered for the AI CPU.
  do     Check the arguments of the tiling task.
update.unknown-key
  means  an update finds no row for the tiling key
  cause  The tiling function set a key that the kernel was not compiled for.
  do     Set one of the keys the message lists; policy update_unknown_key.
update.block-dim
  means  an update would write a block dim of 0 or 0xFFFF
  cause  The tiling function set no block dim, or never ran.
  do     Set 1 to 65534 blocks; policy update_bad_block_dim.
update.target-missing
  means  the target of an update is in no ring
  cause  Stream or task id of the update are wrong.
  do     Name a kernel that was launched before; policy update_bad_target.
update.target-kind
  means  the target of an update is no kernel
  cause  The ids point at another entry.
  do     Name an AI Core kernel; policy update_bad_target.
update.descriptor
  means  an update and its target disagree about a mix context, or the context cannot be one
  cause  The descriptor offset is all ones for an FFTS+ entry, or names a context for a plain kernel, another entry's
         context, or something else.
  do     Give the context that the entry of the target points at, all ones for a plain kernel; policy update_bad_target.
update.mix-mismatch
  means  the row of the tiling table says mix and the target is a plain kernel, or the other way round
  cause  The table belongs to another program than the kernel.
  do     Give the table of the kernel's own program; policy update_bad_target.
update.bad-row
  means  the row that has the tiling key cannot be one
  cause  It was never initialised, or something wrote over the tiling table.
  do     Look at the table with sqemu dump; policy update_unknown_key.
update.alignment
  means  what an update points at is not aligned
  cause  Its entry was built by hand, or an address was computed wrongly: keys and tables need 8 bytes, block dims 4,
         contexts 128.
  do     Place it aligned; the policies of key, block dim and target decide what happens.
update.after-consume
  means  an update came after its target had started
  cause  Nothing holds the kernel back: no wait stands before it; or its wait passed on a flag that an earlier
         execution left set, because no reset stands behind the wait; or the event is recorded before the update.
  do     Wait before the kernel, reset behind the wait, record behind the update. Policy update_after_consume.
wait.timeout
  means  a wait reached its time limit
  cause  Nobody set the flag.
  do     Find the task that should; policy event_wait_timeout_s is the limit, 0 is for ever.
task.timeout
  means  a task was not done when its time budget, the kernel credit, was used up
  cause  A kernel that waits for cores that never become free, or one that takes too long.
  do     The message says what it lacks; policy kernel_credit_us is the length of one credit.
kernel.batch-overflow
  means  a batch kernel has more blocks than the chip has cores
  cause  All of its blocks have to start at once, which can never happen.
  do     Use fewer blocks, or schedule mode 0; policy schem_batch_overflow.
callback.unknown
  means  the device asks the host for a function that nobody registered
  cause  A wrong address, or nothing in device.host_functions.
  do     Put a callable into device.host_functions under this address.
condition.order
  means  a condition program orders something of a queue that it cannot do
  cause  A queue or entry that does not exist, or a queue that is at work.
  do     Check queue id and entry in the program.
condition.call
  means  a condition program calls another one in a way that is not allowed
  cause  An address that is not aligned to 256 bytes, or programs that call each other without end.
  do     Check the address; eight levels are allowed.
condition.error
  means  a condition program took its error exit
  cause  What the program tests did not hold.
  do     sqemu dump shows the program.
condition.instruction
  means  a word of a condition program is no instruction that is known here
  cause  A wrong address or length, or a jump into an instruction.
  do     sqemu dump shows the program.
condition.loop
  means  a stream executes condition instructions without end
  cause  A label behind which the stream comes back to the jump, with nothing that changes.
  do     Check labels and index; policy condition_steps is the limit.
stream.clear
  means  a stream cannot be cleared
  cause  It does not exist, or is the one that executes the command.
  do     Check the stream id of the command.
stream.unknown
  means  a change of an entry names a stream that the device does not have
  cause  The id of a blob's stream where that of the device is meant, or a stream that was destroyed.
  do     Take the id of the stream object.
stream.priority
  means  a stream priority does not exist
  cause  A number outside 0 to 7.
  do     Use 0 (first) to 7.
stream.aborted
  means  nothing can be submitted any more
  cause  A task of a stream of no model failed in failure mode stop.
  do     Repair the first fault and make a new device, or use policy failure_mode=continue.
prefetch.clear
  means  what was fetched of a queue cannot be thrown away now
  cause  The queue has neither stopped with an error nor is paused.
  do     Pause the stream first.
model.failed
  means  a model ended because one of its streams failed
  cause  It follows from another fault.
  do     Repair the first fault of the report.
model.busy
  means  a model cannot be executed now
  cause  An execution of it has not ended, or it failed and was not aborted.
  do     Wait for the execution, abort it, or load the model again.
model.unknown
  means  an entry executes a model that does not exist
  cause  Its model id is wrong.
  do     Use the id that loading gave.
memory.bounds
  means  an access outside any allocation, or past the end of one
  cause  A wrong address or size in arguments or tiling data.
  do     The message names the nearest allocation and by how much it is missed.
memory.freed
  means  an access to memory that was given back
  cause  An address that is out of date.
  do     The message names what the memory was.
memory.protected
  means  a task wrote to a ring or a tiling cell
  cause  Only a task update or the tiling server may change them.
  do     Check the address in its arguments.
memory.text
  means  no zero-terminated text lies at an address
  cause  A wrong pointer to a name.
  do     Check the arguments.
sqe.length
  means  a task has more 64-byte units than exist, or than were submitted
  cause  sqe_length of its first unit is over 4, or units were left out.
  do     Submit all units of a task in one piece; sqe_length counts those behind the first one.
ring.task-size
  means  something that is no task was to be submitted
  cause  It has not 1 to 5 whole units of 64 bytes.
  do     Give whole entries.
model.aborted
  means  a task aborted the model while somebody waited for its end
  cause  A place holder of task type 12 with operation 6, sent by the host or another stream.
  do     Find out why it was sent; abort the model on the host, then execute it again.
sqe.unknown-type
  means  no engine handles an SQE type
  cause  The type bits are wrong, or a plugin is missing.
  do     Decode the entry with sqemu dump.
sqe.unsupported
  means  an entry that this version does not execute
  cause  An entry that no source defines, or one for absent hardware with policy absent_hardware=fault.
  do     Decode the entry with sqemu dump; nothing else of it is wrong.
sqe.sdma
  means  the length of an SDMA entry is no whole number of elements
  cause  A reduction or a fill whose data type is wider than one byte, with a length in elements.
  do     Give the length in bytes, a multiple of the width of the type.
sqe.write-value
  means  a write value is not aligned or too large
  cause  The size is 2 to the power awsize, at most 32 bytes.
  do     Align the address to the size.
limit.sq-full
  means  a submission queue has no room
  cause  More entries were submitted than retired.
  do     Submit less at a time, or use more streams.
"""

DEVICE_IDS: Mapping[str, Parts] = MappingProxyType(parse(_TABLE))
"""Parts of an explanation by id."""
