"""`--log` and its filters: the events of a run on standard error while it goes on, through structlog."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from emu_core.errors import OptionError
from tools.say import say
from tools.show import safe
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping

    from emu_core.event_log import LogFilter
    from emu_core.trace import Event

F = TypeVar("F", bound="Callable[..., Any]")

META = "sqemu.log"
CONSOLE, JSON, STRUCTLOG = FORMS = ("console", "json", "structlog")
LEVEL_NAMES = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class LogWishes:
    """How events are logged: a form of `FORMS`, and which events."""

    form: str
    wanted: LogFilter


def log_options(function: F) -> F:
    """`--log`, `--log-level`, `--log-events`, `--log-streams`; :func:`log_wishes` reads them."""
    for option in (
        _option("--log-streams", metavar="N,N", help="Log only what these streams do."),
        _option("--log-events", metavar="NAME,NAME", help="Log only these events; see `sqemu trace events`."),
        _option("--log-level", type=click.Choice(LEVEL_NAMES), help="Log from this level on; debug if not given."),
        _option(
            "--log",
            type=click.Choice(FORMS),
            help="Log events on standard error: for people, as JSON lines, or as structlog.configure() was told.",
        ),
    ):
        function = option(function)
    return function


def _option(name: str, **more: Any) -> Callable[[F], F]:  # noqa: ANN401 - passed on to click
    return click.option(name, expose_value=False, callback=_keep, **more)


def _keep(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    ctx.meta.setdefault(META, {})[param.name] = value


def log_wishes() -> LogWishes | None:
    """What the options of this command say; None: nothing is logged. Any of the filters alone means the console form.

    Raises:
        OptionError: `log.event`: an event that nobody declares; `log.streams`: no list of numbers.
    """
    ctx = click.get_current_context(silent=True)
    given: dict[str, str | None] = ctx.meta.get(META, {}) if ctx else {}
    if not any(given.values()):
        return None
    from emu_core.event_log import LogFilter  # noqa: PLC0415 - only when something is logged

    wanted = LogFilter(
        given["log_level"] or "debug",
        frozenset(_events(given["log_events"])),
        frozenset(_streams(given["log_streams"])),
    )
    return LogWishes(given["log"] or CONSOLE, wanted)


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def _events(text: str | None) -> list[str]:
    from emu_core.event_fields import declared_events  # noqa: PLC0415 - only when something is logged

    names = [kind.name for kind in declared_events()]
    for name in _listed(text):
        if name not in names:
            raise OptionError(
                f"there is no event {name!r}", id="log.event", where="--log-events",
                remedy=f"there are {', '.join(nearest(name, names) or names)}",
            )  # fmt: skip
    return _listed(text)


def _streams(text: str | None) -> list[int]:
    for part in _listed(text):
        if not part.isascii() or not part.isdigit():
            raise OptionError(
                f"{part!r} is no stream", id="log.streams", where="--log-streams",
                remedy="give numbers of streams, as sqemu dump shows them, for example 0,1",
            )  # fmt: skip
    return [int(part) for part in _listed(text)]


def emit(events: Iterable[Event], wishes: LogWishes, *, device: str, model: int) -> None:
    """Log `events` as `wishes` say, bound to `device` and `model`."""
    from emu_core.event_log import send  # noqa: PLC0415 - only when something is logged

    send(events, logger_of(wishes.form), wanted=wishes.wanted, device=device, model=model)


class _ForPeople:
    """Where structlog puts finished lines: standard error, wrapped on a terminal."""

    @staticmethod
    def msg(line: str) -> None:
        say(line)

    debug = info = warning = error = msg


def logger_of(form: str) -> Any:  # noqa: ANN401 - structlog's own type depends on its configuration
    """A structlog logger of one of `FORMS` that writes to standard error; `structlog` writes where it was told."""
    import structlog  # noqa: PLC0415 - only when something is logged

    if form == STRUCTLOG:
        return structlog.get_logger()
    sink, renderer = (structlog.WriteLogger(sys.stderr), structlog.processors.JSONRenderer()) if form == JSON else (
        _ForPeople(), console_line
    )  # fmt: skip
    return structlog.wrap_logger(
        sink,
        processors=[structlog.processors.add_log_level, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(0),
    )


def console_line(_logger: object, _method: str, values: MutableMapping[str, Any]) -> str:
    """A structlog processor: one readable line, time and place first, then what the event says."""
    left = dict(values)
    time, level, event = (left.pop(name, "") for name in ("time", "level", "event"))
    stream, task, op = (left.pop(name, None) for name in ("stream", "task", "op"))
    for name in ("device", "model", "run", "model_task", "slot"):
        left.pop(name, None)
    place = "" if stream is None else f"{stream}:{task}" if task is not None else f"{stream}"
    said = " ".join(f"{name}={_value(value)}" for name, value in left.items() if _tells(value))
    return safe(f"{time:>10} ns  {level:<7}  {event:<13}  {place:<7} {f'{op} ' if op else ''}{said}".rstrip())


def _tells(value: object) -> bool:
    """Whether a value says anything; 0 does."""
    return value is not None and value is not False and value not in ("", {})


def _value(value: object) -> str:
    text = str(value)
    return repr(text) if isinstance(value, str) and " " in text else text
