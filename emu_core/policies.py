"""Policies: the named choices where sources disagree or hardware is not documented.

A policy is declared once, by the core or by a plugin; a `PolicySet` holds the value in force of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from emu_core.errors import OptionError, PluginError
from emu_core.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


MOST_DIGITS = 20
_MOST_BITS = 64
"""Longer numbers are refused before they are converted."""


class Scope(StrEnum):
    """Where a policy may be given; a compile policy travels in the blob."""

    COMPILE = "compile"
    LOAD = "load"
    DEVICE = "device"
    OPERATOR = "operator"


@dataclass(frozen=True)
class PolicySpec:
    """A policy: its values (or `number`: any integer from 0 to `largest`), default, and what it decides."""

    name: str
    scope: Scope
    default: str
    values: tuple[str, ...]
    summary: str
    number: bool = False
    largest: int = 0

    def check(self, value: str | int) -> str:
        """`value` if it is allowed (an integer as its text), else `OptionError` (id `policy.value`)."""
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _MOST_BITS:
            value = str(value)
        if isinstance(value, str) and (value in self.values or self._is_number(value)):
            return value
        words = [*self.values, *([f"a number from 0 to {self.largest}"] if self.number else [])]
        allowed = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        raise OptionError(
            f"value {value!r} is not allowed", id="policy.value", where=f"policy {self.name}", remedy=f"use {allowed}"
        )

    def _is_number(self, value: str) -> bool:
        digits = self.number and value.isascii() and value.isdigit()
        return digits and len(value) <= MOST_DIGITS and int(value) <= self.largest


CORE_POLICIES = (
    PolicySpec(
        "prefetch_depth",
        Scope.DEVICE,
        "seed",
        ("seed", "platform"),
        "entries the scheduler fetches past head: the seed's number, the platform file's, or a number",
        True,
        4096,
    ),
    PolicySpec(
        "nop_model",
        Scope.DEVICE,
        "window",
        ("window", "latency", "both"),
        "why NOPs stand between a wait and a kernel: entries are fetched ahead of the wait, its event is noticed late, "
        "or both",
    ),
    PolicySpec(
        "stale_prefetch",
        Scope.DEVICE,
        "execute_copy",
        ("execute_copy", "fault", "refetch"),
        "an entry was rewritten after it was fetched: run the fetched copy and report, fault, or fetch again",
    ),
    PolicySpec(
        "context_preload",
        Scope.DEVICE,
        "start",
        ("start", "with_sqe"),
        "the context of an FFTS+ entry is read when the entry starts, or fetched ahead together with it",
    ),
    PolicySpec(
        "uninitialised_read",
        Scope.DEVICE,
        "hazard",
        ("hazard", "fault", "ignore"),
        "a task reads bytes that nobody wrote",
    ),
    PolicySpec(
        "reexecute_keeps_patch",
        Scope.DEVICE,
        "on",
        ("on", "off"),
        "run k+1 of a model starts from the SQEs that run k left (off: load-time SQEs are restored)",
    ),
    PolicySpec(
        "event_wait_timeout_s",
        Scope.DEVICE,
        "0",
        (),
        "seconds of virtual time after which an event wait fails; 0 is for ever",
        True,
        1_000_000,
    ),
    PolicySpec(
        "block_order",
        Scope.DEVICE,
        "fifo",
        ("fifo", "turns"),
        "kernels that want the same cores: first come, first served, or one block each in turn",
    ),
    PolicySpec(
        "ordering",
        Scope.DEVICE,
        "off",
        ("off", "report"),
        "follow what flags and activations order, and report entries that touch the same bytes in no fixed order",
    ),
    PolicySpec(
        "failure_mode",
        Scope.DEVICE,
        "continue",
        ("continue", "stop"),
        "after an error on a stream of no model: skip the failing entry and go on, or refuse everything from then on",
    ),
    PolicySpec(
        "completion_reader",
        Scope.DEVICE,
        "prompt",
        ("prompt", "round_trip", "none"),
        "who reads a full completion ring: the host at once, the host one round trip later, or only your own code",
    ),
)


class PolicySet:
    """Values in force: the defaults of `specs` with `given` over them.

    Raises:
        OptionError: unknown name (id `policy.unknown`) or value (id `policy.value`).
        PluginError: two plugins declare one name.
    """

    def __init__(self, specs: Iterable[PolicySpec], given: Mapping[str, str | int] | None = None) -> None:
        self._specs: dict[str, PolicySpec] = {}
        for spec in specs:
            if spec.name in self._specs:
                raise PluginError(f"policy {spec.name} is declared twice", id="plugin.policy-clash")
            self._specs[spec.name] = spec
        self._given = {name: self._checked(name, value) for name, value in (given or {}).items()}

    def _checked(self, name: str, value: str | int) -> str:
        if name not in self._specs:
            close = nearest(name, self._specs)
            remedy = f"did you mean {' or '.join(close)}?" if close else "`sqemu policies` lists them"
            raise OptionError(f"there is no policy {name!r}", id="policy.unknown", remedy=remedy)
        return self._specs[name].check(value)

    def __getitem__(self, name: str) -> str:
        """The value in force of policy `name`."""
        return self._given.get(name, self._specs[name].default)

    def __iter__(self) -> Iterator[PolicySpec]:
        return iter(self._specs.values())

    def given(self, scope: Scope | None = None) -> dict[str, str]:
        """The values that were given explicitly, of one scope or of all."""
        return {n: v for n, v in self._given.items() if scope is None or self._specs[n].scope is scope}

    def with_values(self, given: Mapping[str, str | int]) -> PolicySet:
        """A new set with `given` over this one's values."""
        return PolicySet(self._specs.values(), {**self._given, **given})
