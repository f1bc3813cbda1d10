#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From which functions and lines a module is called: told with the call, in deep steps, as operators tell it."""

import unittest
from typing import List, Tuple

import harness
from harness import MARK_CALLER, MODULE, needs_torch

MODEL = """
    import gc, weakref
    import torch
    from torch import nn

    def helper(layer, given, depth=0):
        if depth > 0:
            return helper(layer, given, depth - 1)
        return layer(given)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4))

        def forward(self, x):
            x = self.first(x) * (
                1 + self.first(x))
            x = helper(self.second, x)
            return helper(self.first, x, depth=9)

    model = Net()
"""


@needs_torch
class CallersTest(unittest.TestCase):
    def callers(self, program: str, deep: str = "1-99") -> List[Tuple[str, List[str]]]:
        """(module, what is told of its call), in the order of the calls."""
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": deep})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, done.failures())
        calls: List[Tuple[str, List[str]]] = []
        self.places: List[Tuple[str, int]] = []
        for before, event in zip([None, *done.events], done.events):
            if event.what == "begin" and event.number[0] == MODULE:
                calls.append((event.name, []))
            elif event.what == "mark" and event.number[0] == MARK_CALLER:
                self.assertTrue(before is not None and (before.what == "begin" or before.number[0] == MARK_CALLER), "directly behind the begin")
                if "_call_impl.<locals>" not in event.name:  # torch's own, where hooks are called
                    calls[-1][1].append(event.name)
                    self.places.append((event.name, event.number[1]))
        self.output = done.stdout  # of the program
        return calls

    def test_functions_between_two_modules_are_told_innermost_first(self) -> None:
        told = self.callers("model(torch.ones(2, 4))\n")
        lines = {text.strip(): number for number, text in enumerate(MODEL.splitlines(), 1)}
        forward = "Net.forward" if self.qualifies() else "forward"
        file = told[1][1][0].partition(" (")[2].rpartition(":")[0]
        self.assertTrue(file.endswith("program.py"))

        def within(function: str, line: str) -> str:
            return f"{function} ({file}:{lines[line]})"

        self.assertEqual([module for module, _ in told], ["Net", "first", "first", "second", "second.0", "first"])
        self.assertEqual(told[0][1], [], "what is outside of all modules is not told")
        self.assertEqual(told[1][1], [within(forward, "x = self.first(x) * (")])
        self.assertEqual(told[2][1], [within(forward, "1 + self.first(x))")])
        self.assertEqual(told[3][1], [within("helper", "return layer(given)"), within(forward, "x = helper(self.second, x)")])
        self.assertEqual(len(told[4][1]), 1)
        self.assertRegex(told[4][1][0], r"forward \(.*container\.py:\d+\)$")
        self.assertEqual(told[5][1], [within("helper", "return layer(given)"), *7 * [within("helper", "return helper(layer, given, depth - 1)")]], "eight at most")

    def test_calls_in_a_line_have_places_and_keep_them_in_a_loop(self) -> None:
        program = """
            class Loops(Net):
                def forward(self, x):
                    for _ in range(2):
                        x = self.first(self.first(x))
                    return x
            Loops()(torch.ones(2, 4))
        """
        self.callers(program)
        (line,) = {name for name, _ in self.places}
        inner, outer, *again = [place for _, place in self.places]
        self.assertLess(inner, outer)
        self.assertEqual(again, [inner, outer])

    def test_equal_code_in_two_files_is_told_apart(self) -> None:
        program = """
            class Runs(Net):
                def forward(self, x):
                    for name in ("one.py", "other.py"):
                        space = {}
                        exec(compile("def f(layer, x):\\n    return layer(x)\\n", name, "exec"), space)
                        x = space["f"](self.first, x)
                    return x
            Runs()(torch.ones(2, 4))
        """
        self.assertEqual([told[0] for _, told in self.callers(program)[1:]], ["f (one.py:2)", "f (other.py:2)"])

    def test_nothing_lives_longer_and_other_steps_are_silent(self) -> None:
        program = """
            class Watch(Net):
                def forward(self, x):
                    y = x * 2
                    gone = weakref.ref(y)
                    self.first(y)
                    del y
                    print(gone() is None)
                    return x
            gc.disable()
            with torch.no_grad():
                Watch()(torch.ones(2, 4))
        """
        self.callers(program)
        self.assertEqual(self.output, "True\n")
        self.assertEqual(self.callers(program, deep="5-6"), [])

    def qualifies(self) -> bool:
        done = harness.run("import sys\nprint(sys.version_info >= (3, 11))\n", recorded=False)
        return done.stdout == "True\n"


if __name__ == "__main__":
    unittest.main()
