"""Known defects of shipped kernels, and the policy that brings them back (`reference/cgdr.md` 16). Pure.

| id | what comes back |
|---|---|
| D1 | beta is widened over its own float16 staging area (before change request 1158) |
| D2 | nothing: missing fences raised exceptions now and then and changed no value |
| D3 | scratch of the blocked inverse lies over the first rows of the matrix, for the 64 bucket |
| D4 | output rows that are stored one by one are written in whole blocks of 16 |
| D5, D7 | nothing: the slice of an empty sequence is left unwritten, and head h reads key head h if Hv < Hqk, anyway |
| D6 | final_state is as large as actual_seq_lengths, so that its first write leaves it |
"""

from __future__ import annotations

DEFECTS = ("D1", "D2", "D3", "D4", "D5", "D6", "D7")
AS_SHIPPED = frozenset({"D3", "D4", "D5", "D7"})

NONE_WORD = "none"
SHIPPED_WORD = "as_shipped"


class DefectValues(tuple[str, ...]):
    """The values of policy `cgdr.defects`: lists `none`, `as_shipped` and the ids, and contains each list `D3,D4` too.

    A policy names its values one by one; the 127 lists would fill a page and say nothing.
    """

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, str):
            return False
        ids = value.split(",")
        return super().__contains__(value) or (len(set(ids)) == len(ids) and set(ids) <= set(DEFECTS))


VALUES = DefectValues((NONE_WORD, SHIPPED_WORD, *DEFECTS))


def defects_of(value: str) -> frozenset[str]:
    """The defects that a value of the policy turns on."""
    if value == NONE_WORD:
        return frozenset()
    return AS_SHIPPED if value == SHIPPED_WORD else frozenset(value.split(","))
