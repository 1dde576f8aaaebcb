"""Ids of snapshots, time travel, recordings and the debugger."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
# snapshots and time travel
snapshot.unkeepable
  means  something that a device holds cannot be put into a snapshot
  cause  A plugin keeps a generator, an iterator, an open file or a function of no module between two steps.
  do     Keep values, frozen dataclasses or functools.partial there; docs/plugins.md, snapshot contract.
snapshot.contract
  means  a device that was made of a snapshot went another way than the run it was taken of
  cause  A plugin keeps state in a global of its module, or outside of the device.
  do     Keep it in the object that supplies the handlers, or in device memory.
snapshot.running
  means  a snapshot was taken or restored in the middle of a step
  cause  A kernel, a watcher or a host function did it while the device called it.
  do     Do it between two steps: before run_until_idle, or after Scheduler.step.
snapshot.device
  means  a snapshot does not belong to that device
  cause  Another chip, another plugin host, or other objects kept beside the device.
  do     Restore it where it was made, or make an independent device with fork.
snapshot.file
  means  a file is no snapshot, or no recording
  cause  Another file, or an empty one.
  do     Give one that was saved with save, or with `snapshot save` of sqemu debug.
snapshot.version
  means  a snapshot was saved by another release
  cause  Snapshots hold the state of one release; it is not translated.
  do     Use the release that saved it, or save it again.
snapshot.damaged
  means  a snapshot or a recording cannot be used: its checksum or its content is wrong
  cause  The file was cut or changed; nothing of it was run.
  do     Copy it again, or save it again.
snapshot.plugins
  means  a snapshot needs plugins, or records of them, that are not loaded
  cause  It was saved with other plugins, or other versions of them.
  do     Load the same ones with --plugin.
snapshot.code
  means  a function that a snapshot names was changed since
  cause  A plugin was edited after the snapshot was saved.
  do     Use the plugin as it was, or save the snapshot again.
snapshot.foreign
  means  a snapshot names something that belongs to no plugin of the device
  cause  Another plugin is missing, or somebody has made the file up; nothing of it was run.
  do     Load the plugins it was saved with, or do not use the file.
snapshot.write
  means  a snapshot or a recording cannot be written
  cause  A missing or protected folder, a full disk.
  do     Give another name, or make room.
travel.position
  means  there is no such position in a run
  cause  A negative number.
  do     Positions count steps from 0.
travel.every
  means  snapshots cannot be taken that often, or in that little memory
  cause  0, or a negative number.
  do     Give 1 or more.
replay.differs
  means  a replay went another way than the recording
  cause  Another version of a plugin, or a plugin that keeps state outside of the device.
  do     Replay with the versions that recorded it.
debug.command
  means  a line is no command of the debugger, or is incomplete
  cause  A typing mistake.
  do     The command help lists them; docs/time_travel.md has an example of each.
debug.inputs
  means  an input file is not the one that a run record names
  cause  Another file, or another order.
  do     Give the files of the recorded run, in its order.
"""

SNAPSHOT_IDS: Mapping[str, Parts] = MappingProxyType(parse(_TABLE))
"""Parts of an explanation by id."""
