#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what recording adds to the start of a program: imports modules with and without recording, in turn, and compares CPU time.

    import_cost.py torch tensorflow jax cupy [--pairs 15]

CPU time is that of the Python process alone, which prints it last. The collector and other programs do not count. Ratio: the median of the
pairs' ratios, with the quartiles. VRAMSCOPE_TEST_PYTHON is the Python that has the modules, VRAMSCOPE_BIN the command.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from typing import List, Optional

VRAMSCOPE = os.environ.get("VRAMSCOPE_BIN", "build/release/bin/vramscope")
PYTHON = os.environ.get("VRAMSCOPE_TEST_PYTHON", sys.executable)
PROGRAM = "import {}, resource; used = resource.getrusage(resource.RUSAGE_SELF); print(used.ru_utime + used.ru_stime)"


def cpu_seconds(module: str, trace: Optional[str]) -> float:
    command = [PYTHON, "-c", PROGRAM.format(module)]
    if trace is not None:
        command = [VRAMSCOPE, "record", "--quiet", "-o", trace, "--", *command]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1])


def row(module: str, pairs: int, trace: str) -> str:
    alone: List[float] = []
    ratios: List[float] = []
    for number in range(pairs):
        first_recorded = number % 2 == 1  # neither order always has the warmer caches
        seconds = {recorded: cpu_seconds(module, trace if recorded else None) for recorded in (first_recorded, not first_recorded)}
        alone.append(seconds[False])
        ratios.append(seconds[True] / seconds[False])
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive") if pairs > 1 else (ratios[0],) * 3
    return f"| `import {module}` | {statistics.median(alone):.2f} s | {middle:.3f} ({low:.3f} to {high:.3f}) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("modules", nargs="+", metavar="MODULE")
    parser.add_argument("--pairs", type=int, default=15)
    arguments = parser.parse_args()
    print("| | alone | recorded / alone |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for module in arguments.modules:
            print(row(module, arguments.pairs, os.path.join(folder, "import.vms")), flush=True)


if __name__ == "__main__":
    main()
