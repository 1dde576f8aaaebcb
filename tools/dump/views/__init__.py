"""Views of entries: each one takes entries and gaps and gives lines.

| module | view |
|---|---|
| `table` | one line per entry |
| `fields` | one field per line, hex beside it |
| `query` | one field over all entries |
| `summary` | counts, ids, limits |
| `cinit` | C initialisers |

The compact view is in :mod:`tools.dump.sqes`, the editable text in :mod:`tools.asm.writer`.
"""
