"""Helpers of `sqemu dump`: task blobs and SQEs as text and as JSON lines.

| module | what |
|---|---|
| `source` | what a file holds, which SQE family it is |
| `tasks` | names of model tasks and what each one does |
| `blob` | a task blob: one table of sections, shown as text or as records |
| `kinds` | short names of SQE kinds and the facts that matter of each |
| `sqes` | entries as text and as records |
| `rings` | a blob loaded into a device: its rings, and names of addresses |
"""
