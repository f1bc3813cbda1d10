# SPDX-License-Identifier: Apache-2.0
"""What type the program asks for where it makes tensors of nothing: one that it names, or that of another tensor; told in deep steps, as marks.

    mask = torch.ones(n, n, dtype=torch.float32)           model.py:7 type
    state = torch.zeros(n, dtype=x.dtype)                  model.py:8 tensor
    def scan(keys):
        state = torch.zeros(n, dtype=keys.dtype)           model.py:10 tensor@11     of what is given first in line 11
        first = keys[:, 0]                                 "tensor@11@15" where the same may be given first in line 15
    a, b = x.new_zeros(n), x.new_ones(n, dtype=y.dtype)    model.py:12 -,tensor      in the order in which they run; - for one that is not known

Why: in float32 both are the same, and the operator tells the type alone. What is given first in another line of the function shows whose type it is,
where that is no argument of a module (asked_arguments.py).
"""

import ast
from typing import Any, Dict, List

from .conversions import NONE, PERHAPS, TENSOR, UNCLEAR, asked_names, in_order, of_value
from .given_first import lines_given_first
from .source_text import line_of
from .type_tests import given_once

_MADE = {"zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "eye", "rand", "randn"}
_LIKE = {"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"}
_NEW = {"new_zeros", "new_ones", "new_empty", "new_full"}
MAKERS = _MADE | _LIKE | _NEW


def found_in(source: Any) -> Dict[int, str]:
    """By line. A call within a function that stands in another one is met twice, with as many names known or more."""
    calls: Dict[Any, str] = {}
    for function in ast.walk(source):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        given = given_once(function)
        for each in ast.walk(function):
            if isinstance(each, ast.Call) and makes(each) and calls.get(each, NONE) in (NONE, TENSOR):
                asks = asks_of(each, given)
                calls[each] = _with_line(function, each, given) if asks == TENSOR else asks
    lines: Dict[int, List[Any]] = {}
    for call in in_order(source):
        if call in calls:
            lines.setdefault(line_of(call), []).append(call)
    perhaps = {call for each in ast.walk(source) if isinstance(each, PERHAPS) for call in ast.walk(each)}
    told = {line: _told([calls[call] for call in there], not perhaps.isdisjoint(there)) for line, there in lines.items()}
    return {line: asks for line, asks in told.items() if asks}


def makes(call: Any) -> bool:
    """torch.zeros(...), torch.zeros_like(x), x.new_zeros(...)"""
    if not isinstance(call.func, ast.Attribute):
        return False
    of_torch = isinstance(call.func.value, ast.Name) and call.func.value.id == "torch"
    return call.func.attr in (_MADE | _LIKE if of_torch else _NEW)


def asks_of(call: Any, given: Any) -> str:
    """NONE: for no type, or one that does not show."""
    values = [each.value for each in call.keywords if each.arg == "dtype"]
    found = {asks for value in values for asks in of_value(value, given, 0)}
    return NONE if len(found) != 1 or UNCLEAR in found else found.pop()


def _told(calls: List[str], perhaps: bool) -> str:
    """Of the calls in a line, in their order. Empty: nothing."""
    kinds = set(calls)
    if kinds == {NONE} or (len(kinds) > 1 and perhaps):
        return ""
    return kinds.pop() if len(kinds) == 1 else ",".join(calls)


def _with_line(function: Any, call: Any, given: Any) -> str:
    """With other lines where what is asked is what an operator is given first: those of which one may not run."""
    names = {name for each in call.keywords if each.arg == "dtype" for name in asked_names(each.value, given, 0)}
    lines = lines_given_first(function, min(names), line_of(call)) if len(names) == 1 and "self" not in names else []
    return TENSOR + "".join(f"@{line}" for line in lines)
