"""Helpers of `sqemu diff`.

| module | what |
|---|---|
| `side` | one input: its entries and family, or its blob |
| `entries` | entries of two rings, aligned by stream and task |
| `fields` | two entries, field by field |
| `blobs` | two blobs, section by section, tasks aligned by what they are |
| `ignored` | what `--ignore` may name |
| `run` | the command |
"""
