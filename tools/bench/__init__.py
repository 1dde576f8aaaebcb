"""Benchmarks: ratios against a named peer in one run, never absolute times.

| module | content |
|---|---|
| `pairs` | what a pair is, how one is measured, how a figure is judged |
| `load` | processor time of this process, its children, and everybody else |
| `catalog` | groups of pairs; later parts of the product add theirs here |
| `formats_group` | decode, encode, patch: R1 to R5, R15 |
| `commands_group` | whole commands: R16, R18 |
"""
