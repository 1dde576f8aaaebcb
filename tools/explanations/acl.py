"""Return codes of the user API (`reference/device_semantics.md` 8.1): meaning, usual cause, what to do."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
107000
  means  a parameter is not valid
  cause  A null pointer, or an attribute with a value that is not allowed.
  do     Check the arguments of the call; message EE1003 or EE1004 names the one.
107002
  means  the calling thread has no context
  cause  No device was set in this thread.
  do     Set the device first.
107003
  means  the stream belongs to another context
  cause  A stream was used in a thread with another context.
  do     Use the stream in the context that made it.
107005
  means  the stream is bound to no model, or to another
  cause  A model task update on an unbound stream, or a stream that was bound twice.
  do     Bind both streams of the update to the model, once.
107019
  means  a wait reached its time limit
  cause  An event or notify that nobody set.
  do     Find who should have set it.
107020
  means  a task reached its time limit
  cause  An event wait or notify wait that nobody ended (TS 0x105).
  do     Find the task that should have set the flag; the deadlock report names it.
107022
  means  the stream was aborted
  cause  An earlier failure, with failure mode stop.
  do     Look for the first failure.
107023
  means  the device was aborted
  cause  An earlier failure, with failure mode stop.
  do     Look for the first failure.
107037
  means  the model is running
  cause  A second execution, or a change, while the first has not ended.
  do     Wait for the execution to end, or abort it.
107040
  means  updating a model failed
  cause  A task of a captured model could not be replaced.
  do     Build the model again.
207000
  means  the feature is not supported
  cause  The chip or its firmware lacks it, for example model task update.
  do     Check model_task_update in sqemu chips NAME.
207001
  means  a memory allocation failed; also what a null module object gives
  cause  Memory is used up, or a kernel binary was not loaded.
  do     Use smaller tensors; check that kernels loaded.
207005
  means  a resource could not be allocated: no SQ or CQ is left
  cause  Too many streams.
  do     Destroy what is no longer used, or use fewer; sqemu chips NAME shows the limit.
207007
  means  no event id is left
  cause  Each sinking operator takes one event, each producer of a depended value another, and so does every place where
         a long stream is split (policy stream_split) or joined to the end.
  do     Destroy what is no longer used, or use fewer: let fewer operators sink in one graph, or split the graph. sqemu
         check counts them, sqemu chips NAME shows the limit.
207008
  means  no stream id is left
  cause  Each main stream with sinking operators takes an attached one, too, and a stream that is too long for one ring
         is split into several (policy stream_split).
  do     Destroy what is no longer used, or use fewer; sqemu check counts them, sqemu chips NAME shows the limit.
207009
  means  no notify id is left
  cause  Each loaded model takes one for its end of graph.
  do     Destroy what is no longer used, or use fewer; sqemu chips NAME shows the limit.
207010
  means  no model id is left
  cause  Models that are loaded and never unloaded.
  do     Destroy what is no longer used, or use fewer; sqemu chips NAME shows the limit.
507000
  means  internal error of the runtime
  cause  The runtime met a state it did not expect.
  do     Read its log around it.
507001
  means  error of the task scheduler
  cause  A task failed with a TS code that has no ACL code of its own.
  do     Explain the TS code beside it.
507002
  means  the task queue of a stream is full
  cause  More tasks than the ring holds (TS 0x94).
  do     Use more streams.
507005
  means  end of sequence
  cause  The model read to the end of its input (TS 0x95).
  do     Stop executing.
507011
  means  the execution of a model failed
  cause  Any failed task inside a model: its queue stops, the caller's wait for the end of the graph ends with TS
         0x91, and synchronising reports this code whatever the task's own is.
  do     Look for the first fault of the report: it names the task and the task's own code, for example 507015.
507012
  means  no report came in time
  cause  The device did not answer.
  do     Check the state of the device.
507014
  means  AI Core timeout
  cause  A kernel ran out of its credits (TS 0x25).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507015
  means  AI Core exception
  cause  A kernel failed (TS 0x26), inside a model or on a stream of its own.
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507016
  means  AI Core trap
  cause  A kernel stopped itself (TS 0x27).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507017
  means  AI CPU timeout
  cause  A tiling function, for example, did not return (TS 0x28).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507018
  means  AI CPU exception
  cause  A tiling function failed, or none is registered (TS 0x2A).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507023
  means  the model was aborted
  cause  The host aborted it, often after a time limit.
  do     Look for what came before.
507034
  means  vector core timeout
  cause  A vector kernel ran out of its credits (TS 0x30).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507035
  means  vector core exception
  cause  A vector kernel failed (TS 0x31).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507036
  means  vector core trap
  cause  A vector kernel stopped itself (TS 0x32).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507046
  means  synchronising a stream reached its time limit
  cause  Some task of it waits for ever, often for an event.
  do     Look at the entry at head of each stream: the deadlock report lists them.
507047
  means  synchronising an event reached its time limit
  cause  The event was not recorded.
  do     Look at the entry at head of the stream that records it.
507048
  means  FFTS+ timeout
  cause  A thread of an FFTS+ task did not end (TS 0x111).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507049
  means  FFTS+ exception
  cause  A thread of an FFTS+ task failed (TS 0x10F).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507050
  means  FFTS+ trap
  cause  A thread of an FFTS+ task stopped itself (TS 0x110).
  do     Look at the first fault of the report: inside a model it shows this code as the task's own, while
         synchronising reports 507011; on other streams synchronising reports this code itself.
507899
  means  error of the driver
  cause  Often what follows from an earlier failure of the device: after an AI Core timeout the context of the process
         stays unusable.
  do     Look for the first failure; restart the process.
507902
  means  the AI CPU refused operator information
  cause  Platform information or a library was not loaded (TS 0x57).
  do     Check the version of the operator package on the device.
"""

ACL: Mapping[int, Parts] = MappingProxyType({int(code): parts for code, parts in parse(_TABLE).items()})
"""Parts of an explanation by code."""
