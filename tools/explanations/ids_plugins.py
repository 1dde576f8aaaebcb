"""Ids of the plugin kit: passes, importers, views, subcommands, `sqemu plugins new` and `check`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
# plugins
plugin.pass-answer
  means  a compiler pass of a plugin gave something that it may not give at its point
  cause  A mistake in that plugin: a graph is given at import, a blob at emit, and nothing between the passes.
  do     Leave the plugin out with --no-plugin, and tell its author.
plugin.absent
  means  there is no plugin of that name to check
  cause  A typing mistake, or the plugin is not installed and was not given.
  do     sqemu plugins list shows the names; give it with --plugin.
plugins.name
  means  a name for a new plugin package cannot be used
  cause  Characters that the place does not allow, a word of Python, or a name of sqemu itself.
  do     Give another one; the message says the form.
plugins.exists
  means  sqemu plugins new was given a folder that is there already
  cause  It holds files, or it is a file itself. Nothing is overwritten.
  do     Give a folder that does not exist or is empty.
plugins.inputs
  means  sqemu plugins check was given inputs without a program
  cause  --inputs without --program.
  do     Give the graph or task blob that the inputs belong to.
import.ambiguous
  means  several plugins have an importer for the file
  cause  Their formats begin with the same bytes.
  do     Leave one of them out with --no-plugin.
dump.view
  means  no plugin has a view of that name
  cause  A typing mistake in --view, or the plugin is not loaded.
  do     Look at the names in the message; give the plugin with --plugin.
"""

PLUGIN_IDS: Mapping[str, Parts] = MappingProxyType(parse(_TABLE))
"""Parts of an explanation by id."""
