"""`sqemu run --inject PLAN.json`: reading a plan, running a program with and without it, and telling what came of it.

| module | holds |
|---|---|
| `plan_file` | a plan from its file, with errors that say where and what to do |
| `compared` | a program loaded twice, plainly and with a plan |
| `tell` | verdicts in words and as JSON |
| `subjects` | programs for campaigns |
| `draw` | random plans over a program |
| `campaign` | many of them, each with what came of it |
"""
