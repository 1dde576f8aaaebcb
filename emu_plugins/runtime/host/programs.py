"""Program calls: register a kernel binary, look up its kernels (`device_semantics.md` 5.4, S15 to S17).

A program is one kernel of a plugin with an entry per tiling key. Its tiling table has one row per key, ascending; a key
that is given twice is only warned about. The table itself is written by each update, from the program.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_plugins.runtime.host.base import RuntimeCore, api_call
from emu_plugins.runtime.host.errors import null_pointer
from emu_plugins.runtime.host.handles import Function, Program
from emu_plugins.runtime.images import load_kernel
from formats.blob import BlobKernel

if TYPE_CHECKING:
    from collections.abc import Iterable


class ProgramCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def register_program(self, name: str | None, tiling_keys: Iterable[int] | None = None) -> Program:
        """Write the image of kernel `name` to device memory.

        Args:
            name: a kernel that a plugin supplies (`sqemu_kernels`).
            tiling_keys: keys of its entries, in the order of registration; None is what the plugin says, an empty
                list a program without kernels.

        Raises:
            RuntimeApiError: null (107000, EE1004); no plugin supplies the kernel, or not for this chip (507027); memory
                used up (207001, EE1023).
        """
        if name is None:
            raise null_pointer("register_program", "name")
        spec = self.device.host.kernels.get(name)
        listed = (spec.tiling_keys if spec else ()) if tiling_keys is None else tuple(tiling_keys)
        repeated = tuple(sorted(key for key, count in Counter(listed).items() if count > 1))
        if repeated:
            self.warnings.append(f"register_program: kernel {name} has the tiling keys {list(repeated)} more than once")
        if spec is not None and not listed:
            return Program(self, name, None)
        kernel = BlobKernel(name, int(spec.core_type) if spec else 0, tuple(sorted(set(listed))))
        return Program(self, name, load_kernel(self.device, kernel), repeated)

    @api_call
    def unregister_program(self, program: Program | None) -> None:
        """Take a program away; its image is freed, and kernels of it that still wait fault when they start.

        Raises:
            RuntimeApiError: null (107000, EE1004), gone already (107017).
        """
        found = self.require("unregister_program", "program", program, Program)
        found.alive = False
        if found.image is not None:
            self.device.memory.free(min(found.image.entries.values()))

    @api_call
    def get_function(self, program: Program | None, tiling_key: int = 0, *, where: str = "get_function") -> Function:
        """The kernel of `program` for `tiling_key`; `where` is named in messages, for example the operator.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), no such key (507027).
        """
        found = self.require("get_function", "program", program, Program)
        entries = found.image.entries if found.image else {}
        if tiling_key not in entries:
            raise InputError(
                f"kernel {found.name} has no entry for the tiling key {tiling_key} (keys {sorted(entries)[:8]})",
                id="kernel.no-entry",
                where=where,
                remedy="compile the graph again with the same plugins, or register the program with this key",
            )
        return Function(found, tiling_key, entries[tiling_key])
