#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What type functions make tensors of nothing in where their callers say so."""

import ast
import os
import sys
import tempfile
import types
import unittest
from typing import Any, Dict, List

import harness

sys.path.insert(0, harness.SHIM)

LIBRARY = """
def one_hot(labels, n, dtype=float32, other=None):
    hot = torch.zeros(n, dtype=dtype)
    return hot + torch.ones(n, dtype=other)

def changed(labels, dtype=float32):
    dtype = labels.dtype
    return torch.zeros(3, dtype=dtype)
"""

GAUSSIAN = """
class Gaussian:
    def __init__(self, y):
        self.y = y
        self.mean = y.chunk(2)
        self.std = self.mean
    def sample(self):
        return one_hot(0, 3, dtype=self.y.dtype)
    def other(self):
        return one_hot(0, 3, dtype=self.mean.dtype)
"""


class Type:
    def __str__(self) -> str:
        return "torch.float32"


class PassedTypesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.library = os.path.join(folder.name, "utils.py")
        with open(self.library, "w") as file:
            file.write(LIBRARY)
        self.names: Dict[str, Any] = {"float32": Type(), "__name__": "utils"}
        exec(compile(LIBRARY, self.library, "exec"), self.names)

    def told(self, *lines: str) -> List[str]:
        from vramscope_shim.passed_types import found_in

        return list(found_in(ast.parse("\n".join(lines)), "net.py", self.names))

    def test_an_argument_that_is_left_out(self) -> None:
        for call in ("one_hot(x, 2)", "one_hot(n=2, labels=x)", "one_hot(x, 2, other=y)"):
            with self.subTest(call):
                self.assertEqual(self.told("pass", f"z = {call}"), [f"{self.library}:3<net.py:2 type"])

    def test_one_that_is_given_or_may_be(self) -> None:
        for call in ("one_hot(x, 2, y)", "one_hot(x, 2, dtype=y)", "one_hot(x, 2, torch.long)", "one_hot(*x)", "one_hot(x, 2, **y)", "one_hot()"):
            with self.subTest(call):
                self.assertEqual(self.told(f"z = {call}"), [])

    def test_a_type_that_is_passed_on(self) -> None:
        for given, asks in (("torch.float32", "type"), ("dtype=torch.half", "type"), ("x.dtype", "tensor@3"), ("dtype=y.dtype", "tensor"), ("dtype=self.x.dtype", "tensor")):
            with self.subTest(given):
                self.assertEqual(self.told("def f(x, y):", f"    z = one_hot(x, 2, {given})", "    return x[0] * y"), [f"{self.library}:3<net.py:2 {asks}"])
        self.assertEqual(self.told("one_hot(x, 2), one_hot(x, 2, y.dtype)"), [], "which of them it is the line does not say")

    def test_the_type_of_an_attribute(self) -> None:
        told = [f"{self.library}:3<net.py:7 tensor@4", f"{self.library}:3<net.py:9 tensor"]
        lines = GAUSSIAN.strip().split("\n")
        self.assertEqual(self.told(*lines), told)
        self.assertEqual(self.told(*lines, "    def change(self, y):", "        self.y = y")[0], f"{self.library}:3<net.py:7 tensor")

    def test_objects_of_classes_in_another_file(self) -> None:
        module = types.ModuleType("gaussian")
        self.addCleanup(sys.modules.pop, "gaussian")
        sys.modules["gaussian"] = module
        module.__file__ = os.path.join(os.path.dirname(self.library), "gaussian.py")
        with open(module.__file__, "w") as file:
            file.write(GAUSSIAN)
        vars(module)["one_hot"] = self.names["one_hot"]
        exec(compile(GAUSSIAN, module.__file__, "exec"), vars(module))
        self.names["Gaussian"] = vars(module)["Gaussian"]
        told = [f"{self.library}:3<{module.__file__}:8 tensor@5", f"{self.library}:3<{module.__file__}:10 tensor"]
        self.assertEqual(self.told("z = Gaussian(x)"), told)
        self.assertEqual(self.told("z = f(Gaussian)"), [], "it makes none")

    def test_another_function_of_that_name(self) -> None:
        self.assertEqual(self.told("def f(one_hot):", "    return one_hot(x, 2)"), [])
        self.assertEqual(self.told("one_hot = f()", "one_hot(x, 2)"), [])
        self.assertEqual(self.told("x.one_hot(x, 2)", "unknown(x)"), [])

    def test_an_argument_that_stands_for_something_else_then(self) -> None:
        self.assertEqual(self.told("changed(x)"), [])


if __name__ == "__main__":
    unittest.main()
