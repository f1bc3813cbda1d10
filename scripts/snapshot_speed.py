#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads one snapshot with Python's pickle (garbage collector off) and with vramscope, in turns, and prints both.

    scripts/snapshot_speed.py SNAPSHOT.pickle [ROUNDS]

Each reading is a process of its own; its time is the processor time of the reading alone (both use one core; other programs on
the machine do not count), its memory the most that the process held. vramscope's is the benchmark program
build/release/profiler/snapshot/snapshot_bench.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
from typing import Tuple

READ_WITH_PYTHON = """
import gc, os, pickle, resource, sys, time
gc.disable()
begin = time.process_time()
with open(sys.argv[1], "rb") as file:
    snapshot = pickle.load(file)
print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, flush=True)
os._exit(0)
"""
BENCH = os.path.join("build", "release", "profiler", "snapshot", "snapshot_bench")


def with_python(path: str) -> Tuple[float, float]:
    answer = subprocess.run([sys.executable, "-c", READ_WITH_PYTHON, path], check=True, stdout=subprocess.PIPE).stdout
    seconds, mebibytes = answer.split()
    return float(seconds), float(mebibytes)


def with_vramscope(path: str) -> Tuple[float, float]:
    answer = subprocess.run([BENCH, "--benchmark_format=json", "--benchmark_min_time=0.001"], check=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, env=dict(os.environ, VRAMSCOPE_BENCH_SNAPSHOT=path)).stdout
    first = json.loads(answer)["benchmarks"][0]
    if first.get("error_occurred"):
        sys.exit(first["error_message"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return first["cpu_time"] / 1000, after / 1024


def main() -> None:
    path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    # Ours first: the system only reports the most that any child process held, and Python's children hold more.
    ours_memory = with_vramscope(path)[1]
    ours, theirs, theirs_memory = [], [], 0.0
    for _ in range(rounds):
        seconds, theirs_memory = with_python(path)
        theirs.append(seconds)
        ours.append(with_vramscope(path)[0])
    print(f"python     {statistics.median(theirs):.3f} s [{min(theirs):.3f}-{max(theirs):.3f}], {theirs_memory:.0f} MiB")
    print(f"vramscope  {statistics.median(ours):.3f} s [{min(ours):.3f}-{max(ours):.3f}], {ours_memory:.0f} MiB")
    print(f"{statistics.median(theirs) / statistics.median(ours):.1f} times as fast (best of each: {min(theirs) / min(ours):.1f})")


if __name__ == "__main__":
    main()
