"""Whether a plugin keeps the contracts of docs/plugins.md: `sqemu plugins check`, and `emu_core.testing.conformance`.

| check | makes sure of | module |
|---|---|---|
| `hooks` | the plugin works, each hook function has a docstring, each record can be collected | `declared` |
| `structs` | bytes survive parse and build, each field keeps every bit, entries are recognised | `layouts` |
| `chips` | a source per figure, the machine can be made, ids and rings end where the chip says | `limits` |
| `policies` | name of its own, default among the values, a summary | `declared` |
| `explanations` | each text says what to do | `declared` |
| `entries` | an entry of each kind with nothing but its type set ends without an error of the plugin | `programs` |
| `determinism` | the same programs twice: the same bytes, events and times | `programs` |
| `snapshot` | the snapshot contract on the same programs | `programs` |

Programs are entries of each kind, one per device; more are given by the caller (`Program`).
"""

from emu_core.conformance.records import Outcome, Program, Verdict
from emu_core.conformance.run import CHECKS, check_plugin

__all__ = ["CHECKS", "Outcome", "Program", "Verdict", "check_plugin"]
