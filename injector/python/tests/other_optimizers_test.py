#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""State of optimizers outside torch.optim, found through the objects that hold it. The oracle is the optimizers' own tensors."""

import json
import unittest

import harness
from harness import OPTIMIZER_STATE, needs_torch

PROGRAM = """
    import ctypes, json, torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class ByParameter:                      # as fastai's
        def __init__(self, params):
            self.param_lists = [list(params)]
            self.state, self.count = {}, torch.zeros(())
        def step(self):
            self.count += 1
            for p in self.param_lists[0]:
                average = self.state.setdefault(p, {"average": torch.zeros_like(p), "steps": 0})["average"]
                self.update(p, average)
        def update(self, p, average):
            with torch.no_grad():
                average.mul_(0.9).add_(p.grad)
                p -= 0.1 * average
                p.grad = None
        def own(self):
            return [self.count, *(each["average"] for each in self.state.values())]

    class Variable:
        def __init__(self, value):
            self._value = value

    class OfVariables(ByParameter):         # as Keras's
        def __init__(self, params):
            self.variables = [Variable(p) for p in params]
            self.momentums = [Variable(torch.zeros_like(each._value)) for each in self.variables]
        def step(self):
            for variable, momentum in zip(self.variables, self.momentums):
                self.update(variable._value, momentum._value)
        def own(self):
            return [each._value for each in self.momentums]

    class Moments:
        __slots__ = ("first", "second")

    class Slotted:                          # no attribute is in a __dict__
        __slots__ = ("params", "state")
        update = ByParameter.update
        def __init__(self, params):
            self.params, self.state = list(params), {}
        def step(self):
            for p in self.params:
                if p not in self.state:
                    self.state[p] = Moments()
                    self.state[p].first = torch.zeros_like(p)
                self.update(p, self.state[p].first)
        def own(self):
            return [each.first for each in self.state.values()]

    class Flat(Slotted):                    # one tensor for all parameters
        __slots__ = ()
        def step(self):
            self.state = torch.zeros(sum(p.numel() for p in self.params)) if isinstance(self.state, dict) else self.state
            begin = 0
            for p in self.params:
                self.update(p, self.state[begin:begin + p.numel()].view_as(p))
                begin += p.numel()
        def own(self):
            return [self.state]

    class Loop:                             # holds everything
        def train(self, kind):
            self.model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Linear(16, 4))
            self.optimizer = kind(self.model.parameters())
            self.last = None
            for self.x, in DataLoader(TensorDataset(torch.randn(72, 8)), batch_size=8):
                self.last = self.model(self.x).detach()
                self.model(self.x).pow(2).mean().backward()
                ctypes.CDLL(None).vramscope_stub_passed()
                self.optimizer.step()
                yield

    kinds = (ByParameter, OfVariables, Slotted, Flat)
    loops = [Loop() for _ in kinds]
    for _ in zip(*[loop.train(kind) for loop, kind in zip(loops, kinds)]):  # in turns
        pass
    kept = [loop.optimizer.own() for loop in loops]
    print(json.dumps([[(each.data_ptr(), each.untyped_storage().nbytes()) for each in own] for own in kept]))
"""


@needs_torch
class OtherOptimizersTest(unittest.TestCase):
    def test_state_is_told_by_what_holds_it(self) -> None:
        done = harness.run(PROGRAM)
        self.assertEqual((done.exit_code, done.stderr, done.failures()), (0, "", {}))
        own = [{tuple(each) for each in state} for state in json.loads(done.stdout)]
        labels = done.labels(OPTIMIZER_STATE)
        told = {(address, size) for each in labels.values() for address, size, _ in each}
        self.assertEqual(told, set().union(*own), "and nothing else: no batch, no output, no buffer")
        steps = [event.number[0] for event in done.events if event.what == "step_done"]
        self.assertEqual(steps, list(range(2, 36)), "once it is known, a batch that is asked for after a backward pass ends a step")
        self.assertLessEqual({"count", "average of 0.weight", "average of 2.bias", "momentums[0]._value", "first of Sequential#2.0.weight"}, set(labels))


if __name__ == "__main__":
    unittest.main()
