#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the shim costs: microseconds per training step beyond the same program without it, against a recorder that does nothing.

The optimizer has six parameters with Adam-like state and a step() that does no work, so that the difference of the two loops is the shim
alone: both hooks, zero_grad's range and mark, the scopes they pass through, and the looks that are due. Runs are interleaved and pinned to
one core. VRAMSCOPE_TEST_PYTHON and VRAMSCOPE_SHIM_STUB as for the tests.
"""

import os
import statistics
import subprocess
import sys
from typing import Dict, List

import harness

ROUNDS = 3
PROGRAM = """
import os, sys, time, torch
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
torch.set_num_threads(1)
class Idle(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})
        for parameter in self.param_groups[0]["params"]:
            self.state[parameter] = {"exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
    def step(self, closure=None):
        pass
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
optimizer = Idle(model.parameters())
def loop(steps):
    start = time.perf_counter()
    for _ in range(steps):
        WORK
    return (time.perf_counter() - start) / steps * 1e6
loop(2000)
print(min(loop(2000) for _ in range(10)))
"""
WORK = {
    "step()": "optimizer.step()",
    "step() and zero_grad()": "optimizer.step(); optimizer.zero_grad()",
    "autocast region": "with torch.autocast('cpu', dtype=torch.bfloat16): pass",
    "record_function scope": "with torch.profiler.record_function('scope'): pass",
}


def measure(work: str, settings: Dict[str, str]) -> float:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "LD_PRELOAD", "VRAMSCOPE_STUB_LOG")}
    command = [harness.TORCH_PYTHON, "-c", PROGRAM.replace("WORK", work)]
    return float(subprocess.run(command, env={**environment, **settings}, stdout=subprocess.PIPE, check=True).stdout)


def main() -> int:
    if not harness.TORCH_PYTHON or not harness.STUB:
        print("Set VRAMSCOPE_TEST_PYTHON and VRAMSCOPE_SHIM_STUB.", file=sys.stderr)
        return 2
    recorded = {"PYTHONPATH": harness.SHIM, "LD_PRELOAD": harness.STUB, "VRAMSCOPE_SESSION": "bench"}
    for name, work in WORK.items():
        bare: List[float] = []
        shim: List[float] = []
        for _ in range(ROUNDS):
            bare.append(measure(work, {}))
            shim.append(measure(work, recorded))
        cost = statistics.median(with_shim - without for with_shim, without in zip(shim, bare))
        print(f"{name:24} {statistics.median(bare):6.2f} us bare, {statistics.median(shim):6.2f} us with the shim: {cost:+.2f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
