"""Calling one hook function of one plugin: by keyword, with the contract checked and errors that name the plugin.

| hook | gives |
|---|---|
| `sqemu_compile`, `sqemu_load` | one object of the class in `ANSWERS`, or None |
| `sqemu_explanations` | a mapping of text to text |
| every other one | an iterable of the records in `RECORDS` |
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import formats
from emu_core import deprecations, hookspecs
from emu_core.checks import CheckSpec
from emu_core.chips import Chip
from emu_core.engines import Handler
from emu_core.errors import PluginError, SqemuError
from emu_core.extensions import CommandSpec, DumpView, ImporterSpec, ObserverSpec, PassSpec
from emu_core.kernels import AicpuKernelSpec, KernelSpec
from emu_core.operators import OperatorSpec
from emu_core.policies import PolicySpec

GIVEN = "given by the caller"
OURS = "sqemu"
"""Our own distribution."""

RECORDS: Mapping[str, tuple[type, str]] = MappingProxyType(
    {
        "sqemu_chips": (Chip, "name"),
        "sqemu_structs": (formats.CStruct, "struct_name"),
        "sqemu_policies": (PolicySpec, "name"),
        "sqemu_operators": (OperatorSpec, "type"),
        "sqemu_kernels": (KernelSpec, "name"),
        "sqemu_aicpu_kernels": (AicpuKernelSpec, "function"),
        "sqemu_engines": (Handler, "kind"),
        "sqemu_checks": (CheckSpec, "name"),
        "sqemu_passes": (PassSpec, "name"),
        "sqemu_importers": (ImporterSpec, "name"),
        "sqemu_dump_views": (DumpView, "name"),
        "sqemu_observers": (ObserverSpec, "name"),
        "sqemu_commands": (CommandSpec, "name"),
    }
)
"""What each collecting hook gives a sequence of, and the attribute that names one."""


ANSWERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"sqemu_compile": ("emu_core.graph", "Compiled"), "sqemu_load": ("emu_core.model", "Model")}
)
"""What each hook with one answer gives if not None: module and class, imported when there is an answer."""


@dataclass(frozen=True)
class PluginInfo:
    """A plugin that was found: name, where from, and the reason if it is broken.

    Attributes:
        origin: distribution and version, or `GIVEN`. file: of its module; empty when it has none.
        load_ns: nanoseconds it took to import and register it, by the stopwatch of the host; None without one.
    """

    name: str
    origin: str
    hooks: tuple[str, ...] = ()
    broken: str = ""
    file: str = ""
    load_ns: int | None = None

    @property
    def ours(self) -> bool:
        """Whether it comes with the product."""
        return self.origin.partition(" ")[0] == OURS

    @property
    def label(self) -> str:
        """Name and origin, for messages: `plugin edu (sqemu-edu 1.0)`."""
        return f"plugin {self.name} ({self.origin})"


@dataclass(frozen=True)
class Impl:
    """A hook function of a plugin; `rank` is 0 with `tryfirst`, 2 with `trylast`, else 1."""

    plugin: PluginInfo
    hook: str
    function: Callable[..., Any]
    rank: int

    def call(self, arguments: Mapping[str, object]) -> Any:  # noqa: ANN401 - the hook's own result
        """The result; all arguments that the function takes are passed by name."""
        wanted = inspect.signature(self.function).parameters
        return self.function(**{name: arguments[name] for name in wanted if name in arguments})

    def answer(self, arguments: Mapping[str, object]) -> Any:  # noqa: ANN401 - the hook's own result
        """The one answer of `sqemu_compile` or `sqemu_load`, or None.

        Raises:
            PluginError: another class than the hook promises (`plugin.answer`), or it raised something that is meant
                for nobody (`plugin.raised`).
        """
        try:
            result = self.call(arguments)
        except (SqemuError, formats.FormatError):
            raise
        except Exception as error:
            if self.plugin.ours:
                raise
            raise self.error(f"raised {reason(error)}", id="plugin.raised") from error
        module, name = ANSWERS[self.hook]
        if result is not None and not isinstance(result, getattr(importlib.import_module(module), name)):
            raise self.error(f"must answer with a {name} or None, not {type(result).__name__}", id="plugin.answer")
        return result

    @property
    def order(self) -> tuple[int, int]:
        """Who is asked first for the one answer of a hook; equal ones in the order in which they were registered."""
        return self.rank, 0 if self.plugin.origin == GIVEN else 2 if self.plugin.ours else 1

    def error(self, what: str, *, id: str) -> PluginError:  # noqa: A002 - see SqemuError
        """The error of this hook; `what` follows its name."""
        return PluginError(
            f"{self.hook} {what}",
            id=id,
            where=self.plugin.label,
            remedy="report this to the author of the plugin, or leave it out",
        )


def reason(error: BaseException) -> str:
    """An exception on one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


class Unfit(Exception):  # noqa: N818 - an answer to the host, not an error
    """A hook function, or what it gave, is not what the contract of the hook says."""


def arguments_of(hook: str) -> tuple[str, ...]:
    """Names of the arguments that a hook is called with."""
    return tuple(inspect.signature(getattr(hookspecs, hook)).parameters)


def check_function(hook: str, function: Callable[..., Any], known: tuple[str, ...]) -> None:
    """`Unfit` for a function that cannot be called by name with the arguments `known` of `hook`."""
    kinds = inspect.Parameter
    for name, taken in inspect.signature(function).parameters.items():
        if taken.kind is kinds.POSITIONAL_ONLY:
            raise Unfit(f"{hook} takes {name} by position only; hooks are called by name")
        optional = taken.default is not kinds.empty or taken.kind in {kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL}
        gone = deprecations.row_of(hook, name) if name not in known else None
        if gone is not None:
            raise Unfit(gone.refusal())
        if name not in known and not optional:
            raise Unfit(f"{hook} has no argument {name!r}; it has {', '.join(known) or 'none'}")


def checked(hook: str, result: Any) -> Any:  # noqa: ANN401 - whatever a plugin gives
    """The result of a collecting hook as a list of its records, or as a mapping of texts; `Unfit` otherwise."""
    if hook == "sqemu_explanations":
        if not isinstance(result, Mapping) or any(type(x) is not str for pair in result.items() for x in pair):
            raise Unfit(f"must give a mapping of text to text, not {type(result).__name__}")
        return result
    record, named_by = RECORDS[hook]
    if isinstance(result, str | bytes) or not isinstance(result, Iterable):
        raise Unfit(f"must give {record.__name__} records, not {type(result).__name__}")
    items = list(result)
    for item in items:
        if not isinstance(item, record):
            raise Unfit(f"must give {record.__name__} records, not {type(item).__name__}")
        name = getattr(item, named_by)
        if not isinstance(name, str):
            raise Unfit(f"must give a {record.__name__} whose {named_by} is text, not {type(name).__name__}")
    return items
