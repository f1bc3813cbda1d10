#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The types of modules' buffers, which tell what model.to(torch.bfloat16) converts."""

import unittest
from typing import List, Tuple

import harness
from harness import BUFFER, MARK_FLOAT_BUFFER, PARAMETER, needs_torch

MODEL = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, **buffers):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(4))
            for name, buffer in buffers.items():
                self.register_buffer(name, buffer)

        def forward(self, x):
            return x * self.scale
"""


@needs_torch
class FloatBuffersTest(unittest.TestCase):
    def told(self, buffers: str) -> List[Tuple[str, str]]:
        """Each buffer that has a mark behind its label, with the type in it, in the order of telling."""
        done = harness.run(f"    model = Net({buffers})\n    model(torch.ones(4))\n", MODEL)
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, done.failures())
        self.assertTrue(done.labels(BUFFER), "buffers are labelled")
        found = []
        for label, mark in zip(done.events, done.events[1:]):
            if mark.what == "mark" and mark.number[0] == MARK_FLOAT_BUFFER:
                self.assertEqual((label.what, label.number[0]), ("label", BUFFER), "it stands beside the label")
                self.assertEqual(mark.number[1], label.number[2], "it tells the address of the storage")
                found.append((label.name, mark.name))
        return found

    def test_of_floating_point_numbers(self) -> None:
        self.assertEqual(self.told("mean=torch.zeros(4)"), [("mean", "torch.float32")])
        two = "low=torch.zeros(4, dtype=torch.bfloat16), wide=torch.zeros(4, dtype=torch.float64)"
        self.assertEqual(self.told(two), [("low", "torch.bfloat16"), ("wide", "torch.float64")])

    def test_of_a_part_it_is_the_address_of_the_whole_storage(self) -> None:
        self.assertEqual(self.told("part=torch.zeros(8)[4:]"), [("part", "torch.float32")])

    def test_nothing_of_integers_and_bools(self) -> None:
        self.assertEqual(self.told("steps=torch.zeros(1, dtype=torch.long), mask=torch.ones(4, dtype=torch.bool)"), [])
        self.assertEqual(self.told("steps=torch.zeros(1, dtype=torch.long), mean=torch.zeros(4)"), [("mean", "torch.float32")])

    def test_nothing_of_parameters(self) -> None:
        done = harness.run("    model = Net()\n    model(torch.ones(4))\n", MODEL)
        self.assertIn("scale", done.labels(PARAMETER))
        self.assertEqual(done.named("mark", MARK_FLOAT_BUFFER), [])


if __name__ == "__main__":
    unittest.main()
