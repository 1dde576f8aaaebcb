"""Usual cause and what to do, for the task scheduler codes of `emu_core.codes` (`reference/device_semantics.md` 8)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
0x4
  cause  A model task update that finds no table row, a bad block dim or no target; the execution of a model that is
         busy or does not exist.
  do     Read the fault beside it: update.unknown-key, update.block-dim, update.target-missing, model.busy …
0x25
  cause  A kernel that never ends, or waits for blocks that never start.
  do     Look at kernel_credit of the entry (254 is the longest, 255 never expires), then for what the kernel waits.
0x26
  cause  A kernel that started with the placeholder block dim 0xFFFF, at a PC where no kernel lies, with broken tiling
         data, or that left its buffers.
  do     Look at the first fault of the report: its id says more than this code. Check pc, block dim and arguments of
         the entry with sqemu dump --sqes.
0x27
  cause  A check inside the kernel failed and the kernel stopped itself.
  do     Look at the first fault of the report: its id says more than this code. Check pc, block dim and arguments of
         the entry with sqemu dump --sqes.
0x28
  cause  A tiling function or another AI CPU function that does not return.
  do     Time the function on its own.
0x2a
  cause  A tiling function that refused its input, an operator that is not registered for the AI CPU, or a function
         that no library has.
  do     Read the fault beside it: tiling.failed, tiling.parameter-invalid, aicpu.unknown-function.
0x2d
  cause  A model stream was activated while entries of it were left to run.
  do     Wait for the execution before.
0x2e
  cause  Two waits for one notify were submitted before its record.
  do     Give each wait a notify of its own.
0x30
  cause  A vector kernel that never ends, or waits for blocks that never start.
  do     Look at kernel_credit of the entry (254 is the longest, 255 never expires), then for what the kernel waits.
0x31
  cause  As TS 0x26, for a kernel on vector cores.
  do     Look at the first fault of the report: its id says more than this code. Check pc, block dim and arguments of
         the entry with sqemu dump --sqes.
0x32
  cause  A check inside the vector kernel failed and the kernel stopped itself.
  do     Look at the first fault of the report: its id says more than this code. Check pc, block dim and arguments of
         the entry with sqemu dump --sqes.
0x57
  cause  Platform information or an operator library could not be loaded to the AI CPU.
  do     Nothing here raises it; it comes from a log of a real device.
0x75
  cause  A debugger command came while the task was not stopped.
  do     Nothing here raises it; it comes from a log of a real device.
0x91
  cause  Some task of the model failed, its queue stopped, and the caller that waits for the end of the graph gets
         this code; the host sees ACL 507011.
  do     Look for the first fault in the report, not for this one: it names stream, task and reason.
0x94
  cause  More tasks were put on one stream than its ring holds.
  do     Use more streams; a ring of a model never wraps.
0x95
  cause  The model read to the end of its input; the host sees ACL 507005.
  do     Stop executing; nothing is broken.
0x97
  cause  An entry asks for a task this scheduler does not know, here a condition entry other than model execute.
  do     Look at the entry with sqemu dump; the fault sqe.unsupported says which kind it is.
0x98
  cause  The scheduler could not turn an entry into work; here an update that came after its target had started, under
         policy update_after_consume = fault.
  do     Record the event that releases the kernel after the update.
0x99
  cause  The host aborted the model.
  do     Find out who aborted it and why; the model can be executed again.
0x103
  cause  A task of a kind without a code of its own failed.
  do     Look at the first fault of the report: its id says more than this code. Check pc, block dim and arguments of
         the entry with sqemu dump --sqes.
0x104
  cause  A task on the AI CPU trapped.
  do     Read the log of the AI CPU function.
0x105
  cause  An event wait or notify wait reached its time limit: nobody set the flag.
  do     Find the task that should have set it; the deadlock report names it. Policy event_wait_timeout_s is the
         limit.
0x106
  cause  An entry of an unknown type, an FFTS+ entry or a write value that is not allowed; on real devices also type
         63, into which the driver turns entries that fail its checks.
  do     Decode the entry with sqemu dump and compare its fields with the format.
0x109
  cause  Debugging was registered for a model and for one of its streams.
  do     Nothing here raises it; it comes from a log of a real device.
0x10e
  cause  The host aborted the model, or its context is being aborted after another failure.
  do     Look for the failure before it.
0x10f
  cause  A thread of an FFTS+ task raised an exception.
  do     This version does not execute FFTS+ entries, so the code comes from a log of a real device.
0x110
  cause  A thread of an FFTS+ task trapped.
  do     This version does not execute FFTS+ entries, so the code comes from a log of a real device.
0x111
  cause  A thread of an FFTS+ task did not end in time.
  do     This version does not execute FFTS+ entries, so the code comes from a log of a real device.
0x112
  cause  An access met an address that answers with an error.
  do     Nothing here raises it; it comes from a log of a real device.
0x113
  cause  Two tasks needed one resource at the same time.
  do     Nothing here raises it; it comes from a log of a real device.
0x114
  cause  The status word of the completion entry holds the real code.
  do     Explain the status word instead.
0x905
  cause  A model function was called for a stream that is bound to no model.
  do     Bind the stream first; a model task update needs two bound streams. The host sees ACL 107005.
0x90a
  cause  The chip or its firmware cannot do this, for example model task update.
  do     Check sqemu chips NAME for model_task_update. The host sees ACL 207000.
"""

FULL: Mapping[int, Parts] = MappingProxyType({int(code, 16): parts for code, parts in parse(_TABLE).items()})
"""Cause and action by code."""
