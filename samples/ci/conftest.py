# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that checks training programs against a memory budget: copy it next to your tests.

    def test_training_fits(gpu_memory):
        gpu_memory(["python", "train.py", "--steps", "12"], "--peak-below", "22GiB", "--no-leak-per-step")

The command runs under `vramscope record`; with `pytest --simulated-gpu h100-80gb` under `vramscope dryrun`, which needs no GPU. The arguments
after it are rules of `vramscope check`, and the test fails with the lines of those that are broken. A rule that cannot be checked (events were
lost, too few steps to see growth) is a failure too, so that it does not pass unnoticed. Traces and JUnit reports go to --gpu-memory-out.
"""
import os
import re
import subprocess
from pathlib import Path
from typing import Callable, Sequence

import pytest

VRAMSCOPE = os.environ.get("VRAMSCOPE_BIN", "vramscope")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vramscope")
    group.addoption("--simulated-gpu", metavar="NAME", help="run on a simulated GPU, for machines that have none")
    group.addoption("--gpu-memory-out", metavar="FOLDER", help="keep the traces and a JUnit report of each test here")


@pytest.fixture
def gpu_memory(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """Records a command and checks it; returns the trace."""
    gpu = request.config.getoption("--simulated-gpu")
    out = Path(request.config.getoption("--gpu-memory-out") or tmp_path).resolve()
    out.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "_", request.node.nodeid)

    def judge(command: Sequence[str], *rules: str) -> Path:
        trace = out / f"{name}.vms"
        launch = ["dryrun", "--gpu", gpu, "--steps", "12"] if gpu else ["record"]
        ran = subprocess.run([VRAMSCOPE, *launch, "-o", str(trace), "--", *command], capture_output=True, text=True)
        if not trace.exists() or (ran.returncode != 0 and not gpu):  # a dry run that does not fit ends with 1, and its trace shows why
            pytest.fail(f"{' '.join(command)}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}", pytrace=False)
        checked = subprocess.run([VRAMSCOPE, "check", str(trace), *rules, "--junit", str(out / f"{name}.xml")], capture_output=True, text=True)
        if checked.returncode != 0:
            pytest.fail(checked.stdout + checked.stderr, pytrace=False)
        return trace

    return judge
