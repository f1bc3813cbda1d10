# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the simulated device without the recorder, and reads its ledger."""
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs.py"


def torch_folder(python: str) -> Path:
    """The folder of that interpreter's PyTorch."""
    ask = "import importlib.util, os; print(os.path.dirname(importlib.util.find_spec('torch').origin))"
    return Path(subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip())


def is_served(python: str) -> bool:
    """True for PyTorch 2.4 and later, for which the device is made (docs/dryrun.md)."""
    found = re.search(r"__version__ = '(\d+)\.(\d+)", (torch_folder(python) / "version.py").read_text(encoding="utf-8"))
    assert found, python
    return (int(found[1]), int(found[2])) >= (2, 4)


def libraries(python: str) -> List[str]:
    """The libraries to preload for that interpreter's PyTorch, the driver first. Skips the test if it has no CUDA code."""
    torch = torch_folder(python)
    if not (torch / "lib/libtorch_cuda.so").exists():
        raise unittest.SkipTest(f"the PyTorch of {python} has no CUDA code")
    major = re.search(r"cuda\s*(?::[^=\n]*)?=\s*'(\d+)\.", (torch / "version.py").read_text(encoding="utf-8"))
    assert major, torch
    folder = Path(recorded_run.vramscope()).resolve().parent.parent / "lib/vramscope/simulated_cuda" / f"cuda{major[1]}"
    names = sorted(os.listdir(folder), key=lambda name: (name != "libcuda.so.1", name))
    return [str(folder / name) for name in names]


def environment(python: str, gpu: str = "h100-80gb", **variables: str) -> Dict[str, str]:
    """The environment that puts that interpreter's PyTorch on the device; `variables` are added to it. With VRAMSCOPE_TEST_REAL_GPU
    set, PyTorch uses the GPU that is there (tests/gpu)."""
    if os.environ.get("VRAMSCOPE_TEST_REAL_GPU"):
        return recorded_run.clean_environment(**variables)
    return recorded_run.clean_environment(LD_PRELOAD=":".join(libraries(python)), VRAMSCOPE_SIMULATED_GPU=gpu, **variables)


def run(python: str, command: Sequence[str], gpu: str = "h100-80gb", **variables: str) -> recorded_run.Finished:
    """Runs `python command...` on the device; `variables` are added to its environment."""
    return recorded_run.run([python, *command], env=environment(python, gpu, **variables), timeout=900)


class DeviceTest(recorded_run.RecordingTest):
    """A test that runs programs of programs.py on every PyTorch that there is."""

    def facts(self, python: str, program: str, *arguments: str, gpu: str = "h100-80gb", **variables: str) -> Dict[str, Any]:
        """What the program wrote down. It must succeed and print nothing."""
        output = self.folder / f"{program}.json"
        done = run(python, [str(PROGRAMS), program, str(output), *arguments], gpu, **variables)
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.assertEqual(done.stdout, b"", "the device has nothing to say on stdout")
        return json.loads(output.read_text(encoding="utf-8"))

    def for_each_python(self) -> Any:
        """The interpreters, each in a sub-test."""
        recorded_run.python()  # skips when there is none
        for python in filter(is_served, recorded_run.pythons()):
            with self.subTest(python=python):
                yield python


def row_bytes(facts: Dict[str, Any], library: str, key: str = "live_bytes", device: int = 0) -> int:
    """The bytes of that library in the ledger, for all calls together."""
    return sum(row[key] for row in facts["ledger"]["devices"][device]["rows"] if row["library"] == library)
