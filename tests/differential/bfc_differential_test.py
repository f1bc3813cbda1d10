#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our BFC allocator with TensorFlow's. The compiled allocator of the stock wheel and the model get the same random requests in eight
configurations; every address, every failure and all statistics after every operation must be the same.

Needs VRAMSCOPE_TENSORFLOW_PYTHON, a Python that has TensorFlow; TensorFlow is not imported, only its library is loaded. Each commit has a new seed,
which the run prints; VRAMSCOPE_TEST_SEED=N uses N. VRAMSCOPE_TEST_OPERATIONS=1000000 runs more operations than the usual 80,000."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402

FIND = "import importlib.util as u; print(u.find_spec('tensorflow').submodule_search_locations[0])"


def framework_library() -> str:
    python = os.environ.get("VRAMSCOPE_TENSORFLOW_PYTHON", "")
    if not python:
        raise unittest.SkipTest("set VRAMSCOPE_TENSORFLOW_PYTHON to a Python that has TensorFlow")
    folder = subprocess.run([python, "-c", FIND], capture_output=True, text=True, check=True).stdout.strip()
    return str(Path(folder) / "libtensorflow_framework.so.2")


class BfcDifferentialTest(unittest.TestCase):
    def test_the_model_decides_what_the_compiled_allocator_decides(self) -> None:
        library, compare = framework_library(), recorded_run.target("bfc_differential")
        seed = str(drawn.seed())
        operations = os.environ.get("VRAMSCOPE_TEST_OPERATIONS") or "80000"
        print(f"seed {seed}, {operations} operations", flush=True)
        done = subprocess.run([compare, library, seed, operations], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"seed {seed}: {done.stdout}{done.stderr}")
        print(done.stdout, end="", flush=True)


if __name__ == "__main__":
    recorded_run.main()
