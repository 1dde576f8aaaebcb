"""Inputs of the scenarios of docs/scenarios.md: one value decides how many blocks an operator runs with."""  # noqa: INP001 - a script

import numpy as np

x = np.arange(40, dtype=np.float32)
np.savez("static.npz", x=x, n=np.array([4], np.int32))
np.savez("three.npz", x=x, **{f"n{i}": np.array([n], np.int32) for i, n in enumerate((4, 2, 3))})
np.savez("offline.npz", x=x, n=np.array([5], np.int32))
