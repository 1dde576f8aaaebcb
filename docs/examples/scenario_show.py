"""Say of each output of a TilingProbe which tiling key it ran with and how many blocks: y = 100 * key + block."""  # noqa: INP001 - a script

import sys

import numpy as np

for name, y in np.load(sys.argv[1]).items():
    print(f"{name}: tiling key {int(y[0]) // 100}, {int(y[-1]) % 100 + 1} blocks")  # noqa: T201 - what the script is for
