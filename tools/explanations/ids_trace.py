"""Ids of `sqemu trace` and of the log of a run: meaning, usual cause, what to do."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
trace.line
  means  a line of a trace is no event
  cause  The file is something else, was cut off, or is of a version whose events have other fields.
  do     The message has the line's number; write the trace again with sqemu run --trace, or give a run record.
trace.empty
  means  a trace or record holds nothing to look at
  cause  The run ended before its first execution, or the file is empty.
  do     Record a run that executes: sqemu run PROGRAM --record F.sqr.
trace.event
  means  there is no event of this name
  cause  A mistyped name, or the plugin that declares it is not loaded.
  do     sqemu trace events lists them; --plugin loads a plugin.
trace.task
  means  no event of the execution names this task
  cause  Another stream or task id, another execution, or a task that was never submitted.
  do     sqemu trace summary shows the streams, sqemu trace sql F "select stream, task, kind from tasks" the tasks.
trace.task-form
  means  a task is not written as STREAM:TASK
  cause  A task id without its stream.
  do     Write, for example, 0:7 for task 7 of stream 0.
trace.field
  means  nothing wrote the field that sqemu trace journal was asked for
  cause  It kept the value that it was loaded with, or it has another name.
  do     sqemu trace patches lists every field that was written, sqemu formats those that a layout has.
trace.sql
  means  a statement of sqemu trace sql cannot be run
  cause  A mistake in it, a table or column that does not exist, or a statement that would write.
  do     Give one select; sqemu trace sql F without a statement lists tables and columns.
trace.timeline-form
  means  the name of a timeline's file does not say how to write it
  cause  An ending other than .json and .pftrace.
  do     End it in .json (Chrome's JSON) or in .pftrace (Perfetto's own form, smaller).
log.event
  means  --log-events names an event that does not exist
  cause  A mistyped name, or the plugin that declares it is not loaded.
  do     sqemu trace events lists them.
log.streams
  means  --log-streams is no list of stream numbers
  cause  A name, or another sign between the numbers than a comma.
  do     Write, for example, --log-streams 0,1.
"""

TRACE_IDS: Mapping[str, Parts] = MappingProxyType(parse(_TABLE))
"""Parts of an explanation by id."""
