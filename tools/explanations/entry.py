"""One explained code."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Explanation:
    """What a code or id means and what to do.

    Attributes:
        code: as a user would write it, for example `TS 0x91`, `507011`, `hazard.stale-prefetch`.
        kind: what sort of code it is, in words.
        meaning: what it says.
        name: the vendor's name, or empty.
        cause: what usually brings it about here, or empty.
        action: what to do, or empty.
        also: what a plugin adds, or empty.
        value: the number behind the code; None for ids.
    """

    code: str
    kind: str
    meaning: str
    name: str = ""
    cause: str = ""
    action: str = ""
    also: str = ""
    value: int | None = None

    @property
    def topic(self) -> str:
        """Under what the list of all codes shows it: its kind, or that of the bits of one word together."""
        return "bits of the error type of a completion entry" if self.kind.startswith("bit ") else self.kind

    def as_json(self) -> dict[str, object]:
        """The entry as one JSON object."""
        return asdict(self)
