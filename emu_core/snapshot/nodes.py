"""The form of a snapshot: a table of nodes, one per object; what a node holds is plain data and numbers of nodes.

A *value* in a node is None, a bool, an int of up to 64 bits, a float, a text, (in memory) bytes, or a reference: a
sequence with the number of a node. There is no node that calls anything: no class is called either, so reading a table
runs no code of it.

| kind | holds | becomes |
|---|---|---|
| `list` `tuple` `set` `frozenset` `deque` | values | that |
| `dict` | key, value, key, value … | that |
| `proxy` | a dict | a read-only view of it |
| `obj` | class, then name and value of each attribute | an object, without a call of its constructor |
| `frozen` | the same, of a frozen dataclass | the same, complete before anybody holds it |
| `block` | the same, of an allocation | the same; its bytes come from the pieces |
| `error` | class, arguments, attributes | an exception |
| `enum` | class, name | a member |
| `named` | class, values | a named tuple |
| `event` | class, name, value … | a trace event |
| `method` | object or class, name | a bound method |
| `partial` | function, arguments, dict | `functools.partial` |
| `function` | module, name, checksum, name shown, cells, defaults, keyword defaults, attributes | a function |
| `cell` | value, or nothing | a variable that functions share |
| `view` | allocation, offset, type, shape, strides, writable | an array over device memory |
| `array` | type, shape, bytes | an array |
| `scalar` | type, bytes | a numpy number |
| `count` | next number | `itertools.count` |
| `bytes` | bytes | that; only in a file, where two that are one object stay one |
| `int` | text | an int of more than 64 bits |
| `fraction` `range` `struct` `dtype` | what makes one | that |
| `host` | kind, key | what the plugin host has |
| `class` `global` | module, dotted name | that |
| `kept` | an object | itself; only in memory |
| `log` | groups of records | a list of them; only in memory |
"""

from __future__ import annotations

from typing import Any, TypeAlias

Node: TypeAlias = tuple[Any, ...]

GROUP = 1024
"""Records of a log that two snapshots share as one."""

PRIMITIVES = frozenset({type(None), bool, float, str, bytes})
LEAST, MOST = -(1 << 63), (1 << 64) - 1
"""Ints that stand in a node themselves."""
