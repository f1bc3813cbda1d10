# SPDX-License-Identifier: Apache-2.0
"""Runs one workload and prints how long it takes, as JSON: the program that record_cost.py measures.

    step_time.py FILE loop                     ns of one torch.empty(256) and its free
    step_time.py FILE samples/gpt.py [flags]   ns of one training step

FILE gets {"median_ns", "p10_ns", "events_per_step"?}: what is written to stdout belongs to the program. --profile memory|stack runs the
workload under torch.profiler.
"""
import argparse
import contextlib
import importlib
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any, List, Optional

import torch

LOOP_CHUNK = 10_000
LOOP_CHUNKS = 60
WARM_UP = 10  # steps: allocator caches, optimizer state, and the deep steps of a recording


def time_loop() -> List[float]:
    """ns per allocation and free, one number per chunk."""
    empty = torch.empty
    times = []
    for _ in range(LOOP_CHUNKS):
        begin = time.perf_counter_ns()
        for _ in range(LOOP_CHUNK):
            empty(256)
        times.append((time.perf_counter_ns() - begin) / LOOP_CHUNK)
    return times


def time_steps(program: Path, arguments: List[str]) -> List[float]:
    """ns per step, one number per step."""
    sys.path.insert(0, str(program.parent))
    training = importlib.import_module("training")
    sample = importlib.import_module(program.stem)
    options = training.start(sample.arguments(), [*arguments, "--device", "cpu", "--log-every", "1000000"])
    stamps: List[int] = []

    def observe(point: str, _step: int, _losses: Any) -> None:
        if point == "zero_grad":
            stamps.append(time.perf_counter_ns())

    training.train(sample.build(options), options, observe)
    return [float(end - begin) for begin, end in zip(stamps[WARM_UP:], stamps[WARM_UP + 1:])]


def profiler(kind: Optional[str]) -> Any:
    if kind is None:
        return contextlib.nullcontext()
    activities = [torch.profiler.ProfilerActivity.CPU]
    return torch.profiler.profile(activities=activities, profile_memory=True, with_stack=kind == "stack")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", choices=("memory", "stack"))
    parser.add_argument("result", type=Path)
    parser.add_argument("workload")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with profiler(options.profile):
        times = time_loop() if options.workload == "loop" else time_steps(Path(options.workload), options.arguments)
    result = {"median_ns": statistics.median(times), "p10_ns": statistics.quantiles(times, n=10)[0]}
    options.result.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
