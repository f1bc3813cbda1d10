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
from typing import Any, Dict, Iterator, List, Set

from .conversions import NONE, PERHAPS, TENSOR, UNCLEAR, asked_names, in_order, line_of, of_value
from .source_text import SCOPES, parameters, within
from .type_tests import given_once

_MADE = {"zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "eye", "rand", "randn"}
_LIKE = {"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"}
_NEW = {"new_zeros", "new_ones", "new_empty", "new_full"}
_NO_TENSORS = {"size", "dim", "ndimension", "numel", "stride", "is_contiguous", "data_ptr", "get_device", "tolist", "item", "element_size"}
_VIEWS = {"T", "mT", "H", "mH", "real", "imag"}  # y.T
_NO_OPERATORS = {"len", "int", "float", "bool", "range", "isinstance", "getattr", "hasattr", "enumerate"}
_MOST_LINES = 3
_SCOPES = (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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
    lines = _lines_given_first(function, min(names), line_of(call)) if len(names) == 1 and "self" not in names else []
    return TENSOR + "".join(f"@{line}" for line in lines)


def _lines_given_first(function: Any, name: str, but: int) -> List[int]:
    """Of a variable that stands for one tensor throughout, or from the line on that gives it another one: behind that, as the call in line `but` is."""
    stored = [each for each in within(function, _SCOPES) if isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load)]
    if len(stored) > 1 or not (stored or name in parameters(function)) or any(but <= one.lineno for one in stored):
        return []
    begun: Set[int] = {but}
    found: List[int] = []
    for each in sorted((each for each in within(function, _SCOPES) if isinstance(each, ast.stmt)), key=lambda one: (one.lineno, one.col_offset)):
        for operator in _operators(each):
            line = _line(operator)
            if line not in begun and all(line > one.lineno for one in stored) and _is_given(operator, name):
                found.append(line)
            begun.add(line)
    return found[:_MOST_LINES]


def _operators(statement: Any) -> Iterator[Any]:
    """What may run one, as it runs; not what stands in statements within, or in functions."""
    if isinstance(statement, (ast.IfExp, ast.BoolOp)):
        yield statement
        return
    for each in ast.iter_child_nodes(statement):
        if not isinstance(each, (ast.stmt, ast.Slice, *_SCOPES)):  # x[i * n : i * n + n]: of numbers
            yield from _operators(each)
    if isinstance(statement, ast.Call):
        if not _runs_none(statement):
            yield statement
    elif isinstance(statement, (ast.BinOp, ast.AugAssign, ast.Compare)) or (isinstance(statement, ast.UnaryOp) and not isinstance(statement.op, ast.Not)):
        if not _is_number(statement):
            yield statement
    elif isinstance(statement, ast.Subscript) and _name_of(statement.value) != "shape":
        yield statement
    elif _name_of(statement) in _VIEWS:
        yield statement


def _runs_none(call: Any) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in _NO_OPERATORS
    return _name_of(call.func) in _NO_TENSORS or _name_of(call.func).startswith("is_")


def _is_number(value: Any) -> bool:
    """Of numbers and sizes, as far as that shows."""
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Subscript) and _name_of(value.value) == "shape")


def _is_given(operator: Any, name: str) -> bool:
    """x[...], x * y, -x, x.norm(), torch.norm(x), F.norm(x, y)"""
    if isinstance(operator, ast.Call):
        if not isinstance(operator.func, ast.Attribute):
            return False
        of = operator.func.value
        library = isinstance(of, ast.Name) and of.id in ("torch", "F")
        first = (operator.args[0] if operator.args else None) if library else of
        changes = operator.func.attr.endswith("_") or operator.func.attr in ("to", "type", "float", "half", "bfloat16", "double")
        return isinstance(first, ast.Name) and first.id == name and not changes
    of = getattr(operator, "left", None) or getattr(operator, "operand", None) or getattr(operator, "value", None)
    loads = not isinstance(getattr(operator, "ctx", None), (ast.Store, ast.Del)) and not isinstance(operator, ast.AugAssign)
    return loads and isinstance(of, ast.Name) and of.id == name


def _name_of(value: Any) -> str:
    return value.attr if isinstance(value, ast.Attribute) else ""


def _line(operator: Any) -> int:
    return line_of(operator) if isinstance(operator, ast.Call) and isinstance(operator.func, ast.Attribute) else operator.lineno
