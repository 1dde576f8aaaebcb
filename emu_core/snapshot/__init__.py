"""Snapshots of a device, and what is built on them.

| module | content |
|---|---|
| `image` | `Snapshot`, `take`, `load` |
| `nodes`, `graph`, `rebuild` | the objects of a device as a table of plain nodes, and back |
| `names`, `rules` | what is named instead of copied; what is left out |
| `pages`, `file` | the bytes of memory; the file |
| `contract` | the check that any plugin's state is in a snapshot |
| `session`, `travel`, `stops` | steps forward and back, breakpoints |
| `recording` | everything that came from outside, and running it again |
"""
