"""Helpers of `sqemu dump`: task blobs and SQEs as text and as JSON lines.

| module | what |
|---|---|
| `request` | the command line as a value; `run` finds out what the file is |
| `data` | the bytes of a file, mapped |
| `hexinput`, `hextext`, `hexstyle`, `hexline` | hex text as bytes: order of words, file, style of its lines, one line |
| `textual`, `source` | whether it is text; what a file holds, which SQE family it is |
| `items` | entries and gaps of a ring, window by window; arrays of any struct |
| `selection`, `expr`, `expr_tokens` | which entries are shown; the language of `--where` |
| `known` | names that entries of a family can have |
| `recorded` | run records |
| `om`, `om_records` | offline models: choice and output; a table of sections |
| `present`, `views` | entries in the view that was asked for |
| `ways` | whether entries are shown one by one or many at a time |
| `fast`, `fast_kinds`, `fast_sheet`, `fast_text` | tables and compact text of long rings, many rows at a time |
| `cqes` | completion entries |
| `follow` | programs of condition entries, and what entries point at |
| `blobs`, `damaged` | whole and damaged task blobs |
| `layouts` | `sqemu formats` |
| `tasks` | names of model tasks and what each one does |
| `blob` | a task blob: one table of sections, shown as text or as records |
| `kinds` | short names of SQE kinds and the facts that matter of each |
| `sqes` | entries as text and as records |
| `rings` | a blob loaded into a device: its rings, and names of addresses |
"""
