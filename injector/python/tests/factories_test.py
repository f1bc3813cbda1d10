#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What type is asked for where tensors are made of nothing, as the source of modules says it."""

import ast
import os
import re
import sys
import textwrap
import unittest
from typing import List

import harness
from harness import MARK_FACTORY, TYPE_BRANCH, needs_torch

sys.path.insert(0, harness.SHIM)

MODEL = """
    import torch
    from torch import nn

    def scan(keys):
        state = torch.zeros(4, dtype=keys.dtype)
        return keys * state

    class Cell(nn.Module):
        def forward(self, x):
            y = torch.ones(4, dtype=torch.float32)
            return scan(x) + y
"""


class SourceTest(unittest.TestCase):
    def asked(self, *lines: str) -> List[str]:
        """Of the function's lines those that are told, each with what it asks for."""
        from vramscope_shim.factories import found_in

        text = "def scan(x, y, kind, n=None):\n" + textwrap.indent("\n".join(lines), "    ")
        return [f"{line - 1}: {asks}" for line, asks in sorted(found_in(ast.parse(text)).items())]

    def test_a_type_that_is_named(self) -> None:
        for call in ("torch.zeros(2, dtype=torch.float32)", "torch.zeros_like(x, dtype=torch.half)", "x.new_full((2,), 0, dtype=torch.float)", "torch.arange(n, dtype=torch.float32) / n"):
            with self.subTest(call):
                self.assertEqual(self.asked(f"return {call}"), ["1: type"])

    def test_what_asks_for_none_or_any(self) -> None:
        for call in ("torch.zeros(2)", "torch.zeros(2, dtype=kind)", "torch.zeros(2, dtype=torch.long)", "x.zeros(dtype=torch.float32)", "torch.softmax(x, dtype=torch.float32)"):
            with self.subTest(call):
                self.assertEqual(self.asked(f"return {call}"), [])

    def test_the_type_of_a_tensor_with_a_line_that_it_is_given_to_first(self) -> None:
        zeros = "s = torch.zeros(2, dtype=x.dtype)"
        for use in ("x[:, n * 2 : n * 2 + 2]", "x * y", "-x", "x.norm(n)", "torch.norm(x)", "F.relu(x, y)", "x.sum() + y", "x * x.size(0)", "[1, len(x), x + y]"):
            with self.subTest(use):
                self.assertEqual(self.asked(zeros, f"return {use}"), ["1: tensor@3"])
        for use in ("y * x", "y.T @ x", "x.to(kind)", "x.zero_()", "f(x)", "self.f(x)", "x * y if n else y * x", "n and x * y", "y[0] + x * y", "x.shape[0]", "lambda: x * y"):
            with self.subTest(use):
                self.assertEqual(self.asked(zeros, f"return {use}"), ["1: tensor"])
        self.assertEqual(self.asked(zeros, "for i in range(n):", "    z = y * 2", "    z = x * z"), ["1: tensor@5"])
        self.assertEqual(self.asked("k, d = x.dtype, x.device", "return x + torch.zeros(2, dtype=k, device=d), n"), ["2: tensor"])
        self.assertEqual(self.asked("return torch.zeros(2, dtype=self.dtype), self.f()"), ["1: tensor"])

    def test_a_variable_that_does_not_stand_for_one_tensor(self) -> None:
        self.assertEqual(self.asked("s = torch.zeros(2, dtype=x.dtype)", "x = x * y", "return x * y"), ["1: tensor"])
        self.assertEqual(self.asked("z = x + y", "s = torch.zeros(2, dtype=z.dtype)", "return z * s"), ["2: tensor@4"])
        self.assertEqual(self.asked("x = x + y", "s = torch.zeros(2, dtype=x.dtype)", "return x * s"), ["2: tensor@4"], "an argument that is given another one")

    def test_several_lines_of_which_one_may_not_run(self) -> None:
        body = ("if n:", "    z = x[0]", "if kind:", "    z = x * y", "return x + z")
        self.assertEqual(self.asked("s = torch.zeros(2, dtype=x.dtype)", *body), ["1: tensor@4@6@7"])

    def test_several_in_a_line(self) -> None:
        self.assertEqual(self.asked("return torch.zeros(2, dtype=y.dtype), torch.ones(2, dtype=y.dtype)"), ["1: tensor"])
        self.assertEqual(self.asked("return torch.zeros(2, dtype=y.dtype), torch.ones(2, dtype=torch.float32), torch.ones(2)"), ["1: tensor,type,-"])
        self.assertEqual(self.asked("return torch.zeros(2, dtype=y.dtype) if n else torch.ones(2, dtype=torch.float32)"), [], "one of them does not run")
        self.assertEqual(self.asked("return x if n else torch.ones(2, dtype=torch.float32)"), ["1: type"])


@needs_torch
class ToldTest(unittest.TestCase):
    def test_of_the_file_of_a_module_in_deep_steps(self) -> None:
        done = harness.run("    Cell()(torch.ones(2, 4))\n", MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        told = [event.name.rsplit("/", 1)[-1] for event in done.named("mark", MARK_FACTORY)]
        self.assertEqual(told, ["program.py:6 tensor@7", "program.py:11 type"])
        self.assertEqual([], harness.run("    Cell()(torch.ones(2, 4))\n", MODEL).named("mark", MARK_FACTORY))

    def test_of_functions_that_call_the_model(self) -> None:
        program = """
            def blank(n, dtype=torch.float32):
                return torch.zeros(n, dtype=dtype)

            def loss_of(model, made):
                def loss(x):
                    mask = torch.ones(4, dtype=torch.float32)
                    return (model(x) * mask + made(4)).sum()
                return loss

            loss_of(nn.Linear(4, 4), blank)(torch.ones(2, 4))
        """
        done = harness.run(program, "import torch\nfrom torch import nn\n", environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        told = [event.name.replace(os.path.dirname(event.name.split("<")[0]) + "/", "") for event in done.named("mark", MARK_FACTORY)]
        self.assertEqual(told, ["program.py:9 type", "program.py:5<program.py:10 type"], "made is the function that it is given")

    def test_whose_type_is_asked_where_the_model_returned_that(self) -> None:
        program = """
            def blank(n, dtype=torch.float32):
                return torch.zeros(n, dtype=dtype)

            class Two(nn.Module):
                def forward(self, x):
                    return x * 1, torch.cat((x, x))

            def loss(model, x):
                first, second = model(x)
                mask = torch.ones(4, dtype=first.dtype)
                again = first
                again = first * 2
                found = (x > 0).to(second.dtype)
                return (first * mask).sum() + (second * blank(4, second.dtype)).sum() + blank(1, again.dtype) + found.sum()

            loss(Two(), torch.ones(2, 4))
        """
        done = harness.run(program, "import torch\nfrom torch import nn\n", environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        told = {re.sub("[^ <]*/", "", name): [size for _, size, _ in labels] for name, labels in done.labels(TYPE_BRANCH).items()}
        self.assertEqual(told, {"asked around program.py:13": [32], "asked around program.py:16": [64], "asked around program.py:5<program.py:17": [64]})


if __name__ == "__main__":
    unittest.main()
