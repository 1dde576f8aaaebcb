"""Helpers of `sqemu diff`.

| module | what |
|---|---|
| `side` | one input: its entries and family, or its blob |
| `entries` | entries of two rings, aligned by stream and task, compared field by field |
| `blobs` | two blobs, section by section, tasks aligned by what they are |
| `run` | the command |
"""
