# SPDX-License-Identifier: Apache-2.0
"""Measures the trace size of the GPT sample: bytes per event, and the bytes that a deep step adds.

    VRAMSCOPE_TEST_PYTHON=.../python bench/trace_size.py [--steps 50]

Prints a table. The figures depend on the sample and the PyTorch release, not on the machine.
"""
import argparse
import sys
import tempfile
from pathlib import Path
from typing import Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from recorded_run import SAMPLES, ask, python, record  # noqa: E402

VARIANTS: Dict[str, List[str]] = {
    "light": ["--depth", "light"],
    "default: steps 2 to 4 deep": [],
    "default, all stacks": ["--stacks", "all"],
    "every step deep": ["--depth", "all"],
    "every step deep, Python stacks": ["--depth", "all", "--stacks", "python"],
    "every step deep, all stacks": ["--depth", "all", "--stacks", "all"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50)
    steps = parser.parse_args().steps
    size_of: Dict[str, int] = {}
    print(f"samples/gpt.py, {steps} steps\n\n| recorded | events | bytes | bytes per event |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="vramscope-bench-") as folder:
        trace = Path(folder) / "run.vms"
        for name, options in VARIANTS.items():
            done = record(trace, [python(), str(SAMPLES / "gpt.py"), "--device", "cpu", "--steps", str(steps)], options)
            if done.code != 0:
                sys.exit(f"{name}: exit {done.code}: {done.stderr.decode()[-500:]}")
            events = ask("info", str(trace))["events"]
            size_of[name] = trace.stat().st_size
            print(f"| {name} | {events:,} | {size_of[name]:,} | {size_of[name] / events:.2f} |")
    print(f"\nA deep step adds {(size_of['default: steps 2 to 4 deep'] - size_of['light']) / 3:,.0f} bytes.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
