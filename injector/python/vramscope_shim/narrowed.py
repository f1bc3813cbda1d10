# SPDX-License-Identifier: Apache-2.0
"""Lines whose operator is given what the program converts before it where a parameter has 16 bits, and only there.

    if self.weight.dtype in [torch.float16, torch.bfloat16]:
        x = x.to(self.weight.dtype)
    x = x * self.weight                                         this line

Why: a run in float32 does not come by the conversion, and what is recorded of the line is that x goes into it as it is.
"""

import ast
from typing import Any, Iterator

from .given_first import line_of_operator, operators_of
from .type_forms import narrowed
from .type_tests import Given


def narrowed_lines(function: Any, given: Given) -> Iterator[int]:
    for around in ast.walk(function):
        for block in (getattr(around, "body", None), getattr(around, "orelse", None)):
            if not isinstance(block, list):
                continue
            for statement, behind in zip(block, block[1:]):
                form, first = narrowed(statement, given), next(operators_of(behind), None)
                if form is not None and first is not None and _takes(first, form.variable):
                    yield line_of_operator(first)


def _takes(operator: Any, name: str) -> bool:
    """x * self.weight, self.weight * x"""
    return isinstance(operator, ast.BinOp) and any(isinstance(each, ast.Name) and each.id == name for each in (operator.left, operator.right))
