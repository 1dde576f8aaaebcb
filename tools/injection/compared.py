"""A program loaded twice: plainly, and on a device where a plan is at work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.device import Device
from emu_core.errors import EmulatorBug, InputError, LimitError, SqemuError
from emu_core.injection import Injections, judge, shrunk
from emu_core.injection.verdicts import refused, stopped
from emu_core.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from emu_core.chips import Chip
    from emu_core.injection import Plan, Verdict
    from emu_core.model import Model, Result
    from emu_core.plugins import PluginHost
    from formats.blob import Blob

    Arrays = Mapping[str, npt.NDArray[np.generic]]

OF_THE_PLAN = "injection."
"""How ids of errors begin that are the plan's own."""


@dataclass(frozen=True)
class Program:
    """What is loaded: a blob, the chip it runs on, policies and plugins; `record_rings` as for a `Device`."""

    blob: Blob
    chip: Chip | str
    policies: Mapping[str, str]
    host: PluginHost
    record_rings: bool = False

    def load(self, chip: Chip | str, trace: Trace | None = None) -> Model:
        """The program on a new device."""
        return Device(chip, self.policies, self.host, trace=trace, record_rings=self.record_rings).load(self.blob)


class Compared:
    """A program with a plan, and the same program without it.

    Args:
        program, plan: see there. trace: of the device with the plan. source: the plan's file, for errors.

    Attributes:
        model: with the plan; None when its device refused the program, `refusal` says so then.
        limits: what was shrunk. injections: the plan at work.

    Raises:
        InputError: the plan names something that the program does not have.
    """

    def __init__(self, program: Program, plan: Plan, trace: Trace | None = None, *, source: str = "") -> None:
        self._source = source
        self.plain = program.load(program.chip, Trace(()))
        try:
            chip, self.limits = shrunk(self.plain.device.chip, plan)
        except InputError as error:
            raise self._placed(error) from None
        self.model: Model | None = None
        self.injections: Injections | None = None
        self.refusal: Verdict | None = None
        try:
            self.model = program.load(chip, trace)
        except LimitError as error:
            self.refusal = refused(error, self.limits)
            return
        try:
            self.injections = Injections(self.model, plan)
        except InputError as error:
            raise self._placed(error) from None

    def _placed(self, error: InputError) -> InputError:
        """An error of the plan with the file it is from."""
        where = f"{self._source}: {error.where}" if self._source else error.where
        return InputError(error.what, id=error.id, where=where, remedy=error.remedy)

    def execute(self, inputs: Arrays) -> tuple[Result | None, Verdict]:
        """One execution of both; the result of the one with the plan, None when a plugin broke over it.

        Raises:
            InputError: the inputs do not fit, or the plan does not.
        """
        assert self.model is not None
        assert self.injections is not None
        plain = self.plain.execute(inputs)
        self.plain.device.clear_history()
        try:
            found = self.injections.execute(inputs)
        except EmulatorBug:
            raise
        except SqemuError as error:
            if isinstance(error, InputError) and error.id.startswith(OF_THE_PLAN):
                raise self._placed(error) from None
            return None, stopped(error, plain.run, self.limits, self.injections.fired)
        return found, judge(plain, found, self.limits, self.injections.fired)

    def never(self) -> tuple[str, ...]:
        """The injections that never happened, one sentence each."""
        return self.injections.never() if self.injections is not None else ()
