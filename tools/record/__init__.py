"""Run records (`.sqr`): everything about a run in one file, to look at later or to attach to a bug report.

A record is a zip with fixed dates, so the same run gives the same bytes:

| member | content |
|---|---|
| `blob.sqt` | the task blob that was loaded |
| `runs/K/trace.jsonl`, `journal.jsonl` | events and journal entries of execution K (from 0), one JSON object per line |
| `runs/K/report.json` | outcome, times, faults, hazards, deadlock |
| `runs/K/rings/sqN/before.bin`, `after.bin`, `executed.bin` | the ring of SQ N |
| `manifest.json` | format, version, chip, policies in force, hashes of the program and inputs; written last |
"""

FORMAT = "sqemu-record"
VERSION = 1
BLOB = "blob.sqt"
MANIFEST = "manifest.json"
