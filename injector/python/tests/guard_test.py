#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An error in a hook of ours never reaches the program. Each hook is made to raise, one by one and all at once, while a program is recorded, run dry,
and changed by `try`. The oracle is the program without errors, and without us.

Hooks come from guard.py's registry, so a new one is covered automatically."""

import json
import os
import tempfile
import unittest
from typing import Set, Tuple

import harness
import drawn
from harness import Run, needs_torch

DRYRUN = os.path.join(os.path.dirname(os.path.dirname(harness.SHIM)), "injector/simulated_cuda/python")

PROGRAM = """
    import os, sys

    guard = sys.modules.get("vramscope_core.guard")
    every = os.environ.get("PLANT") == "all"
    planted, reached = "", set()

    def plant(name, entry):
        def error(*args, **named):
            reached.add(name)
            raise ZeroDivisionError(name)
        entry.function = error

    if guard:
        make = guard.Entry.__init__
        def made(entry, *args):
            make(entry, *args)
            name = next(key for key, value in guard.entries.items() if value is entry)
            if every or name == planted:
                plant(name, entry)
        guard.Entry.__init__ = made
        if every:
            for name, entry in list(guard.entries.items()):
                plant(name, entry)

    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint
    from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, TensorDataset

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 8)
        def forward(self, x):
            x = self.linear(x)
            return x + nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])[0]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block() for _ in range(2)])
            self.norm = nn.BatchNorm1d(8)
            self.head = nn.Linear(8, 4)
        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    class Wrong(Exception):
        pass

    def work():
        torch.manual_seed(0)
        values = []
        model = Net()
        with torch.no_grad():
            model.eval()(torch.ones(2, 8))
        optimizer = torch.optim.AdamW(model.train().parameters(), lr=0.1)
        data = DataLoader(TensorDataset(torch.randn(32, 8), torch.arange(32) % 4), batch_size=8, shuffle=True, generator=torch.Generator())
        scaler = torch.amp.GradScaler("cpu", enabled=False)
        for x, y in data:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(x).float(), y) + checkpoint(model.blocks[0], x, use_reentrant=False).float().mean()
            with torch.profiler.record_function("backward"):
                scaler.scale(loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            values.append(loss.item())
        x = torch.ones(8, 8, requires_grad=True)
        (slope,) = torch.autograd.grad(model.head(x).tanh().sum(), x, create_graph=True)
        slope.sum().backward()
        model.zero_grad()
        torch.clear_autocast_cache()
        nn.init.normal_(torch.empty(256, 256))
        list(BatchSampler(SequentialSampler(range(8)), 4, False))
        try:  # what the program raises itself
            def closure():
                raise Wrong
            optimizer.step(closure)
        except Wrong:
            values.append("raised")
        return values if os.environ.get("EXACT") else len(values) > 1 and values[-1]

    normal = work()
    print("works", normal)
    if guard and not every:
        names = list(guard.entries)
        for planted in names:
            entry = guard.entries[planted]
            kept = entry.function
            plant(planted, entry)
            got = work()
            if got != normal:
                print("harmed by", planted, got)
            guard.entries[planted].function = entry.function = kept
    if guard:
        planted = ""
        import json
        with open(os.environ["FOUND"], "w") as file:
            json.dump(sorted(reached), file)
"""
TRY = {"amp": "fp16", "checkpoint": ["all"], "batch": {"factor": 0.5}, "accumulate": 2, "optimizer": "sgd", "zero_grad_to_none": True,
       "empty_cache": "after-step", "freeze": ["norm"], "attention": "math", "cross_entropy": "chunked:2"}


@drawn.share(4)
@needs_torch
class GuardTest(unittest.TestCase):
    maxDiff = None

    def run_planted(self, **environment: str) -> Tuple[Run, Set[str]]:
        """Runs the program with hooks that raise. Returns the run and the names of these hooks."""
        with tempfile.TemporaryDirectory() as folder:
            found = os.path.join(folder, "found.json")
            done = harness.run(PROGRAM, environment={"FOUND": found, "VRAMSCOPE_STUB_DEEP": "1-999999", **environment})
            self.assertEqual((done.exit_code, done.stderr), (0, ""), done.stdout)
            with open(found, encoding="utf-8") as file:
                return done, set(json.load(file))

    def check(self, least: int, **environment: str) -> None:
        """When all hooks raise, those that run only once are reached, such as reactions to imports. When one after the other raises, those are reached
        that only run if others work. At least `least` hooks must be reached."""
        bare = harness.run(PROGRAM, recorded=False, environment={"EXACT": environment.get("EXACT", "")})
        in_turn, reached = self.run_planted(**environment)
        self.assertEqual(in_turn.stdout, bare.stdout)
        failed = {event.name for event in in_turn.named("coverage", harness.FAILED)}
        self.assertEqual(failed, {name.partition(": ")[0] for name in reached}, "each is told")
        together, at_once = self.run_planted(PLANT="all", **environment)
        self.assertEqual(together.stdout, bare.stdout)
        self.assertGreaterEqual(len(reached | at_once), least, sorted(reached | at_once))

    def test_while_it_is_recorded(self) -> None:
        self.check(20, EXACT="1")

    def test_in_a_dry_run(self) -> None:
        self.check(20, PYTHONPATH=DRYRUN, VRAMSCOPE_DRYRUN="steps=999;init=skip;order=1")

    def test_while_it_is_changed(self) -> None:
        with tempfile.TemporaryDirectory() as notes:
            self.check(30, VRAMSCOPE_TRY=json.dumps({**TRY, "notes": notes}))


if __name__ == "__main__":
    unittest.main()
