# SPDX-License-Identifier: Apache-2.0
"""The cost of a deep step: time per op and per step of the GPT sample, compared with torch.profiler, and the number of records.

    VRAMSCOPE_TEST_BRIDGE=<bridge.so> VRAMSCOPE_TEST_STUB=<stub host> python injector/torch/bridge/testing/bridge_bench.py

Figures are medians of interleaved rounds of the thread's own CPU time, so that a busy machine has no effect.
The host is the stub, which stores 80 bytes per event.
"""

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from contextlib import contextmanager
from typing import Callable, Dict, Iterator, List

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "samples"))
import gpt  # noqa: E402  (samples/gpt.py)
from stub_recording import Bridge, Recording  # noqa: E402


def training_step(layers: int, dim: int) -> Callable[[], None]:
    torch.manual_seed(0)
    model = gpt.Gpt(layers, dim)
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(0, gpt.VOCABULARY, (8, gpt.CONTEXT))

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(tokens).view(-1, gpt.VOCABULARY), tokens.view(-1)).backward()
        optimizer.step()

    return step


def profiler(with_stack: bool) -> Callable[[], "torch.profiler.profile"]:
    return lambda: torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=with_stack)


@contextmanager
def nothing() -> Iterator[None]:
    yield


def timed(run: Callable[[], None], context: Callable[[], object], times: int) -> float:
    """CPU microseconds of one run inside an open context, without the cost of starting and stopping it."""
    with context():  # type: ignore[attr-defined]
        run()
        started = time.thread_time()
        for _ in range(times):
            run()
        return (time.thread_time() - started) / times * 1e6


def compare(title: str, run: Callable[[], None], times: int, rounds: int, ways: Dict[str, Callable[[], object]]) -> None:
    results: Dict[str, List[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, context in ways.items():
            results[name].append(timed(run, context, times))
    plain = statistics.median(results["plain"])
    for name, values in results.items():
        median = statistics.median(values)
        print(f"{title:24} {name:30} {median:10.1f} us   +{median - plain:9.1f} us   x{median / plain:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--dim", type=int, default=128)
    options = parser.parse_args()
    torch.set_num_threads(1)
    bridges = {"bridge": "none", "bridge, Python stacks": "python"}

    def recording(stacks: str) -> Callable[[], object]:
        return lambda: Bridge(stacks).recording(read=False)

    ways: Dict[str, Callable[[], object]] = {"plain": nothing, "plain again": nothing}
    ways.update({name: recording(stacks) for name, stacks in bridges.items()})
    ways.update({"torch.profiler": profiler(False), "torch.profiler with_stack": profiler(True)})

    x, y = torch.ones(8), torch.ones(8)
    out = torch.empty(8)
    compare("add(out=), one op", lambda: torch.add(x, y, out=out), 2000, options.rounds, ways)  # type: ignore[arg-type, return-value]
    step = training_step(options.layers, options.dim)
    step()
    compare(f"GPT step, {options.layers} layers", step, 3, options.rounds, ways)

    with Bridge().recording() as record:
        step()
    print_counts(record)


def print_counts(record: Recording) -> None:
    operands = sum(len(op.inputs) + len(op.outputs) for op in record.ops)
    scalars = sum(len(op.scalars) for op in record.ops)
    edges = sum(len(node.edges) for node in record.nodes)
    print(f"one deep GPT step: {record.records} records: {len(record.ops)} ops, {operands} operands, {scalars} scalars, "
          f"{len(record.nodes)} nodes, {edges} edges")
    print("most frequent:", ", ".join(f"{name} {count}" for name, count in Counter(record.names()).most_common(12)))


if __name__ == "__main__":
    main()
