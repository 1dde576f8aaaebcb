"""Checks of a program before it runs, one module each, through the hook that third-party checks use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.checks import CheckSpec


@hookimpl
def sqemu_checks() -> Iterable[CheckSpec]:
    """The built-in checks."""
    from emu_plugins.checks.specs import SPECS  # noqa: PLC0415 - only `sqemu check` needs them

    return SPECS


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """Texts of the findings' ids."""
    from emu_plugins.checks.explanations import EXPLANATIONS  # noqa: PLC0415 - only `sqemu explain` needs them

    return EXPLANATIONS
