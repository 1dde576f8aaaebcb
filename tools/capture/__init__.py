"""Logs of firmware and host read as one capture: tasks, entries, faults, and the lines that each came from.

| module | does |
|---|---|
| `shapes` | the grammar: a row per line shape, with the literal that rejects other lines fast |
| `anchors` | candidate lines of a chunk of bytes, without looking at the others |
| `lines` | one candidate line as a `Record`: stamp, side, values |
| `source` | files, folders, gzip: bounded chunks, candidates with line numbers |
| `words` | 16 words of an entry from lines of any layout |
| `model` | what a capture holds |
| `faults` | records put together to faults, host and device |
| `owners` | entries and core reports of each fault |
| `cores` | register files and reports of single cores |
| `kernel_fields` | addresses, blocks, credit and core of kernel entries of every family |
| `packed` | words that pack several values |
| `build` | `capture_of(paths)`, the entry point |
"""
