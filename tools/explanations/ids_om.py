"""Ids of offline models (`.om`): meaning, usual cause, what to do."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.explanations.text import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.explanations.text import Parts

_TABLE = """
om.header
  means  the header of an offline model is wrong
  cause  A file that was cut off, or one that is something else; the vendor's loader says E10001.
  do     Copy the file again, or convert the model again.
om.zip
  means  a zip container of the newer form (OM2), not an offline model
  cause  The model was built in OM2 mode.
  do     Convert it without that mode.
om.encrypted
  means  an offline model is encrypted
  cause  It was converted with encryption.
  do     Convert it without; nothing here has keys.
om.mobile
  means  a model for mobile chips, which has other fields behind the same magic
  cause  A file of the HiAI tools.
  do     Give a file that atc made for an Ascend chip.
om.table
  means  a partition table of an offline model does not fit the file
  cause  A damaged or cut file; more than 8 partitions; no MODEL_DEF; bytes behind the last partition.
  do     Copy the file again, or convert the model again.
om.partition
  means  a partition of an offline model cannot be read
  cause  A wrong magic, or a length beyond the partition: a damaged file, or a version that is not known.
  do     Copy the file again, or convert the model again.
om.message
  means  a protobuf partition of an offline model cannot be read
  cause  A length or number that does not end, or messages nested too deep: a damaged file, or one made to harm.
  do     Copy the file again, or convert the model again.
om.too-many
  means  a partition of an offline model has more in it than is read
  cause  More than 262144 tasks or operators, 4 million messages or 1 GiB: a file made to harm, most likely.
  do     Split the model.
om.attribute
  means  a compressed attribute of an offline model names none of the names or values
  cause  A damaged file, or an attribute list that was edited.
  do     Convert the model again.
om.value
  means  an offline model has a number that no task blob can hold
  cause  A stream, event, block dim or tensor far beyond any chip: a damaged file.
  do     Copy the file again, or convert the model again.
om.weights
  means  a constant of an offline model has no bytes
  cause  Its offset lies beyond WEIGHTS_DATA, or its value is missing: weights in a file of their own.
  do     Convert the model with its weights inside.
om.no-tasks
  means  an offline model has nothing to run
  cause  A root model that only calls others, or a model that was not compiled for a device.
  do     See sqemu dump; give a model that was compiled for a device.
"""

OM_IDS: Mapping[str, Parts] = MappingProxyType(parse(_TABLE))
"""Parts of an explanation by id."""
