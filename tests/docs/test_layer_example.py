"""The example of a layer, started as a script where it cannot work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "gdn_layer.py"


def test_an_example_that_cannot_go_on_says_so_and_exits_with_2(tmp_path):
    """Its folder is a file: one line, no traceback."""
    taken = tmp_path / "taken"
    taken.write_text("")
    found = subprocess.run(
        [sys.executable, SCRIPT, taken], capture_output=True, text=True, check=False, cwd=SCRIPT.parents[2]
    )
    assert found.returncode == 2
    assert found.stderr.startswith("error: ")
    assert "Traceback" not in found.stderr
