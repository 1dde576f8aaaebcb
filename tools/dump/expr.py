"""The language of `--where`: comparisons of fields, joined by and, or, not. Never Python's own `eval`.

| form | example |
|---|---|
| comparison `== != < <= > >=` | `block_dim > 8`, `kind == "kernel"`, `4 < task < 9` is not a form: use `and` |
| bits | `biz_flags & 0x4` holds when a common bit is set |
| list | `type in [0, 1, "PLACE_HOLDER"]`, `event_id not in (3, 4)` |
| alone | `wr_cqe` holds when the field is not 0 |
| logic | `not (a == 1 or b == 2) and c` |

Names are fields (joined values such as `pc_addr`, too) and `slot`, `offset`, `stream`, `task`, `kind`, `struct`,
`guessed`, `notes` (how many doubts an entry has). A comparison with a field that an entry does not have does not hold.
A text compares with the name of an enumerated value, in any case of letters. An array compares as true when one of its
elements does.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from tools.dump.expr_tokens import Token, bad, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Value: TypeAlias = "int | str | tuple[int, ...]"
Lookup: TypeAlias = "Callable[[str], tuple[Value | None, str]]"
"""Gives the value of a name (None when the entry has no such field) and the name of an enumerated value."""

_DEEPEST = 40

_COMPARE: Mapping[str, Callable[[int, int], bool]] = MappingProxyType({
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "&": lambda a, b: bool(a & b),
})  # fmt: skip


@dataclass(frozen=True)
class Name:
    """A field name and where it stands."""

    text: str
    column: int


@dataclass(frozen=True)
class Test:
    """`name op literal`; `op` empty asks whether the value is set."""

    name: Name
    op: str
    literals: tuple[int | str, ...]

    def holds(self, lookup: Lookup) -> bool:
        """Whether the comparison holds for one entry."""
        value, said = lookup(self.name.text)
        if value is None:
            return False
        elements = value if isinstance(value, tuple) else (value,)
        if not self.op:
            return any(bool(x) for x in elements)
        if self.op == "not in":
            return not any(_is(x, said, literal) for x in elements for literal in self.literals)
        if self.op == "in":
            return any(_is(x, said, literal) for x in elements for literal in self.literals)
        return any(_compare(self.op, x, said, self.literals[0]) for x in elements)


@dataclass(frozen=True)
class Not:
    """The opposite."""

    inner: Node

    def holds(self, lookup: Lookup) -> bool:
        """Whether the inner one does not hold."""
        return not self.inner.holds(lookup)


@dataclass(frozen=True)
class Both:
    """`and`."""

    parts: tuple[Node, ...]

    def holds(self, lookup: Lookup) -> bool:
        """Whether all parts hold."""
        return all(part.holds(lookup) for part in self.parts)


@dataclass(frozen=True)
class Either:
    """`or`."""

    parts: tuple[Node, ...]

    def holds(self, lookup: Lookup) -> bool:
        """Whether one of the parts holds."""
        return any(part.holds(lookup) for part in self.parts)


Node: TypeAlias = "Test | Not | Both | Either"


def _is(value: int | str, said: str, literal: int | str) -> bool:
    return _compare("==", value, said, literal)


def _compare(op: str, value: int | str, said: str, literal: int | str) -> bool:
    """Texts compare with texts (or names of values) by equality only; numbers with numbers."""
    if isinstance(literal, str):
        other = value if isinstance(value, str) else said
        same = other.lower() == literal.lower()
        return same if op == "==" else (not same if op == "!=" else False)
    if isinstance(value, str):
        return op == "!="
    return _COMPARE[op](value, literal)


def tests(node: Node) -> Iterator[Test]:
    """Every comparison of an expression, left to right."""
    if isinstance(node, Test):
        yield node
    elif isinstance(node, Not):
        yield from tests(node.inner)
    else:
        for part in node.parts:
            yield from tests(part)


def parse(text: str) -> Node:
    """The expression `text`; `OptionError` (`dump.where`) names the column of what cannot be read."""
    reader = _Reader(list(tokens(text)))
    node = reader.either(0)
    if reader.next.kind != "end":
        raise bad(f"{reader.next.text!r} is too much here", reader.next.column)
    return node


class _Reader:
    """Recursive descent over the tokens; deeper nesting than any reader needs is refused."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self.next
        self._at += token.kind != "end"
        return token

    def _accept(self, kind: str, text: str) -> bool:
        if (self.next.kind, self.next.text) == (kind, text):
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept("op", text):
            raise bad(f"{text!r} is expected, {self._said()} is there", self.next.column)

    def _said(self) -> str:
        return repr(self.next.text) if self.next.text else "the end"

    def either(self, depth: int) -> Node:
        parts = [self._both(depth)]
        while self._accept("key", "or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self, depth: int) -> Node:
        parts = [self._not(depth)]
        while self._accept("key", "and"):
            parts.append(self._not(depth))
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _not(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise bad("the expression is nested too deeply", self.next.column)
        if self._accept("key", "not"):
            return Not(self._not(depth + 1))
        if self._accept("op", "("):
            inner = self.either(depth + 1)
            self._expect(")")
            return inner
        return self._test()

    def _test(self) -> Node:
        token = self._take()
        if token.kind != "word":
            said = repr(token.text) if token.text else "the end"
            raise bad(f"a field name is expected, {said} is there", token.column)
        name = Name(token.text, token.column)
        if self._accept("key", "in"):
            return Test(name, "in", self._list())
        if self._accept("key", "not"):
            if not self._accept("key", "in"):
                raise bad(f"'in' is expected behind 'not', {self._said()} is there", self.next.column)
            return Test(name, "not in", self._list())
        if self.next.kind == "op" and self.next.text in _COMPARE:
            op = self._take()
            literal = self._literal()
            if isinstance(literal, str) and op.text not in {"==", "!="}:
                raise bad(f"texts have no order: {op.text!r} needs a number", op.column)
            return Test(name, op.text, (literal,))
        return Test(name, "", ())

    def _list(self) -> tuple[int | str, ...]:
        closing = {"[": "]", "(": ")"}.get(self.next.text)
        if closing is None:
            raise bad(f"a list such as [1, 2] is expected, {self._said()} is there", self.next.column)
        self._take()
        found = [self._literal()]
        while self._accept("op", ","):
            found.append(self._literal())
        self._expect(closing)
        return tuple(found)

    def _literal(self) -> int | str:
        negative = self._accept("op", "-")
        token = self._take()
        if token.kind == "number":
            number = _number(token)
            return -number if negative else number
        if token.kind == "text" and not negative:
            return token.text[1:-1]
        said = repr(token.text) if token.text else "the end"
        raise bad(
            f"a number or a text in quotes is expected, {said} is there", token.column,
            f'write "{token.text}" in quotes' if token.kind == "word" else "",
        )  # fmt: skip


def _number(token: Token) -> int:
    try:
        return int(token.text, 16 if token.text[:2] in {"0x", "0X"} else 10)
    except ValueError:
        raise bad(f"{token.text!r} is not a number", token.column) from None
