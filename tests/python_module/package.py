# SPDX-License-Identifier: Apache-2.0
"""Finds the package of the build under test and makes it importable."""
import os
import sys
from pathlib import Path

import recorded_run

FOLDER = Path(recorded_run.vramscope()).parent.parent / "share/vramscope/site-packages"
os.environ["VRAMSCOPE_BIN"] = recorded_run.vramscope()
sys.path.insert(0, str(FOLDER))
