"""What the figures of a chip mean, and which values they may have.

| a chip | is refused |
|---|---|
| with a figure that is missing, or one that does not exist | when it is made, with meaning and unit of each |
| with a value of another type, a negative one, or 0 where there must be something | likewise |
| with rings whose usable tasks do not fit into them, or without any core | likewise |
| with a figure without a source | never: `Chip.unsourced` lists them, `sqemu check` warns (`chip.no-source`) |

No figure has to be a power of two: those that name sizes of rings may be any number (`reference/device_semantics.md`
1.2 has rings of 2049 entries).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_DESCRIBED = 5
"""Missing fields that a message describes; the others are named."""
PAGE = "see Chip in docs/plugins.md"


class ChipError(PluginError):
    """A chip that cannot be: what its plugin has to change (`chip.field`)."""


@dataclass(frozen=True)
class Figure:
    """A field of a chip: what it means, its unit, and the least whole number it may be (None: not a number)."""

    meaning: str
    unit: str = ""
    least: int | None = 0


def _count(meaning: str, unit: str = "entries") -> Figure:
    """A number of something of which there must be one."""
    return Figure(meaning, unit, 1)


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {
        "name": Figure("SoC name in lower case", "text", None),
        "product": Figure("product series, which gates and kernels ask for", "text", None),
        "family": Figure("family of the layouts of its queue entries", "text", None),
        "arch": Figure("architecture number", "number"),
        "core_num": Figure("AI Cores", "cores"),
        "core_num_aic": Figure("cube cores", "cores"),
        "core_num_aiv": Figure("vector cores", "cores"),
        "tiling_cores": _count("cores that tiling functions spread blocks over", "cores"),
        "fused_cores": Figure("whether a core is cube and vector in one", "True or False", None),
        "ai_cpus": Figure("AI CPU threads", "threads"),
        "ub_bytes": Figure("unified buffer of a core", "bytes"),
        "l1_bytes": Figure("L1 buffer of a core", "bytes"),
        "l0a_bytes": Figure("L0A buffer of a core", "bytes"),
        "l0b_bytes": Figure("L0B buffer of a core", "bytes"),
        "l0c_bytes": Figure("L0C buffer of a core", "bytes"),
        "l2_bytes": Figure("L2 cache", "bytes"),
        "memory_bytes": _count("device memory", "bytes"),
        "cube_mhz": _count("cube clock", "MHz"),
        "cube_flops_per_cycle": _count("float16 operations of a core", "per cycle"),
        "ddr_bytes_per_cycle": _count("device memory rate of a core", "bytes per cycle"),
        "prefetch_num": Figure("NOPs before a sinking kernel, by the feature text"),
        "platform_prefetch_num": Figure("NOPs before a sinking kernel, by the platform file"),
        "prefetch_depth": Figure("entries fetched past head, by the feature text", "entries"),
        "platform_prefetch_depth": Figure("entries fetched past head, by the platform", "entries"),
        "model_task_update": Figure("whether the device can patch entries", "True or False", None),
        "sq_depth": Figure("slots of a submission ring", "entries", 2),
        "usable_tasks": _count("tasks that a ring of a model may hold"),
        "max_streams": _count("streams", "ids"),
        "max_events": Figure("events", "ids"),
        "max_notifies": Figure("notifies", "ids"),
        "persistent_tasks": _count("tasks in all rings of models", "tasks"),
        "cqe_bytes": _count("completion entry on the real chip", "bytes"),
        "vector_cores": Figure("vector cores beside fused AI Cores", "cores"),
        "cq_depth": _count("slots of the completion ring"),
        "credit_ns": _count("one unit of kernel credit", "ns"),
        "credit_from_zero": Figure("whether a credit of n is n + 1 units", "True or False", None),
        "latencies": Figure("time of each step", "Latencies", None),
        "sources": Figure("where each figure is from", "mapping of text to text", None),
        "soc_name": Figure("name as software of the vendor spells it", "text", None),
    }
)
"""Every field of `emu_core.chips.Chip`."""

NOT_FIGURES = frozenset({"name", "soc_name", "product", "family", "fused_cores", "sources"})
"""Fields that need no source: names, and what the names imply."""


def refuse_names(given: Iterable[str], required: Iterable[str], chip: object) -> None:
    """Nothing when `given` has all of `required` and nothing that a chip does not have.

    Raises:
        ChipError: which fields are missing, with meaning and unit; or which one is unknown (`chip.field`).
    """
    have = list(given)
    unknown = next((name for name in have if name not in FIGURES), None)
    if unknown is not None:
        from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

        near = get_close_matches(unknown, FIGURES, 1)
        raise _error(chip, f"has no field {unknown!r}", f"did you mean {near[0]}? {PAGE}" if near else PAGE)
    missing = [name for name in required if name not in have]
    if missing:
        listed = ", ".join([*map(described, missing[:MOST_DESCRIBED]), *missing[MOST_DESCRIBED:]])
        raise _error(chip, f"lacks {listed}", f"give each of them to Chip(...), and its source in sources; {PAGE}")


def refuse_values(values: Mapping[str, object]) -> None:
    """Nothing when the values of all fields of a chip can be; their names must be right.

    Raises:
        ChipError: the first field whose value cannot be, what it means, its value and what was expected (`chip.field`).
    """
    chip = values["name"]
    for name, value in values.items():
        wanted = _wanted(name, value)
        if wanted:
            what = f"has {described(name)} = {value!r}, of type {type(value).__name__}"
            raise _error(chip, what, f"{name} must be {wanted}; {PAGE}")
    _refuse_together(chip, {name: value for name, value in values.items() if type(value) is int})


def _wanted(name: str, value: object) -> str:
    """What `value` should be, or nothing when it is."""
    least = FIGURES[name].least
    if least is not None:
        return "" if type(value) is int and value >= least else f"a whole number, {least} or more"
    return _LOOKS[name](value)


def _name(value: object) -> str:
    if type(value) is str and value != value.lower():
        return "in lower case; the spelling of the vendor belongs in soc_name"
    return _text(value)


def _text(value: object) -> str:
    return "" if type(value) is str and value else "a text that is not empty"


def _maybe_text(value: object) -> str:
    return "" if type(value) is str else "a text"


def _flag(value: object) -> str:
    return "" if type(value) is bool else "True or False"


def _times(value: object) -> str:
    return "" if hasattr(value, "event_notify_ns") else "a Latencies"


def _sources(value: object) -> str:
    if not isinstance(value, Mapping) or any(type(text) is not str for pair in value.items() for text in pair):
        return "a mapping of figures to texts"
    odd = next((name for name in value if name not in FIGURES), None)
    return "" if odd is None else f"about fields of a chip, which {odd!r} is not"


_LOOKS: Mapping[str, Callable[[object], str]] = MappingProxyType(
    {
        "name": _name,
        "product": _text,
        "family": _text,
        "soc_name": _maybe_text,
        "fused_cores": _flag,
        "model_task_update": _flag,
        "credit_from_zero": _flag,
        "latencies": _times,
        "sources": _sources,
    }
)
"""What the value of a field that is no number should be, or nothing when it is."""


def refuse_times(times: Mapping[str, object]) -> None:
    """Nothing when all times of steps can be.

    Raises:
        ChipError: one is no whole number of nanoseconds, or negative (`chip.field`).
    """
    for name, value in times.items():
        if type(value) is not int or value < 0:
            what = f"has the time {name} = {value!r}, of type {type(value).__name__}"
            raise ChipError(what, id="chip.field", where="Latencies", remedy=f"{name} must be nanoseconds, 0 or more")


def _refuse_together(chip: object, numbers: Mapping[str, int]) -> None:
    """Figures that do not go together."""
    depth, usable = numbers["sq_depth"], numbers["usable_tasks"]
    if usable >= depth:
        raise _error(
            chip,
            f"has usable_tasks = {usable} in rings of sq_depth = {depth} entries",
            "one slot of a ring stays free: usable_tasks must be less than sq_depth",
        )
    if not numbers["core_num_aic"] + numbers["core_num_aiv"]:
        raise _error(chip, "has core_num_aic = 0 and core_num_aiv = 0", "a chip has cores of at least one kind")


def described(name: str) -> str:
    """A field with its meaning and unit: `ub_bytes (unified buffer of a core; bytes)`."""
    figure = FIGURES[name]
    return f"{name} ({figure.meaning}; {figure.unit})" if figure.unit else f"{name} ({figure.meaning})"


def _error(chip: object, what: str, remedy: str) -> ChipError:
    return ChipError(what, id="chip.field", where=f"chip {chip or 'without a name'}", remedy=remedy)
