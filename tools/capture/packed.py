"""Words that pack several values.

The status word of a model's end: `task id 15:0 | stream id 27:16 | result 31:28` (`reference/sqe_formats.md` 8.1,
`device_semantics.md` 4.2). Published example: 0x16620324 of a notify wait stands for stream 1634, task 804, and the
kernel report of the same log names that very task.
"""

from __future__ import annotations

from dataclasses import dataclass

RESULTS = {1: "the execution of a stream failed", 2: "end of sequence", 3: "aborted", 4: "AI CPU time-out"}
"""Results 1 is stated (1 = failed); the order of the others follows `device_semantics.md` S52 and is inferred."""

KNOWN_RESULT = 1


@dataclass(frozen=True)
class TaskResult:
    """A packed result: the task and stream that failed, and how."""

    task: int
    stream: int
    result: int

    @property
    def meaning(self) -> str:
        """The result in words."""
        return RESULTS.get(self.result, f"result {self.result}, no known meaning")


def task_result(word: int) -> TaskResult:
    """The values of a packed word of 32 bits; higher bits are ignored."""
    return TaskResult(word & 0xFFFF, word >> 16 & 0xFFF, word >> 28 & 0xF)
