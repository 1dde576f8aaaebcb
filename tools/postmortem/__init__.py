"""`sqemu postmortem`: what failed first in some logs, what only followed, and how sure that is.

| module | does |
|---|---|
| `report` | statements, each sure or inferred, in sections |
| `causes` | which faults only report another one, and which was first |
| `words` | codes, error bits and types in words |
| `about_fault` | what failed: place, time, codes, host and device joined |
| `about_entry` | its entry decoded; the host's copy against the device's |
| `about_cores` | registers and addresses of its cores |
| `about_waits`, `about_limits` | time-outs of waits; resources that ran out |
| `about_rest` | what followed, and what to look at next |
| `write` | as text, as JSON |
| `replay` | captured entries in an emulated device |
| `run` | the command |
"""
