#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model does with another type alone: told where it is passed in float32, and only where nothing but the type kept it from running."""

import unittest
from typing import List

import harness
from harness import TYPE_BRANCH, MODULE, needs_torch

MODEL = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, wide=False):
            super().__init__()
            self.first, self.second, self.third = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
            self.wide = wide
"""

IN_SERIES = """
    class Clamping(Net):
        def forward(self, x):
            x = self.first(x)
            if x.dtype == torch.float16:
                top = torch.where(torch.isinf(x).any(), 1.0, 2.0)
                x = torch.clamp(x, min=-top, max=top)
            if self.wide:
                x = self.second(x)
                if x.dtype == torch.float16:
                    x = x.clamp(-1, 1)
            y = self.third(x)
            if y.dtype == torch.float16:
                y = torch.clamp(y, -1, 1)
            return x, y
"""


@needs_torch
class TypeBranchesTest(unittest.TestCase):
    def told(self, program: str) -> List[str]:
        """Begins and ends of modules, and `clamp` with the size of what would be clamped."""
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, {hook: told for hook, told in done.coverage().items() if any("Error" in detail for _, detail in told)})
        found = []
        for event in done.events:
            if event.what in ("begin", "end") and event.number[0] == MODULE:
                found.append("<" + event.name if event.what == "begin" else event.name + ">")
            elif event.what == "label" and event.number[0] == TYPE_BRANCH:
                found.append(f"{event.name} {event.number[3]}")
        return found

    def test_between_two_calls_and_of_what_forward_returns(self) -> None:
        self.assertEqual(
            self.told(IN_SERIES + "    Clamping(wide=True)(torch.ones(2, 4))\n"),
            ["<Clamping", "<first", "first>", "clamp 32", "<second", "second>", "clamp 32", "<third", "third>", "clamp 32", "Clamping>"],
        )

    def test_a_branch_inside_one_that_was_not_taken_is_not_told(self) -> None:
        self.assertEqual(
            self.told(IN_SERIES + "    Clamping(wide=False)(torch.ones(2, 4))\n"),
            ["<Clamping", "<first", "first>", "clamp 32", "<third", "third>", "clamp 32", "Clamping>"],
        )

    def test_what_is_float16_runs_and_is_recorded_as_it_is(self) -> None:
        told = self.told(IN_SERIES + "    Clamping().to(torch.float64)(torch.ones(2, 4, dtype=torch.float64))\n")
        self.assertEqual([each for each in told if each.startswith("clamp")], [], "nor does another type fail the test for its own sake")

    def test_what_is_converted_to_the_type_of_a_parameter(self) -> None:
        tests = {
            "x.dtype != self.second.weight.dtype": ["to parameter 32"],
            "isinstance(self.second.weight, torch.Tensor) and x.dtype != self.second.weight.dtype and self.second.weight.dtype != torch.int8": ["to parameter 32"],
            "self.wide and x.dtype != self.second.weight.dtype": [],
            "x.dtype != self.second.weight.dtype or self.wide": [],
            "x.dtype != self.third.weight.dtype": [],
        }
        for test, told in tests.items():
            with self.subTest(test):
                program = f"""
    class Converting(Net):
        def forward(self, x):
            x = self.first(x)
            if {test}:
                x = x.to(self.second.weight.dtype)
            return self.second(x)

    Converting()(torch.ones(2, 4))
"""
                self.assertEqual(self.told(program), ["<Converting", "<first", "first>", *told, "<second", "second>", "Converting>"])

    def test_what_leaves_a_choice_is_not_told(self) -> None:
        bodies = {
            "asks for more than the type": "if x.dtype == torch.float16 and x.isinf().any():\n                x = torch.clamp(x, -1, 1)",
            "another tensor by then": "if x.dtype == torch.float16:\n                x = torch.clamp(x, -1, 1)\n            x = x * 2",
            "another tensor's type": "if x.dtype == torch.float16:\n                y = torch.clamp(x, -1, 1)",
            "another tensor, perhaps": "if x.dtype == torch.float16:\n                x = torch.clamp(x, -1, 1)\n            if self.wide:\n                x = x * 2",
            "in a loop": "for _ in range(2):\n                if x.dtype == torch.float16:\n                    x = torch.clamp(x, -1, 1)",
            "something else": "if x.dtype == torch.float16:\n                x = torch.relu(x)",
            "otherwise something": "if x.dtype == torch.float16:\n                x = torch.clamp(x, -1, 1)\n            else:\n                pass",
        }
        for what, body in bodies.items():
            with self.subTest(what):
                program = f"""
    class Choosing(Net):
        def forward(self, x):
            x = self.first(x)
            {body}
            return self.second(x)

    Choosing()(torch.ones(2, 4))
"""
                self.assertEqual(self.told(program), ["<Choosing", "<first", "first>", "<second", "second>", "Choosing>"])


if __name__ == "__main__":
    unittest.main()
