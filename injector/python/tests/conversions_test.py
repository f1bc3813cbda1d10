#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What calls of Tensor.to() ask for, as the source of modules says it."""

import ast
import sys
import textwrap
import unittest
from typing import Dict, List

import harness
from harness import MARK_CONVERSION, needs_torch

sys.path.insert(0, harness.SHIM)

MODEL = """
    import torch
    from torch import nn

    def wide(x):
        return x.to(torch.float32)

    class Norm(nn.Module):
        def forward(self, x):
            kind = x.dtype
            y = wide(x)
            return y.to(kind)
"""


class SourceTest(unittest.TestCase):
    def asked(self, *lines: str) -> List[str]:
        """Of the function's lines those that are told, each with what it asks for."""
        from vramscope_shim.conversions import found_in

        text = "def forward(self, x, y, kind, wide=None):\n" + textwrap.indent("\n".join(lines), "    ")
        found: Dict[int, str] = found_in(ast.parse(text))
        return [f"{line - 1}: {asks}" for line, asks in sorted(found.items())]

    def test_a_type_that_is_named(self) -> None:
        for call in ("x.to(torch.float32)", "x.float()", "x.to(dtype=torch.bfloat16)", "x.to(x.device, torch.half)", "x.type(torch.float)", "(x + y).mean(-1).float()"):
            with self.subTest(call):
                self.assertEqual(self.asked(f"return {call}"), ["1: type"])

    def test_the_type_of_another_tensor(self) -> None:
        for call in ("x.to(y.dtype)", "x.to(self.weight.dtype)", "x.to(dtype=self.dtype)", "x.to(other=y)", "x.to(y.device, y.dtype)", "x.type(y.dtype)"):
            with self.subTest(call):
                self.assertEqual(self.asked(f"return {call}"), ["1: tensor"])

    def test_another_tensor_itself(self) -> None:
        from vramscope_shim.conversions import found_in
        from vramscope_shim.source_text import parse

        for beside, told in (("y.shape", {2: "tensor"}), ("x.to(y.device)", {2: "tensor"}), ("y.type", {}), ("y", {})):
            with self.subTest(beside):
                self.assertEqual(found_in(parse(f"def forward(self, x, y):\n    z = x.to(y)\n    return z, {beside}")), told, "y may be a device")

    def test_another_tensor_that_it_is_added_to(self) -> None:
        from vramscope_shim.conversions import found_in
        from vramscope_shim.source_text import parse

        for value, told in (("y + x.to(y)", {2: "tensor"}), ("x.to(y) * y", {2: "tensor"}), ("z + x.to(y)", {}), ("y + f(x.to(y))", {})):
            with self.subTest(value):
                self.assertEqual(found_in(parse(f"def forward(self, x, y, z):\n    return {value}")), told, "there is no sum of a device")

    def test_the_type_that_it_has(self) -> None:
        self.assertEqual(self.asked("return y + torch.as_tensor(x)"), ["1: own"])
        self.assertEqual(self.asked("return y.float() + torch.as_tensor(x, device=y.device)"), ["1: type,own"])
        self.assertEqual(self.asked("return torch.as_tensor(x, dtype=torch.float32)"), ["1: type"])
        self.assertEqual(self.asked("x = torch.as_tensor(x, dtype=y.dtype)"), ["1: tensor again"])
        self.assertEqual(self.asked("z = x * y", "return torch.as_tensor(z, x.dtype)"), ["2: origin"])
        self.assertEqual(self.asked("return torch.as_tensor(x, dtype=kind)"), [], "an argument may be anything")
        self.assertEqual(self.asked("return y.as_tensor(x)"), [], "a function of another module")

    def test_the_type_of_floats_that_nothing_is_said_of(self) -> None:
        self.assertEqual(self.asked("return x.to(torch.get_default_dtype())"), ["1: type"])

    def test_what_a_name_was_given(self) -> None:
        self.assertEqual(self.asked("before = x.dtype", "low = before", "return y.to(low)"), ["3: tensor"])
        self.assertEqual(self.asked("single = torch.float32", "return x.to(single)"), ["2: type"])
        self.assertEqual(self.asked("before, other = x.dtype, y.dtype", "return x.sin().to(before), x.to(other)"), ["2: origin,tensor"])
        self.assertEqual(self.asked("before, *other = x.dtype, y.dtype, y", "return y.to(before)"), [], "not told one by one")
        self.assertEqual(self.asked("i, j, before = *y.shape[-2:], x.dtype", "return y.to(before)"), ["2: tensor"], "the last of them")
        self.assertEqual(self.asked("before, *i, j = x.dtype, *y.shape", "return y.to(before)"), [], "not told one by one")
        self.assertEqual(self.asked("before, i, j = torch.half, *y.shape", "return y.to(before), y.to(j)"), ["2: type,-"], "j may be anything")
        self.assertEqual(self.asked("before, i, j = torch.half, *y.shape", "return y.to(before)"), ["2: type"])
        self.assertEqual(self.asked("return x.to(kind)"), [], "an argument may be anything")
        self.assertEqual(self.asked("before = x.dtype", "before = torch.float32", "return x.to(before)"), [], "given twice")
        self.assertEqual(self.asked("before = y", "y = before", "return x.to(before)"), [], "in a circle")
        self.assertEqual(self.asked("def inner(z):", "    return z.to(before)", "before = x.dtype", "return inner(x)"), ["2: tensor"])

    def test_the_type_of_what_it_was_computed_from(self) -> None:
        self.assertEqual(self.asked("before = x.dtype", "wide = x.float()", "wide = wide * y", "return wide.to(before)"), ["2: type", "4: origin"])
        self.assertEqual(self.asked("z = torch.matmul(x, y)", "z = softmax(z, dtype=torch.float32).to(x.dtype)"), ["2: origin"])
        self.assertEqual(self.asked("z = softmax(torch.matmul(x, y))", "z = z.to(wide.dtype)", "z = z @ wide"), ["2: tensor again"])
        self.assertEqual(self.asked("z = y * 2", "y = x", "return z.to(x.dtype)"), ["3: origin"], "lines are not told apart: y was another")
        self.assertEqual(self.asked("z = y * x.new_zeros(x.size(0))", "return z.to(x.dtype)"), ["2: tensor@2"], "of x nothing but facts, which line 2 asks first")
        self.assertEqual(self.asked("z = y * torch.ones_like(x)", "return z.to(x.dtype)"), ["2: tensor@2"])

    def test_where_an_operator_is_given_what_it_was_computed_from(self) -> None:
        masked = ("before = x.dtype", "if wide:", "    x = x.masked_fill(~y, 0)", "if y:", "    x = x + 1", "return softmax(x).to(before)")
        self.assertEqual(self.asked(*masked), ["6: origin@4@6"], "~y is of no floats")
        self.assertEqual(self.asked("before = x.dtype", "x = f(x)", "x = x + 1", "return x.to(before)"), ["4: origin"], "it is another one by then")
        self.assertEqual(self.asked("before = x.dtype", "y = y * 2 + x.sin()", "return (x + y).to(before)"), ["3: origin"], "what runs first in that line is given something else")

    def test_where_an_operator_is_given_what_it_has_the_type_of(self) -> None:
        self.assertEqual(self.asked("y = f(y)", "y = g(y)", "z = y.sum() / x.to(y.dtype)"), ["3: tensor@4"])
        self.assertEqual(self.asked("y = f(y)", "z = y * 2", "if wide:", "    return z * x.to(y.dtype)"), ["4: tensor"], "it may be another one there, as far as is looked")
        self.assertEqual(self.asked("z = y * 2", "w = z * y", "return x.to(y.dtype)"), ["3: tensor@2"], "line 2 is given z first")
        self.assertEqual(self.asked("z = y * 2", "if wide:", "    y = f(y)", "return x.to(y.dtype)"), ["4: tensor"], "it was another one, perhaps")
        self.assertEqual(self.asked("for y in wide:", "    z = y.sum() / x.to(y.dtype)"), ["2: tensor"], "another one each time")
        self.assertEqual(self.asked("z = x.to(y.dtype) / y.sum()"), ["1: tensor"], "what is behind it may be of another type")
        self.assertEqual(self.asked("z = self.mean(y)", "return x.to(self.dtype)"), ["2: tensor"], "a module is no tensor")
        self.assertEqual(self.asked("class Inner:", "    def forward(self, z, w):", "        return z.sum() / w.to(z.dtype)"), ["3: tensor@4"])

    def test_what_comes_first_in_what_was_computed(self) -> None:
        self.assertEqual(self.asked("return (x.float() + y.float() * 2).to(x.dtype)"), ["1: type,type,first"])
        self.assertEqual(self.asked("return (y.float() + x.float() * 2).to(x.dtype)"), ["1: type,type,origin"])
        self.assertEqual(self.asked("z = x.float()", "return self.norm(z).mul(y)[0].to(x.dtype)"), ["1: type", "2: first"])
        self.assertEqual(self.asked("z = x * y", "return self.norm(z.float()).to(x.dtype)"), ["2: type,origin"], "z may be of another type")
        self.assertEqual(self.asked("x = x * y", "return (x.float() + y).to(x.dtype)"), ["2: type,origin"], "one of two that it was given")

    def test_what_comes_first_in_what_all_callers_give_a_function(self) -> None:
        from vramscope_shim.conversions import found_in

        scale = """
            def scale(normed, x, by):
                return (normed * by.float()).to(x.dtype)

            def forward(self, x, y):
                x = scale(self.norm(x.float()), x, y)
                return scale(CALL)
        """
        for call, asks in (("torch.exp(y.float()), y, by=x", "first"), ("x, y, x", "tensor"), ("y.float() * 2, y, x", "first"), ("y, y, x", "tensor"), ("*y", "tensor"), ("x + y, x=x.sin(), by=y", "tensor")):
            with self.subTest(call):
                found = found_in(ast.parse(textwrap.dedent(scale.replace("CALL", call))))
                self.assertEqual(found[3], f"type,{asks}")
        self.assertEqual(found_in(ast.parse(textwrap.dedent(scale).split("def forward")[0]))[3], "type,tensor", "nobody calls it here")

    def test_one_of_two(self) -> None:
        self.assertEqual(self.asked("return x.to(y.dtype if wide else x.dtype)"), ["1: tensor"])
        self.assertEqual(self.asked("return x.to(torch.float32 if wide else x.dtype)"), [])
        self.assertEqual(self.asked("return x.to(torch.float32 if wide else kind)"), [])

    def test_several_in_a_line(self) -> None:
        self.assertEqual(self.asked("return x.to(y.dtype), y.to(x.dtype)"), ["1: tensor"])
        self.assertEqual(self.asked("return x.float(), y.to(x.dtype)"), ["1: type,tensor"])
        self.assertEqual(self.asked("return x.float(), y.to(kind)"), ["1: type,-"])
        self.assertEqual(self.asked("return x.float().to('cuda'), y.long()"), ["1: type,-,-"])
        self.assertEqual(self.asked("z = x * y", "return softmax(z.float(), dim=-1).to(x.dtype)"), ["2: type,origin"], "what it is called on runs first")
        self.assertEqual(self.asked("return x.to(y.dtype) if wide else x.float()"), [], "one of them may not run")
        self.assertEqual(self.asked("return [each.float().to(y.dtype) for each in x]"), [])
        self.assertEqual(self.asked("return x.to(y.dtype) if wide else y.to(x.dtype)"), ["1: tensor"])
        self.assertEqual(self.asked("return x.float(), y.type()"), ["1: type"])

    def test_a_variable_that_gets_the_copy_of_what_it_held(self) -> None:
        self.assertEqual(self.asked("x = x.to(y.dtype)", "y = y.float()", "z = x.to(y.dtype)"), ["1: tensor again", "2: type again", "3: tensor"])
        self.assertEqual(self.asked("x = x.to(y.dtype) + y.to(x.dtype)", "x, y = x.to(y.dtype), y"), ["1: tensor", "2: origin"])
        self.assertEqual(self.asked("x = x.to(y.dtype); y = x.to(y.dtype)"), [], "one of two that differ")

    def test_what_is_converted_where_a_parameter_has_16_bits(self) -> None:
        test = "if self.weight.dtype in [torch.float16, torch.bfloat16]:"
        for use in ("x = x * self.weight", "return self.weight * x", "x = (x * self.weight).float()"):
            with self.subTest(use):
                told = self.asked(test, "    x = x.to(self.weight.dtype)", use)
                self.assertEqual([each for each in told if not each.startswith("2")], ["3: narrowed" if "float" not in use else "3: type"])
        for *lines, use in ((test, "    x = x.to(self.weight.dtype)", "x = y * self.weight"), (test, "    x = x.to(y.dtype)", "x = x * self.weight"),
                            ("if self.training:", "    x = x.to(self.weight.dtype)", "x = x * self.weight"), (test, "    x = x.to(self.weight.dtype)", "return self.norm(x)")):
            with self.subTest(lines=lines, use=use):
                self.assertNotIn("3: narrowed", self.asked(*lines, use))

    def test_what_is_no_conversion(self) -> None:
        for call in ("x.to('cuda')", "x.to(device=y.device)", "x.to(y)", "float(x)", "x.type()", "x.item()"):
            with self.subTest(call):
                self.assertEqual(self.asked(f"return {call}"), [])

    @unittest.skipIf(sys.version_info < (3, 10), "frames then stand in the line where the expression begins")
    def test_over_several_lines_it_is_that_of_the_method(self) -> None:
        self.assertEqual(self.asked("return (x", "    .pow(2)", "    .to(", "        torch.float32))"), ["3: type"])


