"""`sqemu check --explore N`: does the order in which engines finish change what a program gives?

A *schedule* says which entries take longer, and by how much. Every schedule is legal: no source promises how long an
entry takes, only flags, activations and the order within a stream are kept. N schedules are drawn from a seed, all
outcomes are compared with that of the plain one, and a schedule that gives something else is shrunk to the fewest
delays.

| module | holds |
|---|---|
| `schedules` | a schedule, drawn at random |
| `outcomes` | what a program gives under a schedule, and how two outcomes differ |
| `shrink` | the fewest delays that still give something else |
| `run` | all of it, as a result; `as_text`, `as_json` show it |

| delays of a schedule | chance per entry | nanoseconds |
|---|---|---|
| a few long ones | 1 in 20 | up to 100 times the longest plain entry |
| many of any length | 1 in 3 | up to the longest plain entry |
| ties turned over | every entry | 0 to 3 |
"""
