"""Which way a file of entries is shown: one by one, or many at a time with numpy (:mod:`tools.dump.fast`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.dump.items import FEW
from tools.show import width

if TYPE_CHECKING:
    from formats import Registry
    from tools.dump.request import Request


def many_at_a_time(request: Request, registry: Registry, family: str, section: str, count: int) -> bool:
    """Whether numpy serves: plain text of more than a few SQEs of single units, not to a terminal."""
    if count <= FEW:
        return False
    plain = request.view in {"compact", "table"} and not request.as_json and section == "sqes"
    return plain and width() is None and single_units(registry, family)


def single_units(registry: Registry, family: str) -> bool:
    """Whether every task of `family` is one entry."""
    header = registry.generic(family)
    known = (registry.get(family, name) for name in registry.names(family))
    return "rt_stream_id" in header.by_name and not any("sqe_length" in struct.by_name for struct in known)
