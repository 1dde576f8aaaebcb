"""The conformance kit for tests: one call checks everything, or each check is a test of its own.

>>> from emu_core.testing.conformance import CHECKS, conforms
>>> @pytest.mark.parametrize("check", CHECKS)
... def test_conformance(check):
...     conforms(PluginHost([my_plugin]), "my_plugin", check)

Nothing here needs pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.conformance import CHECKS, Outcome, Program, Verdict, check_plugin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.plugins import PluginHost

__all__ = ["CHECKS", "Outcome", "Program", "Verdict", "check_plugin", "conforms"]


def conforms(host: PluginHost, name: str, check: str = "", programs: Iterable[Program] = ()) -> tuple[Verdict, ...]:
    """The verdicts on a plugin: of all checks, or of the one called `check`.

    Raises:
        AssertionError: something is wrong; says everything that is.
        InputError: no such plugin (`plugin.absent`).
        KeyError: no such check.
    """
    chosen = {check: CHECKS[check]} if check else CHECKS
    verdicts = check_plugin(host, name, programs, chosen)
    wrong = [f"{v.check}: {text}" for v in verdicts for text in v.wrong]
    if wrong:
        raise AssertionError("\n".join([f"plugin {name} does not keep the contracts of docs/plugins.md:", *wrong]))
    return verdicts
