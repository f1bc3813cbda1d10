#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What variables hold while a module is called: told with the call, in deep steps, and nothing lives longer for it."""

import unittest
from typing import List, Tuple

import harness
from harness import HELD, HELD_IN_GIVEN, HELD_TO_END, MODULE, needs_torch

MODEL = """
    import gc
    import torch
    import weakref
    from torch import nn

    def helper(layer, given):
        inside = [given * 2, {"deep": given * 3}]
        return layer(given) + inside[0]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            named = self.first(x)
            y = named * 2
            y = helper(self.second, y)
            return y

    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@needs_torch
class VariablesTest(unittest.TestCase):
    def run_well(self, program: str) -> harness.Run:
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, done.failures())
        return done

    def held(self, done: harness.Run, *roles: int) -> List[Tuple[str, List[str]]]:
        """(module, the variables that hold something when it is called), in the order of the calls."""
        calls: List[Tuple[str, List[str]]] = []
        for event in done.events:
            if event.what == "begin" and event.number[0] == MODULE:
                calls.append((event.name, []))
            elif event.what == "label" and event.number[0] in roles:
                calls[-1][1].append(event.name)
        return [(module, sorted(set(names))) for module, names in calls]

    def test_variables_of_the_functions_between_two_modules(self) -> None:
        held = self.held(self.run_well("model(torch.ones(2, 4))\n"), HELD, HELD_TO_END)
        self.assertEqual([module for module, _ in held], ["Net", "first", "second"])
        self.assertEqual(held[0][1], [], "what is outside of all modules is not looked at")
        self.assertLessEqual({"x"}, set(held[1][1]))
        self.assertLessEqual({"x", "named", "y", "given", "inside"}, set(held[2][1]))
        self.assertFalse({"self", "layer"} & set(held[2][1]), "modules and parameters are no tensors that forward made")

    def test_what_a_list_holds_is_told_with_its_address(self) -> None:
        done = self.run_well("model(torch.ones(2, 4))\n")
        inside = done.labels(HELD)["inside"]
        self.assertEqual(len({address for address, _, _ in inside}), 2)
        self.assertEqual({size for _, size, _ in inside}, {32})

    def test_what_nothing_gives_another_value_is_held_until_its_function_returns(self) -> None:
        program = """
            from collections import OrderedDict

            class Shapes(Net):
                def forward(self, x):
                    parts, both = [x * 1], (x * 2, x * 3)
                    named, again, gone = OrderedDict(last=x * 4), x * 5, x * 6
                    for _ in range(2):
                        looped = self.first(x)
                        around = looped + 1
                        self.second(around)
                    again = self.second(again)
                    del gone
                    return helper(self.first, again), parts

            class Wrapped(Shapes):
                def forward(self, *given):
                    result = super().forward(*given)
                    return result
            with torch.no_grad():
                Shapes()(torch.ones(2, 4))
                Wrapped()(torch.ones(2, 4))
        """
        told = self.held(self.run_well(program), HELD_TO_END)
        ends, around = told[:7], told[7:]
        self.assertEqual([module for module, _ in ends], ["Shapes", "first", "second", "first", "second", "second", "first"])
        for _, names in ends[1:]:
            self.assertLessEqual({"x", "both", "named"}, set(names))
        self.assertEqual([names for _, names in around], [[]] + 6 * [["given"]], "what is called within forward returns before")
        self.assertFalse({"parts", "gone"} & {name for _, names in ends for name in names}, "a list may change, and a variable be deleted")
        self.assertFalse({"looped", "around"} & {name for _, names in ends[1:5] for name in names}, "the loop goes round")
        self.assertNotIn("again", ends[5][1])
        self.assertLessEqual({"looped", "around", "again"}, set(ends[6][1]))
        self.assertNotIn("inside", ends[6][1], "the helper returns before")

    def test_what_a_list_holds_stays_where_nobody_reads_it_any_more(self) -> None:
        program = """
            class Lists(Net):
                def forward(self, x):
                    alone, table, nested, read, looped, other = [x * 1], {0: x * 2}, [[x * 3]], [x * 4], [x * 5], [x * 6]
                    self.other = other
                    for _ in range(2):
                        self.first(x)
                        looped.append(x)
                    alone.append(x)
                    y = self.second(x)
                    return y, read
            with torch.no_grad():
                Lists()(torch.ones(2, 4))
        """
        told = self.held(self.run_well(program), HELD_TO_END)
        self.assertEqual([names for module, names in told if module == "first"], 2 * [["table", "x"]], "others are read further down, or shared")
        self.assertEqual([names for module, names in told if module == "second"], [["alone", "looped", "table", "x"]])

    def test_lists_and_tables_that_a_module_was_given_are_told_as_such(self) -> None:
        program = """
            def helped(layer, list_of_helper, x):
                list_of_helper.append(x * 1)
                return layer(x)

            class Writes(Net):
                def forward(self, x, table, anew, *, rows):
                    anew, own = list(anew), []
                    table["first"], own[:], anew[:] = x * 2, [x * 3], [x * 4]
                    rows.append(x * 5)
                    return helped(self.first, own, x)
            with torch.no_grad():
                Writes()(torch.ones(2, 4), {}, [], rows=[])
        """
        done = self.run_well(program)
        self.assertEqual([names for module, names in self.held(done, HELD_IN_GIVEN) if module == "first"], [["rows", "table"]])
        self.assertLessEqual({"anew", "own", "list_of_helper"}, set(self.held(done, HELD, HELD_TO_END)[-1][1]), "made anew, or a helper's")

    def test_a_forward_that_returns_that_of_the_class_before_returns_with_it(self) -> None:
        program = """
            import functools

            def decorated(function):
                @functools.wraps(function)
                def around(self, *given):
                    result = function(self, *given)
                    return result
                return around

            class Inner(Net):
                @decorated
                def forward(self, x):
                    named = x * 1
                    return self.first(named)
            class HandsOn(Inner):
                def forward(self, x):
                    return super().forward(x * 1)
            class Computes(Inner):
                def forward(self, x):
                    return super().forward(x * 1) * 2
            class Helps(Inner):
                def helped(self, x):
                    return super().forward(x) * 2
                def forward(self, x):
                    return self.helped(x * 1)
            with torch.no_grad():
                for kind in (HandsOn, Computes, Helps):
                    kind()(torch.ones(2, 4))
        """
        told = [names for module, names in self.held(self.run_well(program), HELD_TO_END) if module == "first"]
        self.assertLessEqual({"x", "named", "given"}, set(told[0]))
        self.assertEqual([{"named"} & set(names) for names in told[1:]], [set(), set()], "something is computed behind")

    def test_nothing_lives_longer(self) -> None:
        program = """
            class Watch(Net):
                def forward(self, x):
                    y = self.first(x)
                    y = y + 1
                    gone = weakref.ref(y)
                    self.second(y)
                    y = None
                    print(gone() is None)
                    kept = locals()
                    y = torch.ones(4)
                    self.second(y)
                    print(kept["x"] is x)
                    return x
            gc.disable()
            with torch.no_grad():
                Watch()(torch.ones(2, 4))
        """
        self.assertEqual(self.run_well(program).stdout, "True\nTrue\n")


if __name__ == "__main__":
    unittest.main()
