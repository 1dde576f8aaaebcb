"""Device libraries: which shared object holds the tiling function of an operator.

Mirrors the path search of the vendor's `CreateTilingTask` (`reference/tiling_sink_compiler.md` 7.3). Nothing is looked
up on a disk: the emulated AI CPU finds a server by file name and function.

| operator | library |
|---|---|
| of a package | `…/op_tiling_device/lib/libtiling_device_<prefix>.so` |
| custom | `<custom>/…/op_master_device/lib/libcust_opmaster.so` |
| built-in | `…/op_master_device/lib/Ascend-v1.0-libopmaster.so`, `Ascend310P-v1.0-…` on 310P |
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip

TILING_FUNCTION = "RunAicpuRpcSrvLaunch"
BUILT_IN_DIRECTORY = "opp/built-in/op_impl/ai_core/tbe/op_master_device/lib"
PACKAGE_DIRECTORY = "opp/built-in/op_impl/ai_core/tbe/op_tiling_device/lib"
CUSTOM_LIBRARY = "opp/vendors/customize/op_impl/ai_core/tbe/op_master_device/lib/libcust_opmaster.so"
_PRODUCT_PREFIX: Mapping[str, str] = MappingProxyType({"310P": "Ascend310P"})


def tiling_library(chip: Chip, *, custom: bool, prefix: str = "") -> str:
    """Path of the device tiling library, relative to the installation."""
    if prefix:
        return f"{PACKAGE_DIRECTORY}/libtiling_device_{prefix}.so"
    product = _PRODUCT_PREFIX.get(chip.product, "Ascend")
    return CUSTOM_LIBRARY if custom else f"{BUILT_IN_DIRECTORY}/{product}-v1.0-libopmaster.so"
