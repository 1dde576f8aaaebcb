"""Message ids of runtime (EE…) and graph engine (E…) (`device_semantics.md` 8.3, `tiling_sink_compiler.md` 2)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
E10001
  means  an option has a value outside its valid range
  cause  ge.tiling_schedule_optimize of a session, a graph or a build is none of empty, 0 and 1, or was given in om2
         mode, where it is not supported at all; or --tiling and --tiling_schedule_optimize contradict each other.
  do     Give one of the values that the message lists, or drop the option.
E10006
  means  the command line flag --tiling_schedule_optimize has a value other than 1 and 0
  cause  The text is compared exactly, so 'true', '01' and '1 ' are refused.
  do     Give 1 or 0.
E19999
  means  inner error of the graph engine
  cause  A pass met a state it does not allow, for example an operator whose tiling sinks but which cannot tile on the
         host.
  do     Read the log of the compiler; here graph.… ids say the same thing more exactly.
EE1001
  means  an argument is not valid; the message has a hint
  cause  A value that the call does not take.
  do     Check the arguments of the call that the message names.
EE1003
  means  a parameter has an unexpected value; the message says which values are expected
  cause  An update kind other than 1 and 2, a task prefetch attribute other than 0 and 1.
  do     Check the arguments of the call that the message names.
EE1004
  means  a parameter is a null pointer
  cause  A model task update without target stream, executing stream, parameter block, tiling key address, block dim
         address or handle.
  do     Check the arguments of the call that the message names.
EE1005
  means  the function is not supported
  cause  The chip or its firmware lacks the feature.
  do     Check sqemu chips NAME.
EE1006
  means  this combination of parameters is not supported
  cause  Two arguments that exclude each other here.
  do     Check the arguments of the call that the message names.
EE1007
  means  a stream could not be bound to a model
  cause  The stream is bound already.
  do     Bind each stream once.
EE1009
  means  the execution of a model failed
  cause  The model is busy, or one of its tasks failed.
  do     Look for the first fault.
EE1013
  means  host memory could not be allocated
  cause  The machine has no memory left.
  do     Use smaller tensors.
EE1017
  means  two settings exclude each other
  cause  A time limit given both in seconds and in microseconds.
  do     Give one of them.
EE1018
  means  calls came in the wrong order
  cause  A model was executed or completed before its end of graph, has no stream, or an event is waited for that was
         never recorded.
  do     Finish building the model first.
EE1019
  means  a stream of a model is full
  cause  A ring bound to a model is written once and never wraps, so its tasks are limited: 2042 on 310P, 2013 on
         910B. The compiler lets a stream that is too long go on in another one, unless policy stream_split is off; a
         single operator is never cut.
  do     Compile with --policy stream_split=on, put fewer tasks on one stream, or insert fewer NOPs (policy nop_count);
         sqemu check shows the tasks of every stream.
EE1023
  means  a resource of the device is used up; the message says which
  cause  No event, notify, stream or model id, or no SQ and CQ is left.
  do     Use fewer; sqemu chips NAME shows the limits.
EE4002
  means  a stream could not be taken out of a model
  cause  The stream belongs to another model.
  do     Unbind it from the model it is bound to.
EE9999
  means  inner error of the runtime
  cause  A state the runtime does not expect; often follows an earlier failure.
  do     Look for the first failure.
"""

MESSAGES: Mapping[str, Parts] = MappingProxyType(parse(_TABLE))
"""Parts of an explanation by id."""
