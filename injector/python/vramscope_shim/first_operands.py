# SPDX-License-Identifier: Apache-2.0
"""What comes first in each line that something was computed in, where that is x.float(), and the type of x is asked for.

    (x.float() + gate.float() * y).to(x.dtype)      x comes first
    return (normed * scale.float()).to(x.dtype)     so it does in a function that all of its file calls as f(self.norm(x.float()), x, scale)

Why: under autocast x may be in float32 and gate not. From what was computed, its first operands lead to the one that is asked for.
"""

import ast
from typing import Any, List, Tuple

from .source_text import is_written_out, parameters
from .type_tests import Given

_NO_VARIABLES = ("self", "torch", "F")
_CONVERSIONS = ("float", "half", "bfloat16", "double", "to", "type", "type_as")
_MOST_LINES = 64


def first_operand(value: Any, given: Given) -> Tuple[str, bool]:
    """A variable, and whether it is converted there; no name where none shows, as behind a conversion of something else."""
    for _ in range(_MOST_LINES):
        if isinstance(value, ast.Name):
            if value.id not in given:
                return value.id, False
            value = given[value.id]
        elif isinstance(value, ast.BinOp):
            value = value.left
        elif isinstance(value, (ast.Subscript, ast.Attribute)):
            value = value.value
        elif isinstance(value, ast.UnaryOp):
            value = value.operand
        elif isinstance(value, ast.Call):
            method = value.func if isinstance(value.func, ast.Attribute) and _root(value.func) not in _NO_VARIABLES else None
            if method is not None and method.attr in _CONVERSIONS:
                return (method.value.id, True) if isinstance(method.value, ast.Name) else ("", False)
            value = method.value if method is not None else value.args[0] if value.args else None
        else:
            break
    return "", False


def is_first(function: Any, call: Any, wanted: str, given: Given) -> bool:
    return _times_given(function, wanted) <= (wanted not in parameters(function)) and first_operand(call.func.value, given) == (wanted, True)


def come_first(source: Any, function: Any, call: Any, wanted: str, given: Given) -> bool:
    """Of a function that is no method: whether that is so of what all calls in the file give it."""
    names, (first, converted) = parameters(function), first_operand(call.func.value, given)
    if function not in source.body or converted or any(name not in names or _times_given(function, name) for name in (wanted, first)):
        return False
    callers = [each for each in ast.walk(source) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == function.name]
    return bool(callers) and all(_gives(each, names, wanted, first) for each in callers)


def _gives(caller: Any, names: List[str], wanted: str, first: str) -> bool:
    if not is_written_out(caller):
        return False
    values = {**dict(zip(names, caller.args)), **{each.arg: each.value for each in caller.keywords}}
    asked = values.get(wanted)
    return isinstance(asked, ast.Name) and first_operand(values.get(first), {}) == (asked.id, True)


def _times_given(function: Any, name: str) -> int:
    return sum(isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id == name for each in ast.walk(function))


def _root(value: Any) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""
