#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python reader and the C++ reader agree on golden traces and on traces made just now.

    read_trace_test.py DUMP_TRACE MAKE_TRACE GOLDEN...
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "read_trace.py")


def output_of(*command: str) -> List[str]:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode("ascii").splitlines()


def compare(dump_trace: str, path: str) -> int:
    """Compares the output of both readers; returns the number of lines."""
    ours, theirs = output_of(dump_trace, path), output_of(sys.executable, READER, path)
    for number, (a, b) in enumerate(zip(ours, theirs), 1):
        if a != b:
            sys.exit(f"{path}: line {number} is\n  {a}\nin C++ and\n  {b}\nin Python")
    if len(ours) != len(theirs):
        sys.exit(f"{path}: {len(ours)} lines in C++, {len(theirs)} in Python")
    return len(ours)


def main() -> None:
    dump_trace, make_trace, *golden = sys.argv[1:]
    for path in golden:
        print(f"{compare(dump_trace, path)} lines agree: {path}")
    seed = str(drawn.seed())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.vms")
        for kind, events, events_per_block in (("random", "6000", "700"), ("training", "12000", "4096")):
            output_of(make_trace, path, kind, seed, events, events_per_block)
            print(f"{compare(dump_trace, path)} lines agree: {kind} events, seed {seed}")


if __name__ == "__main__":
    main()
