#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the shim costs: microseconds that it adds to a training step, with a recorder that does nothing.

The optimizer has six parameters with Adam-like state and a step() that does no work. So the difference of the two loops is the shim alone: both
hooks, zero_grad's range and mark, the scopes they pass through, and the scans of tensors that are due. Runs are interleaved and pinned to one core. Also
measures the cost of noting a step as a program: a small GPT on the CPU, the noted step against the plain one before it. VRAMSCOPE_TEST_PYTHON and
VRAMSCOPE_SHIM_STUB as for the tests."""

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
NOTED = """
import os, statistics, time, torch
from torch import nn
from torch.nn import functional as F
from vramscope_shim import torch_hook
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
torch.set_num_threads(1)
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out, self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (each.view(b, t, self.heads, c // self.heads).transpose(1, 2) for each in self.qkv(self.norms[0](x)).split(c, dim=2))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))
class GPT(nn.Module):
    def __init__(self, layers=6, width=WIDTH):
        super().__init__()
        self.table, self.blocks = nn.Embedding(1024, width), nn.ModuleList(Block(width, 4) for _ in range(layers))
    def forward(self, ids):
        x = self.table(ids)
        for block in self.blocks:
            x = block(x)
        return x @ self.table.weight.t()
net = GPT()
optimizer = torch.optim.AdamW(net.parameters())
times = []
def step():
    begun = time.perf_counter()
    ids = torch.randint(1024, BATCH)
    F.cross_entropy(net(ids).view(-1, 1024), ids.view(-1)).backward()
    optimizer.step()
    optimizer.zero_grad()
    times.append((time.perf_counter() - begun) * 1e3)
for _ in range(8):
    step()
program = torch_hook._recorder._program
plain, noted = [], []
for _ in range(12):
    program._noted, program._deep_seen = 0, True
    del times[:]
    for _ in range(4):   # a plain one, at whose end noting begins; for the names; the program; a plain one
        step()
    assert program._noted == 3 and not program._why, program._why
    plain.append((times[0] + times[3]) / 2)
    noted.append(times[2])
print(statistics.median(plain), statistics.median(noted), statistics.median(more / less for less, more in zip(plain, noted)))
"""
WORK = {
    "step()": "optimizer.step()",
    "step() and zero_grad()": "optimizer.step(); optimizer.zero_grad()",
    "autocast region": "with torch.autocast('cpu', dtype=torch.bfloat16): pass",
    "record_function scope": "with torch.profiler.record_function('scope'): pass",
}


def measure(program: str, settings: Dict[str, str]) -> List[float]:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "LD_PRELOAD", "VRAMSCOPE_STUB_LOG")}
    command = [harness.TORCH_PYTHON, "-c", program]
    return [float(word) for word in subprocess.run(command, env={**environment, **settings}, stdout=subprocess.PIPE, check=True).stdout.split()]


def main() -> int:
    if not harness.TORCH_PYTHON or not harness.STUB:
        print("Set VRAMSCOPE_TEST_PYTHON and VRAMSCOPE_SHIM_STUB.", file=sys.stderr)
        return 2
    recorded = {"PYTHONPATH": harness.SHIM, "LD_PRELOAD": harness.STUB, "VRAMSCOPE_SESSION": "bench"}
    for name, work in WORK.items():
        bare: List[float] = []
        shim: List[float] = []
        for _ in range(ROUNDS):
            bare.append(measure(PROGRAM.replace("WORK", work), {})[0])
            shim.append(measure(PROGRAM.replace("WORK", work), recorded)[0])
        cost = statistics.median(with_shim - without for with_shim, without in zip(shim, bare))
        print(f"{name:24} {statistics.median(bare):6.2f} us bare, {statistics.median(shim):6.2f} us with the shim: {cost:+.2f} us")
    for width, batch in ((256, (4, 64)), (32, (2, 16))):
        plain, noted, times = measure(NOTED.replace("WIDTH", str(width)).replace("BATCH", str(batch)), recorded)
        print(f"{f'noted step, width {width}':24} {plain:6.2f} ms plain, {noted:6.2f} ms noted: {times:.2f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
