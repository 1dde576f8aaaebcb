"""Campaigns of random fault injections over the demo graph and ChunkGatedDeltaRule. See `.ci/inject`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emu_core.plugins import PluginHost
from tools.injection.campaign import Trials, campaign
from tools.injection.subjects import SUBJECTS, subject_called

if TYPE_CHECKING:
    from tools.injection.campaign import Trial

CHIPS = {"demo": "ascend310p3", "cgdr": "ascend910b3"}
EVERY = 100


def told(trial: Trial) -> None:
    """Show each trial that is trouble when it ends, and now and then how far it has got."""
    if trial.trouble:
        print(trial.text(), flush=True)
    elif not (trial.number + 1) % EVERY:
        print(f"  {trial.number + 1}", flush=True)


def main(count: int, seed: int) -> int:
    """All campaigns; 1 when there is trouble."""
    host = PluginHost()
    troubles = 0
    for name in SUBJECTS:
        print(f"== {name} on {CHIPS[name]}", flush=True)
        found = campaign(Trials(*subject_called(name, host, CHIPS[name])), count, seed, told)
        print("\n".join(found.lines()), flush=True)
        troubles += len(found.trouble)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
