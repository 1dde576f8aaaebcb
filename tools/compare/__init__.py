"""Helpers of `sqemu compare-tiling`: one program with tiling on the device and on the host.

| module | what |
|---|---|
| `spent` | the time of an execution in parts that add up |
| `as_text`, `as_json` | the comparison for people, and as JSON lines |
"""
