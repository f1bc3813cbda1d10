#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model does with another type alone: told where it is passed in float32, and only where nothing but the type kept it from running."""

import re
import unittest
from typing import Dict, List, Tuple

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
        self.assertEqual({}, done.failures())
        found = []
        for event in done.events:
            if event.what in ("begin", "end") and event.number[0] == MODULE:
                found.append("<" + event.name if event.what == "begin" else event.name + ">")
            elif event.what == "label" and event.number[0] == TYPE_BRANCH:
                found.append(f"{re.sub(r'/.*/', '', event.name)} {event.number[3]}")
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
            asked = [] if told else ["asked program.py:15 64"]  # it may have run
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
                self.assertEqual(self.told(program), [*asked, "<Converting", "<first", "first>", *told, "<second", "second>", "Converting>"])

    def in_forward(self, bodies: Dict[str, Tuple[str, List[str]]]) -> None:
        """Of each body the labels, without the file's name: between two calls of modules, in one program."""
        program = "".join(
            f"""
    class Body{i}(Net):
        def forward(self, x, other=None):
            x = self.first(x)
            {body}
            return self.second(x)

    Body{i}()(torch.ones(2, 4))
"""
            for i, (body, _) in enumerate(bodies.values())
        )
        found: Dict[str, List[str]] = {}
        for told in self.told(program):
            if told.startswith("<Body"):
                inside = found.setdefault(told[1:], [])
            elif told[0] != "<" and told[-1] != ">":
                inside.append(re.sub(r": Body\d+.forward, program.py:\d+", "", told))
        self.assertEqual({what: told for what, (_, told) in bodies.items()}, dict(zip(bodies, found.values())))

    def test_softmax_in_float32_is_told_of_its_result_and_views_of_it(self) -> None:
        def body(low: str, single: str = "torch.softmax(x, dim=-1)", behind: str = "x") -> str:
            lines = ("if x.dtype == torch.float16:", f"    x = {low}", "else:", f"    x = {single}", f"y = {behind}", "x = y.view(2, 4)")
            return "\n            ".join(lines)

        low = "softmax(x, dim=-1, dtype=torch.float32).to(torch.float16)"
        named = low.replace("torch.float16", "x.dtype")
        self.in_forward(
            {
                "its result": (body("torch." + low), ["softmax 32"]),
                "a view": (body("torch." + low, behind="x.view(8)"), ["softmax 32"]),
                "by another name": (body("nn.functional." + named, "nn.functional.softmax(x, dim=-1)"), ["softmax 32"]),
                "of the tensor": (body("x.softmax(-1, dtype=torch.float32).half()", "x.softmax(-1)"), ["softmax 32"]),
                "of another dimension": (body("torch." + low, "torch.softmax(x, dim=0)"), ["other in float16 32"]),
                "what follows from it": (body("torch." + low, behind="x * 2"), ["perhaps in float16 32"]),
                "not in float32": (body("torch.softmax(x, dim=-1).to(torch.float16)"), ["other in float16 32"]),
            }
        )

    def test_what_leaves_a_choice_is_told_as_that(self) -> None:
        clamp = "if x.dtype == torch.float16:\n                x = torch.clamp(x, -1, 1)"
        perhaps, other = ["perhaps in float16 32"], ["other in float16 32"]
        self.in_forward(
            {
                "asks whether values are finite too": ("if x.dtype == torch.float16 and x.isinf().any():\n                x = torch.clamp(x, -1, 1)", []),
                "another tensor by then": (f"{clamp}\n            x = x * 2", perhaps),
                "another tensor, perhaps": (f"{clamp}\n            if self.wide:\n                x = x * 2", perhaps),
                "in a loop": ("for _ in range(2):\n                if x.dtype == torch.float16:\n                    x = torch.clamp(x, -1, 1)", perhaps),
                "another tensor's type": ("if x.dtype == torch.float16:\n                y = torch.clamp(x, -1, 1)", other),
                "something else": ("if x.dtype == torch.float16:\n                x = torch.relu(x)", other),
                "otherwise something": (f"{clamp}\n            else:\n                x = torch.relu(x)", other),
            }
        )

    def test_of_what_is_not_known_it_is_told_where_it_is_and_for_which_type(self) -> None:
        work = "\n                x = torch.relu(x)"
        both = ["other in float16 32", "other in bfloat16 32"]
        self.in_forward(
            {
                "one of two": (f"if x.dtype in (torch.float16, torch.bfloat16):{work}", both),
                "anything but float32": (f"if not x.dtype == torch.float32:{work}", both),
                "what is run in float32 alone": (f"if x.dtype is torch.float32:{work}", both),
                "a variable": (f"kind = x.dtype\n            if kind == torch.bfloat16:{work}", ["other in bfloat16 32"]),
                "a variable that is a test": (f"low = x.dtype == torch.half\n            if low:{work}", ["other in float16 32"]),
                "in one line": ("x = torch.relu(x) if x.dtype == torch.float16 else x", ["other in float16 32"]),
                "autocast": (f"if torch.is_autocast_enabled():{work}", ["other under autocast 32"]),
                "a parameter's type": (f"if self.second.weight.dtype == torch.float16:{work}", ["other in float16 64"]),
                "an integer's type": (f"n = x.long()\n            if n.dtype == torch.float16:{work}", []),
                "no type of these": (f"if x.dtype == torch.float64 or x.dtype == torch.long:{work}", []),
                "not passed": (f"if self.wide:\n                if x.dtype == torch.float16:\n                    x = torch.relu(x)", []),
                "not passed, as an argument says": (f"if other is not None:\n                if x.dtype == torch.float16:\n                    x = x * other", []),
                "false whatever the type is": (f"if x.dtype == torch.float16 and self.wide:{work}", []),
                "perhaps": (f"if x.dtype == torch.float16 and len(self.first.weight) > 1:{work}", ["perhaps in float16 32"]),
                "in an arm that was not seen": ("if len(self.wide or ''):\n                x = self.third(x)\n                if x.dtype == torch.float16:\n                    x = torch.relu(x)\n            else:\n                x = self.third(x)", []),
                "says": ("if x.dtype == torch.float16:\n                print('no')\n                raise ValueError(x)", []),
                "finds a number": ("low = -1e30\n            if x.dtype == torch.float16:\n                low = torch.finfo(x.dtype).min / 2", []),
                "other numbers": ("if x.dtype == torch.float16:\n                x = x - 65500 * x\n            else:\n                x = x - 1e30 * x", []),
                "a switch": ("way = 'slow'\n            if x.dtype == torch.float16:\n                way = 'fast'", ["perhaps in float16 32"]),
                "clipped": ("if x.dtype == torch.float16:\n                x = x.clip(-1, 1)", ["clamp 32"]),
                "clamped in both": ("if x.dtype in (torch.float16, torch.bfloat16):\n                x = x.clamp(-1, 1)", ["clamp 32", "clamp in bfloat16 32"]),
                "a norm's": ("if self.second.weight.dtype in [torch.float16, torch.bfloat16]:\n                x = x.to(self.second.weight.dtype)", []),
            }
        )

    def test_a_forward_that_calls_no_module_is_told_with_what_it_returns(self) -> None:
        self.assertEqual(
            self.told("""
    class Scale(nn.Module):
        def forward(self, x):
            if x.dtype == torch.float16:
                return x.float() * 2
            return x * 2

    class Late(nn.Module):
        def forward(self, x):
            if x.numel() == 0:
                return x
            if x.dtype == torch.float16:
                x = x.float()
            return x * 2

    Scale()(torch.ones(2, 4)), Late()(torch.ones(2, 4))
"""),
            ["<Scale", "other in float16: Scale.forward, program.py:13 32", "Scale>", "<Late", "perhaps in float16: Late.forward, program.py:21 32", "Late>"],
        )

    def test_an_argument_whose_type_is_asked_for(self) -> None:
        self.assertEqual(
            self.told("""
    class Turned(nn.Module):
        def forward(self, x, places, scale=None):
            turned = places * 2
            kind = x.dtype
            turned = turned.to(dtype=kind)
            places = places.to(x.dtype)
            found = x.argmax(-1).to(x.dtype)
            return turned, (x * 2).to(x.dtype), turned.to(places.dtype)

    class Renamed(nn.Module):
        def forward(self, x, places):
            x = x * 2
            return places.to(x.dtype)

    class Two(nn.Module):
        def forward(self, x, places, other):
            inner = lambda other: places.to(other.dtype)
            return x.relu().to(places.dtype), x.sin().to(other.dtype)

    given = torch.ones(2, 4), torch.ones(3, 4)
    Turned()(*given), Turned()(given[0].double(), given[1]), Renamed()(*given), Two()(*given, given[0])
"""),
            # What stands for another tensor by then is not told, nor what was not recorded in float32.
            ["asked program.py:15 32", "asked program.py:16 32", "asked program.py:17 32", "<Turned", "Turned>", "<Turned", "Turned>", "<Renamed", "Renamed>", "<Two", "Two>"],
        )

    def test_a_parameter_whose_type_is_asked_for(self) -> None:
        self.assertEqual(
            self.told("""
    class Embedded(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.ModuleDict({"proj": nn.Linear(4, 4)})
            self.other, self.places, self.low = nn.Parameter(torch.ones(4)), torch.ones(4), nn.Linear(2, 2).half()

        def forward(self, x, y):
            kind = self.inner.proj.weight.dtype
            x = x.to(dtype=kind)
            y = y.to(self.other.dtype)
            y = y.to(self.places.dtype)
            y = y.to(self.low.weight.dtype)
            y = y.to(x.other.dtype) if y is None else y.to(self.absent.weight.dtype) if x is None else y
            return x.to(self.other.dtype), x.to(y.dtype)

    Embedded()(torch.ones(2, 4), torch.ones(2, 4))
"""),
            # Not of what is no parameter, or was not recorded in float32, nor where one of two may be asked.
            ["asked program.py:19 64", "asked program.py:20 16", "<Embedded", "Embedded>"],
        )

    def test_what_a_helper_does_under_autocast(self) -> None:
        self.assertEqual(
            self.told("""
    def low(*given):
        if not torch.is_autocast_enabled():
            return given
        else:
            return tuple(each.half() for each in given)

    def context(enabled):
        return torch.no_grad() if torch.is_autocast_enabled() else torch.enable_grad()

    def unused(x):
        return x.half() if torch.is_autocast_enabled() else x

    class Norm(nn.Module):
        def forward(self, x):
            given = low(
                x, x)
            with context(False):
                return given[0] * 2

    class Rare(Net):
        def forward(self, x):
            if self.wide:
                x = unused(x)
            return self.first(x)

    Norm()(torch.ones(2, 4)), Rare()(torch.ones(2, 4)), Rare(wide=True)(torch.ones(2, 4))
"""),
            ["<Norm", "other under autocast: Norm.forward, program.py:25 32", "Norm>", "<Rare", "<first", "first>", "Rare>",
             "<Rare", "other under autocast: Rare.forward, program.py:33 32", "<first", "first>", "Rare>"],
        )


if __name__ == "__main__":
    unittest.main()
