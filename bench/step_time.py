# SPDX-License-Identifier: Apache-2.0
"""The program that record_cost.py measures: runs one workload and writes how long it takes to FILE, as JSON.

    step_time.py FILE loop                     ns of one torch.empty(256) and its free
    step_time.py FILE samples/gpt.py [flags]   ns of one training step

FILE gets {"median_ns", "p10_ns"}; standard output belongs to the workload. --profile memory|stack runs the workload under torch.profiler.
--turns FD lets it run in turns with another program: see Turns.
"""
import argparse
import contextlib
import importlib
import json
import socket
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Callable, List, Optional

import torch

LOOP_CHUNK = 10_000
LOOP_CHUNKS = 60
CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}
WARM_UP = 10  # steps: allocator caches, optimizer state, and the deep steps of a recording


class Turns:
    """Two programs that share a core run in turns, some milliseconds each, so that whatever slows the machine down slows both alike.

    They pass a byte back and forth through a pair of sockets; the program that has it runs. pause() is called between two measured intervals.
    """

    def __init__(self, descriptor: Optional[int], begins: bool, every: int) -> None:
        self._other = None if descriptor is None else socket.socket(fileno=descriptor)
        self._every = every  # pauses
        self._pauses = 0
        self._alone = False  # the other program has ended
        if self._other is not None and not begins:
            self._wait()

    def pause(self) -> bool:
        """Ends a turn if it is over. True if the other program ran meanwhile."""
        self._pauses += 1
        if self._other is None or self._alone or self._pauses % self._every:
            return False
        try:
            self._other.send(b".")
        except OSError:
            self._alone = True
        else:
            self._wait()
        return True

    def end(self) -> None:
        if self._other is not None:
            self._other.close()

    def _wait(self) -> None:
        assert self._other is not None
        self._alone = self._other.recv(1) == b""


def time_loop(turns: Turns) -> List[float]:
    """ns per allocation and free, one number per chunk."""
    empty = torch.empty
    times = []
    for _ in range(LOOP_CHUNKS):
        begin = time.perf_counter_ns()
        for _ in range(LOOP_CHUNK):
            empty(256)
        times.append((time.perf_counter_ns() - begin) / LOOP_CHUNK)
        turns.pause()
    return times


def time_steps(program: Path, arguments: List[str], turns: Turns, clock: Callable[[], int]) -> List[float]:
    """ns per step, one number per step."""
    sys.path.insert(0, str(program.parent))
    training = importlib.import_module("training")
    sample = importlib.import_module(program.stem)
    options = training.start(sample.arguments(), [*arguments, "--device", "cpu", "--log-every", "1000000"])
    times: List[float] = []
    begin = 0

    def observe(point: str, _step: int, _losses: Any) -> None:
        nonlocal begin
        if point != "zero_grad":
            return
        now = clock()
        if begin:
            times.append(float(now - begin))
        begin = clock() if turns.pause() else now

    training.train(sample.build(options), options, observe)
    return times[WARM_UP:]


def profiler(kind: Optional[str]) -> Any:
    if kind is None:
        return contextlib.nullcontext()
    activities = [torch.profiler.ProfilerActivity.CPU]
    return torch.profiler.profile(activities=activities, profile_memory=True, with_stack=kind == "stack")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", choices=("memory", "stack"))
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="what a step takes: time, or CPU time of all threads")
    parser.add_argument("--turns", type=int, metavar="FD", help="socket to the other program")
    parser.add_argument("--turn-begins", action="store_true", help="this program has the first turn")
    parser.add_argument("--turn-steps", type=int, default=1, help="steps (or chunks of the loop) in a turn")
    parser.add_argument("result", type=Path)
    parser.add_argument("workload")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    torch.set_num_threads(1)
    turns = Turns(options.turns, options.turn_begins, options.turn_steps)
    with profiler(options.profile):
        if options.workload == "loop":
            times = time_loop(turns)
        else:
            times = time_steps(Path(options.workload), options.arguments, turns, CLOCKS[options.clock])
    turns.end()
    result = {"median_ns": statistics.median(times), "p10_ns": statistics.quantiles(times, n=10)[0]}
    options.result.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
