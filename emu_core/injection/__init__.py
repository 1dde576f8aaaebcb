"""Fault injection: what goes wrong on purpose, by a plan, and what came of it.

| kind | what it does | to which entry |
|---|---|---|
| `drop-record` | the entry runs, but what it sets is not set | one that sets a flag or writes a value |
| `delay-record` | likewise, but it is set so many ns later than it should | likewise |
| `flip-field` | bits of a field of the entry turn over, or the field gets a value | any |
| `flip-context` | likewise in the context that the entry points at | a mix kernel of family v100 |
| `fail-task` | the entry fails with a task scheduler code when it starts | any: an AI CPU task, a kernel … |
| `stall` | the entry takes so many ns longer, or for ever | any, for example all of an engine |
| `corrupt-cell` | the tiling key or block dim of an operator changes | before the update of the operator reads it |
| `corrupt-buffer` | bytes of an allocation change | before an entry starts, or at a time |
| `shrink-limit` | the chip has less of something | none: from the start |

Everything here is data (a plan, what it finds in a device, what happened) and deterministic. A plan holds on to the
kinds of entries it names (`Scheduler.watch`); all other entries run as if it were not there, and without a plan nothing
is.

| module | holds |
|---|---|
| `plan` | the plan, as it is read from a file |
| `limits` | the chip with smaller limits |
| `targets` | which entries a plan means, and that they can be |
| `checks` | that everything a plan names is there, before anything runs |
| `bits` | fields that change |
| `buffers` | buffers and tiling cells by the names that users know |
| `fetches` | when entries are fetched |
| `altered` | engines that do something else than they should |
| `actions` | one action per kind |
| `moments` | things that happen at a virtual time |
| `attached` | a plan at work on a loaded model |
| `verdicts` | what came of it, compared with the same program without the plan |
"""

from emu_core.injection.attached import Fired, Injections
from emu_core.injection.limits import shrunk
from emu_core.injection.plan import Plan
from emu_core.injection.verdicts import Outcome, Verdict, judge

__all__ = ["Fired", "Injections", "Outcome", "Plan", "Verdict", "judge", "shrunk"]