@needs_torch
class ToldTest(unittest.TestCase):
    def told(self, program: str, deep: str = "1-99") -> List[str]:
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": deep})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, done.failures())
        return [event.name for event in done.named("mark", MARK_CONVERSION)]

    def test_of_the_file_of_a_module_once_in_a_deep_step(self) -> None:
        told = self.told("    model = nn.Sequential(Norm(), nn.Linear(4, 4), Norm())\n    for _ in range(3):\n        model(torch.ones(2, 4))\n")
        self.assertEqual([each.rsplit("/", 1)[-1] for each in told], ["program.py:6 type", "program.py:12 origin"])

    def test_also_of_one_that_puts_a_method_in_the_place_of_a_library_s(self) -> None:
        library = "from torch import nn\\nclass Loss(nn.Module):\\n    def forward(self, x):\\n        return self.of(x.float())"
        told = self.told(
            f"    import pathlib, sys, tempfile\n    folder = tempfile.mkdtemp()\n    pathlib.Path(folder, 'library.py').write_text('{library}')\n"
            "    sys.path.insert(0, folder)\n    import library\n"
            "    class Own(library.Loss):\n        of = staticmethod(wide)\n        def __call__(self, x):\n            return super().__call__(x)\n"
            "    Own()(torch.ones(2))\n"
        )
        self.assertEqual([each.rsplit("/", 1)[-1] for each in told], ["program.py:6 type", "program.py:12 origin", "library.py:4 type"])

    def test_also_of_that_of_a_function_which_a_module_calls(self) -> None:
        library = "def turned(x, y):\\n    z = x * y\\n    return z.to(x.dtype)"
        told = self.told(
            f"    import pathlib, sys, tempfile\n    folder = tempfile.mkdtemp()\n    pathlib.Path(folder, 'library.py').write_text('{library}')\n"
            "    sys.path.insert(0, folder)\n    from library import turned\n"
            "    class Turn(nn.Module):\n        def forward(self, x):\n            return turned(x, x)\n"
            "    Turn()(torch.ones(2))\n"
        )
        self.assertEqual([each.rsplit("/", 1)[-1] for each in told], ["program.py:6 type", "program.py:12 origin", "library.py:3 origin"])

    def test_also_of_functions_that_call_the_model_and_of_those_that_they_name(self) -> None:
        told = self.told(
            "    import pathlib, sys, tempfile\n    folder = tempfile.mkdtemp()\n"
            "    pathlib.Path(folder, 'steps.py').write_text('def apart(y, z):\\n    return z.to(y.dtype) - y\\ndef train(model, x):\\n    return apart(model(x), x.float())')\n"
            "    sys.path.insert(0, folder)\n    from steps import train\n"
            "    train(nn.Linear(4, 4), torch.ones(2, 4))\n"
        )
        self.assertEqual([each.rsplit("/", 1)[-1] for each in told], ["steps.py:4 type", "steps.py:2 tensor"])

    def test_nothing_without_deep_steps(self) -> None:
        self.assertEqual(self.told("    Norm()(torch.ones(2, 4))\n", deep="7-8"), [])

    def test_a_module_without_source(self) -> None:
        told = self.told("    scope = {'nn': nn}\n    exec(\"class Bare(nn.Module):\\n    def forward(self, x):\\n        return x.float()\", scope)\n    scope['Bare']()(torch.ones(2))\n")
        self.assertEqual(told, [])

    def test_what_the_source_would_be_warned_of_is_not_said_again(self) -> None:
        done = harness.run("    Norm()(torch.ones(2, 4))\n    print('\\d')\n", MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        alone = harness.run("    Norm()(torch.ones(2, 4))\n    print('\\d')\n", MODEL, recorded=False)
        self.assertEqual((done.exit_code, done.stderr.count("Warning")), (0, alone.stderr.count("Warning")))


if __name__ == "__main__":
    unittest.main()
