#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What variables of functions are given, as the source of modules says it."""

import ast
import sys
import textwrap
import unittest
from typing import List

import harness
from harness import MARK_FUNCTION, needs_torch

sys.path.insert(0, harness.SHIM)

MODEL = """
    import torch
    from torch import nn

    def scale(x):
        norm = x.norm()
        return x / norm

    class Norm(nn.Module):
        def forward(self, x):
            return scale(x)
"""


class SourceTest(unittest.TestCase):
    def given(self, *lines: str, head: str = "def forward(self, x, y):") -> List[str]:
        """Of one function, whose body begins in line 1."""
        from vramscope_shim.functions import found_in

        text = head + "\n" + textwrap.indent("\n".join(lines), "    ")
        found = list(found_in(ast.parse(text)))
        self.assertLessEqual(len(found), 1)
        return [self.moved(word) for word in found[0].split(" ")[1:]] if found else ["nothing"]

    @staticmethod
    def moved(word: str) -> str:
        """A word with the lines of the body counted from 1."""
        first, dash, rest = word.partition("-")
        if not dash or not first.isdigit():
            return word
        digits = len(rest) - len(rest.lstrip("0123456789"))
        return f"{int(first) - 1}-{int(rest[:digits]) - 1}{rest[digits:]}"

    def test_a_name_gets_what_a_line_computes(self) -> None:
        self.assertEqual(self.given("z = x * y", "w: int = z + 1", "return w"), ["args", "1-1=z", "2-2=w", "3-3>w"])
        self.assertEqual(self.given("z = w = x * y"), ["args", "1-1=z", "1-1=w"])
        self.assertEqual(self.given("z = (", "    x", "    + y)"), ["args", "1-3=z"])

    def test_a_name_gets_what_a_call_returns(self) -> None:
        self.assertEqual(self.given("z = self.norm(x + y)", "z = norm(x)", "z = x.view(2)", "z = self.norm(x)[0]", "z = self.norm(x).values"), ["args", "1-1(z", "2-2(z", "3-3(z", "4-4~z", "5-5~z"])
        self.assertEqual(self.given("z = torch.relu(x)", "z = F.relu(x)", "z = torch.nn.functional.relu(x)"), ["args", "1-1=z", "2-2=z", "3-3=z"])
        self.assertEqual(self.given("z = self.split(x)[:, 1:]", "z = torch.utils.checkpoint.checkpoint(self.norm, x)"), ["args", "1-1=z", "2-2(z"])

    def test_names_get_what_an_expression_computes_for_each_of_several(self) -> None:
        self.assertEqual(self.given("z, w = [f(t) for t in (x, y)]", "z, w = (", "    t.transpose(1, 2) * 2", "    for t in [z, w]", ")"), ["args", "1-1[z,w", "2-5[z,w"])
        self.assertEqual(self.given("z, w = [t for t in (x, y)]; v = z"), ["args", "1-1~z,w", "1-1~v"])
        for one in ("[f(t) for t in (x, y) if t]", "[f(t) for t in (x, y, x)]", "[(t, 1) for t in (x, y)]", "[f(t)[0] for t in (x, y)]", "[y for _ in (x, y)]"):
            told = self.given(f"z, w = {one}")
            self.assertEqual([each for each in told if "[" in each], [], one)
            self.assertLessEqual({"1-1~z", "1-1~w"}, set(told), one)
        for same in ("x.float(), y.float()", "f(x), f(y)", "x * v, y * v", "x[:, 0], y[:, 0]"):
            self.assertEqual(self.given(f"z, w = {same}"), ["args", "1-1[z,w"], same)
        for one in ("y, x", "f(x, y), f(y, x)", "f(x, 1), f(y, 2)", "f(x), g(y)", "f(x), f(x)", "x.sin(), y.cos()", "f(x)[0], f(y)[0]", "f(x), y"):
            self.assertEqual([each for each in self.given(f"z, w = {one}") if "[" in each], [], one)
        self.assertEqual(self.given("z, w = [f(t) for t in x]", "z, self.w = [f(t) for t in (x, y)]", "z = [f(t) for t in (x, y)]"), ["args", "1-1~z", "1-1~w", "2-2!x", "2-2!y", "2-2~z", "3-3!x", "3-3!y", "3-3~z"])

    def test_another_name_for_it(self) -> None:
        self.assertEqual(self.given("z = x", "return z"), ["args", "1-1<z<x", "2-2>z"])

    def test_a_name_no_more_stands_for_what_it_did(self) -> None:
        self.assertEqual(self.given("z, (w, *_) = f(x)", "del z"), ["args", "1-1~z", "1-1~w", "1-1~_", "2-2~z"])
        self.assertEqual(self.given("z, w = f(x)", "z, w = x * 2, y", "z, self.w = f(x)"), ["args", "1-1(z,w", "2-2!y", "2-2~z", "2-2~w", "3-3~z"])
        self.assertEqual(self.given("z += x", "z += [x]"), ["args", "1-1=z", "2-2!x"], "a list that grows stays what it is")
        self.assertEqual(self.given("if (z := norm(x)) is None:", "    z = y"), ["args", "1-1~z", "2-2?<z<y"])
        self.assertEqual(self.given("with norm(x) as z:", "    w = z * 2"), ["args", "1-1~z", "2-2=w"])
        self.assertEqual(self.given("z = norm(x) if y else w"), ["args", "1-1!w", "1-1~z"])

    def test_what_stays_elsewhere(self) -> None:
        self.assertEqual(self.given("self.z = x * y", "z[0] = x * y", "kept.append(x * y)", "z = [x * y, x]", "x * y"), ["args", "1-1~.", "2-2~.", "3-3~.", "4-4!x", "4-4~z"])
        self.assertEqual(self.given("kept = kept + (z,)", "self.z = z", "hold(z)", "z.add_(x)", "w = Output(z=z)"), ["args", "1-1!z", "1-1~kept", "2-2!z", "2-2~.", "3-3!z", "3-3~.", "4-4~.", "5-5!z", "5-5~w"])

    def test_arguments_that_get_something_else(self) -> None:
        self.assertEqual(self.given("x = x * 2"), ["args=x", "1-1=x"])
        self.assertEqual(self.given("del y"), ["args=y", "1-1~y"])
        self.assertEqual(self.given("z = y", "y = z * 2", "x = y * 2"), ["args=x,y", "1-1<z<y", "2-2=y", "3-3=x"], "as they stand in the head: so they go")
        self.assertEqual(self.given("c = b = d = a = 1", head="def f(a, *b, c, **d):")[0], "args=a,c,b,d")

    def test_what_may_be_passed_over(self) -> None:
        self.assertEqual(self.given("if x is not None:", "    z = x * y", "else:", "    z = y", "with f():", "    w = x * 2"), ["args", "2-2?=z", "4-4?<z<y", "6-6=w"])
        self.assertEqual(self.given("for i in range(3):", "    z = x * i"), ["args", "1-2@", "1-1~i", "2-2?=z"])
        self.assertEqual(self.given("try:", "    z = x * y", "except ValueError:", "    z = y * 2", "finally:", "    w = x * 2"), ["args", "2-2?=z", "4-4?=z", "6-6?=w"])

    def test_what_functions_return(self) -> None:
        self.assertEqual(self.given("return x * y"), ["args", "1-1>="])
        self.assertEqual(self.given("return self.norm(x)"), ["args", "1-1>="])
        self.assertEqual(self.given("if x is None:", "    return z", "return (x, y)"), ["args", "2-2?>z", "3-3>x,y"])
        self.assertEqual(self.given("return x.to(kind), -y, f(x)"), ["args", "1-1>=,.,."], "what is no single operator is not told apart")
        self.assertEqual(self.given("return Output(loss=x)"), ["args", "1-1>."])
        self.assertEqual(self.given("return"), ["args", "1-1>."])
        self.assertEqual(self.given('return {"loss": x, "of": y, "weight": 2}'), ["args", "1-1>{x,y"])
        self.assertEqual(self.given("return [x, x]"), ["args", "1-1>{x"])
        for other in ('{"loss": x * y}', '{"loss": x, **y}', "{x: y}", "{}", "[x, *y]"):
            with self.subTest(other):
                self.assertEqual(self.given(f"return {other}"), ["args", "1-1>."])

    def test_several_statements_in_a_line(self) -> None:
        self.assertEqual(self.given("z = x * 2; w = z", "if x is None: z = y * 2"), ["args", "1-1~z", "1-1~w", "2-2?=z"])

    @unittest.skipIf(sys.version_info < (3, 10), "match is no statement")
    def test_what_a_pattern_gives(self) -> None:
        self.assertEqual(self.given("match f(x):", "    case [z, *rest]:", "        w = z * 2"), ["args", "1-1~z", "1-1~rest", "3-3?=w"])

    def test_names_of_others(self) -> None:
        self.assertEqual(self.given("global z", "z = x * y"), ["args"])

    def test_functions_that_do_not_return_as_others_do(self) -> None:
        self.assertEqual(self.given("yield x"), ["nothing"])
        self.assertEqual(self.given("await x", head="async def forward(self, x, y):"), ["nothing"])

    def test_a_function_within_another(self) -> None:
        from vramscope_shim.functions import found_in

        text = "def outer(x):\n    y = x * 2\n    def inner(z):\n        z = z * y\n        return z\n    return inner(y)\n"
        self.assertEqual(sorted(found_in(ast.parse(text))), ["1-6 args 2-2=y 6-6>=", "3-5 args=z 4-4=z 5-5>z"])


@needs_torch
class ToldTest(unittest.TestCase):
    def test_of_the_file_of_a_module_once_in_a_deep_step(self) -> None:
        done = harness.run("    model = nn.Sequential(Norm(), Norm())\n    for _ in range(3):\n        model(torch.ones(2, 4))\n", MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        told = [event.name.rsplit("/", 1)[-1] for event in done.named("mark", MARK_FUNCTION)]
        self.assertEqual(told[:2], ["program.py:5-7 args 6-6(norm 7-7>=", "program.py:10-11 args 11-11>="])

    def test_a_class_that_is_made_anew_is_not_kept(self) -> None:
        program = """
    import gc, weakref
    def make(target):
        class Loss(nn.Module):
            def forward(self, x):
                if x.dtype == torch.float16:
                    x = x.float()
                return x - target
        return Loss()
    target = torch.ones(2)
    seen = weakref.ref(target)
    make(target)(torch.ones(2))
    del target
    gc.collect()
    print(seen() is None)
"""
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stdout.strip(), done.stderr), (0, "True", ""))


if __name__ == "__main__":
    unittest.main()
