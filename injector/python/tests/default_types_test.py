#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What type functions make tensors of nothing in that are called without the argument which names it."""

import ast
import os
import sys
import tempfile
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


class Type:
    def __str__(self) -> str:
        return "torch.float32"


class DefaultTypesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.library = os.path.join(folder.name, "utils.py")
        with open(self.library, "w") as file:
            file.write(LIBRARY)
        self.names: Dict[str, Any] = {"float32": Type(), "__name__": "utils"}
        exec(compile(LIBRARY, self.library, "exec"), self.names)

    def told(self, *lines: str) -> List[str]:
        from vramscope_shim.default_types import found_in

        return list(found_in(ast.parse("\n".join(lines)), "net.py", self.names))

    def test_an_argument_that_is_left_out(self) -> None:
        for call in ("one_hot(x, 2)", "one_hot(n=2, labels=x)", "one_hot(x, 2, other=y)"):
            with self.subTest(call):
                self.assertEqual(self.told("pass", f"z = {call}"), [f"{self.library}:3<net.py:2 type"])

    def test_one_that_is_given_or_may_be(self) -> None:
        for call in ("one_hot(x, 2, y)", "one_hot(x, 2, dtype=y)", "one_hot(*x)", "one_hot(x, 2, **y)", "one_hot()"):
            with self.subTest(call):
                self.assertEqual(self.told(f"z = {call}"), [])

    def test_another_function_of_that_name(self) -> None:
        self.assertEqual(self.told("def f(one_hot):", "    return one_hot(x, 2)"), [])
        self.assertEqual(self.told("one_hot = f()", "one_hot(x, 2)"), [])
        self.assertEqual(self.told("x.one_hot(x, 2)", "unknown(x)"), [])

    def test_an_argument_that_stands_for_something_else_then(self) -> None:
        self.assertEqual(self.told("changed(x)"), [])


if __name__ == "__main__":
    unittest.main()
