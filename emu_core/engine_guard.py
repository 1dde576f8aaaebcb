"""Functions of other people's plugins: what they raise or answer wrongly is an error that names the plugin.

The functions of a handler run in the middle of the machine, where nothing but `DeviceFault` may be raised. Handlers of
our own are not guarded: theirs would be a bug of the product, and their calls are the hot path.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from emu_core.engines import Handler, Launch, Run, Wait
from emu_core.errors import DeviceFault, PluginError, SqemuError
from emu_core.plans import Acts
from formats import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

_REMEDY = "report this to the author of the plugin"
_OURS = frozenset({"emu_core", "emu_plugins", "formats", "tools"})


def at_line(error: BaseException) -> str:
    """` at FILE line N` where a plugin raised `error`: its innermost line, not that of a library that it called.

    Empty when only code of ours ran.
    """
    frames = [(str(frame.f_globals.get("__name__", "")).partition(".")[0], frame.f_code.co_filename, line)
              for frame, line in walk_tb(error.__traceback__)]  # fmt: skip
    others = [each for each in frames if each[0] not in _OURS]
    if not others:
        return ""
    _, file, line = [each for each in others if each[0] == others[0][0]][-1]
    return f" at {Path(file).name} line {line}"


def guarded(handler: Handler, plugin: str) -> Handler:
    """`handler` with all of its functions guarded; `plugin` is how messages name its plugin."""
    where = f"{plugin}, engine {handler.engine}, kind {handler.kind}"
    functions = {f.name: getattr(handler, f.name) for f in fields(handler) if callable(getattr(handler, f.name))}
    calls: dict[str, Any] = {name: _guarded(function, where, name) for name, function in functions.items()}
    plan = handler.plan
    if isinstance(plan, Acts):
        calls["plan"] = replace(plan, act=_guarded(plan.act, where, "act"))
    return replace(handler, **{**calls, "start": _checked(calls["start"], where)})


def guarded_record(record: Any, plugin: str) -> Any:  # noqa: ANN401 - a record of any class, and one of the same
    """A record (`emu_core.extensions`) with its functions guarded: what they raise is `plugin.raised`."""
    where = f"{plugin}, {type(record).__name__} {record.name}"
    functions = {f.name: getattr(record, f.name) for f in fields(record) if callable(getattr(record, f.name))}
    return replace(record, **{name: _guarded(each, where, name, "plugin.raised") for name, each in functions.items()})


def _guarded(
    function: Callable[..., Any], where: str, what: str, error_id: str = "plugin.engine-raised"
) -> Callable[..., Any]:
    """`function`; anything it raises that is no error of ours becomes `PluginError` with that id."""

    @wraps(function)
    def call(*arguments: object, **named: object) -> Any:  # noqa: ANN401 - the function's own result
        try:
            return function(*arguments, **named)
        except (DeviceFault, SqemuError, FormatError):
            raise
        except Exception as error:
            raised = f"{what} raised {type(error).__name__}: {error}".splitlines()[0]
            raise PluginError(raised + at_line(error), id=error_id, where=where, remedy=_REMEDY) from error

    return call


def _checked(start: Callable[..., Any], where: str) -> Callable[..., Any]:
    """`start`, whose answer must be one of the three; its `finish` is guarded, too."""

    @wraps(start)
    def call(*arguments: object) -> Run | Launch | Wait:
        outcome = start(*arguments)
        if isinstance(outcome, Wait):
            return outcome
        if not isinstance(outcome, Run | Launch):
            given = f"start must answer with Run, Launch or Wait, not {type(outcome).__name__}"
            raise PluginError(given, id="plugin.engine-answer", where=where, remedy=_REMEDY)
        return replace(outcome, finish=_guarded(outcome.finish, where, "finish"))

    return call
