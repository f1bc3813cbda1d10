# SPDX-License-Identifier: Apache-2.0
"""Measures how long the Python package takes to make each table of a run, up to the exported Arrow array.

    build/release/bench/generate_trace million.vms 1000000
    PYTHONPATH=build/release/share/vramscope/site-packages python3 bench/python_tables.py million.vms [REPEATS]

Prints wall time and CPU time in seconds: the minimum of the repeats. Each repeat opens the file again."""

import sys
import time

import vramscope

TABLES = ("events", "stacks", "operators", "segments", "blocks", "series")


def main() -> None:
    path, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for name in TABLES:
        walls, cpus, rows = [], [], 0
        for _ in range(repeats):
            wall, cpu = time.perf_counter(), time.process_time()
            table = getattr(vramscope.open(path), name)()
            table.__arrow_c_array__()
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
            rows = len(table)
        print(f"{name:10} {rows:>10,} rows  {min(walls):6.3f} s  {min(cpus):6.3f} s CPU")


if __name__ == "__main__":
    main()
