#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a module returned is told at the end of its call, where a variable keeps it until its function returns."""

import textwrap
import unittest
from typing import Dict, List

import harness
from harness import KEPT_RESULT, MODULE, needs_torch

MODEL = """
    import torch
    from collections import OrderedDict
    from dataclasses import dataclass
    from torch import nn
    from typing import Any

    @dataclass
    class Layer:
        keys: Any = None
        pair: Any = None

    @dataclass
    class Cache:
        layers: Any = None
        count: int = 0

        @property
        def odd(self):
            raise AssertionError("looked at")

    class Inner(nn.Module):
        def forward(self, x, how):
            if how == "plain":
                return x + 1
            if how == "list":
                return [x + 1, x + 2]
            if how == "named":
                return OrderedDict(last=x + 1)
            cache = Cache([Layer(x * 2, (x * 3, x * 4)) for _ in range(2)])
            return (x + 1, cache) if how == "both" else cache

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
"""


@needs_torch
class KeptResultsTest(unittest.TestCase):
    def kept(self, forward: str, helpers: str = "") -> Dict[str, List[int]]:
        """By variable: sizes of what it is told to keep; `forward`: the lines of its body."""
        lines = textwrap.indent(forward, 8 * " ")
        program = f"{helpers}\nclass It(Net):\n    def forward(self, x):\n{lines}\n\nIt()(torch.ones(2, 4))\n"
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, done.failures())
        open_modules: List[str] = []
        for event in done.events:
            if event.what in ("begin", "end") and event.number[0] == MODULE:
                open_modules.append(event.name) if event.what == "begin" else open_modules.pop()
            elif event.what == "label" and event.number[0] == KEPT_RESULT:
                self.assertEqual(open_modules[-1:], ["inner"], "it is told before the range of what returned it ends")
        return {name: [size for _, size, _ in told] for name, told in done.labels(KEPT_RESULT).items()}

    def test_all_tensors_in_what_a_variable_gets_are_told(self) -> None:
        self.assertEqual(self.kept("cache = self.inner(x, 'cache')\nreturn x"), {"cache": 6 * [32]})
        self.assertEqual(self.kept("out = self.inner(x, 'named')\nreturn x"), {"out": [32]})

    def test_of_several_each_has_its_own(self) -> None:
        self.assertEqual(self.kept("out, cache = self.inner(x, 'both')\nreturn out"), {"cache": 6 * [32]}, "of a tensor the source says it")
        self.assertEqual(self.kept("all_of_it = self.inner(x, 'both')\nreturn x"), {"all_of_it": 7 * [32]})

    def test_what_a_function_hands_on_its_caller_gets(self) -> None:
        helper = "def helper(module, x):\n    return module(x, 'both')\n"
        self.assertEqual(self.kept("out, cache = helper(self.inner, x)\nreturn out", helper), {"cache": 6 * [32]})

    def test_what_does_not_stay_is_not_told(self) -> None:
        for lines in (
            "return self.inner(x, 'plain')",
            "out = self.inner(x, 'plain')\nreturn out",
            "kept = self.inner(x, 'list')\nreturn kept[0]",
            "cache = self.inner(x, 'cache')\ncache = None\nreturn x",
            "cache = self.inner(x, 'cache')\ndel cache\nreturn x",
            "for _ in range(2):\n    cache = self.inner(x, 'cache')\nreturn x",
            "return self.inner(x, 'both')[0]",
            "self.inner(x, 'cache')\nreturn x",
        ):
            self.assertEqual(self.kept(lines), {}, lines)
        helper = "def helper(module, x):\n    cache = module(x, 'cache')\n    return x\n"
        self.assertEqual(self.kept("return helper(self.inner, x)", helper), {}, "the helper returns before")


if __name__ == "__main__":
    unittest.main()
