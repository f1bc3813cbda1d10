# SPDX-License-Identifier: Apache-2.0
"""In which lines of a function an operator is given one tensor before all else: what ran there shows which one a variable stood for.

    s = torch.zeros(n, dtype=x.dtype)       whose type that is, line 3 shows, or line 4 where that does not run
    if known:
        first = x[:, 0]
    x = x.masked_fill(~mask, 0)             ~mask is of no floats
    mean = x.sum() / n.to(x.dtype)          whose type n gets, its own line shows: x.sum() runs first

Why: a type is asked for of a variable, and the recording knows operators, by their lines.
"""

import ast
from typing import Any, Iterator, List, Set

from .source_text import SCOPES, line_of, parameters, stored_in, within

_NO_TENSORS = {"size", "dim", "ndimension", "numel", "stride", "is_contiguous", "data_ptr", "get_device", "tolist", "item", "element_size"}
_VIEWS = {"T", "mT", "H", "mH", "real", "imag"}  # y.T
_NO_OPERATORS = {"len", "int", "float", "bool", "range", "isinstance", "getattr", "hasattr", "enumerate"}
_MOST_LINES = 3
_SCOPES = (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def lines_given_first(function: Any, name: str, but: int) -> List[int]:
    """Of a variable that stands for one tensor throughout, or from the line on that gives it another one: behind that, as the call in line `but` is."""
    stored = [each for each in within(function, _SCOPES) if isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load)]
    if len(stored) > 1 or not (stored or name in parameters(function)) or any(but <= one.lineno for one in stored):
        return []
    begun: Set[int] = {but}
    found: List[int] = []
    for each in _statements(function):
        for operator in operators_of(each):
            line = line_of_operator(operator)
            if line not in begun and all(line > one.lineno for one in stored) and _is_given(operator, name):
                found.append(line)
            begun.add(line)
    return found[:_MOST_LINES]


def lines_behind(function: Any, name: str, read: int, but: int) -> List[int]:
    """Of a variable as it was in line `read`: behind that, until one that gives it something else and is given it itself at most. Not line `but`."""
    begun: Set[int] = {read, but}
    found: List[int] = []
    for each in _statements(function):
        if each.lineno <= read:
            continue
        for operator in operators_of(each):
            line = line_of_operator(operator)
            if line not in begun and _is_given(operator, name):
                found.append(line)
            if not _of_bools(operator):
                begun.add(line)
        if each.lineno not in found and _gives(each, name):
            break
    return found[:_MOST_LINES]


def lines_before(function: Any, name: str, call: Any) -> List[int]:
    """Of a variable as it is when the call runs: since the statement that gave it that, which stands beside the call's. None in a loop, where it
    may stand for another tensor each time."""
    if any(isinstance(each, (ast.For, ast.AsyncFor, ast.While)) and call in set(ast.walk(each)) for each in ast.walk(function)):
        return []
    beside = _beside(function, name, call)
    begun: Set[int] = set()
    found: List[int] = []
    for each in _statements(function):
        for operator in operators_of(each):
            if operator is call:
                return found[-_MOST_LINES:]
            line = line_of_operator(operator)
            if line not in begun and each in beside and _is_given(operator, name):
                found.append(line)
            begun.add(line)
    return []


def _beside(function: Any, name: str, call: Any) -> List[Any]:
    """The call's statement and those before it that give the variable nothing, back to one that does."""
    for each in (function, *within(function, _SCOPES)):
        for block in (getattr(each, field, None) for field in ("body", "orelse", "finalbody")):
            last = next((i for i, one in enumerate(block) if any(operator is call for operator in operators_of(one))), None) if isinstance(block, list) else None
            if last is not None:
                giving = [i for i in range(last) if name in stored_in(block[i])]
                return block[giving[-1] + 1 if giving else 0 : last + 1]
    return []


def lines_given_attribute(kind: Any, name: str) -> List[int]:
    """Of self.NAME, which the constructor of the class gives one of its variables, and nothing else does: those in which that variable is given."""
    stored = [each for each in ast.walk(kind) if isinstance(each, ast.Attribute) and each.attr == name and not isinstance(each.ctx, ast.Load)]
    for function in kind.body:
        if len(stored) == 1 and isinstance(function, ast.FunctionDef) and function.name == "__init__":
            for each in _statements(function):
                if isinstance(each, ast.Assign) and each.targets == stored and ast.unparse(stored[0]) == f"self.{name}" and isinstance(each.value, ast.Name):
                    return lines_given_first(function, each.value.id, each.lineno)
    return []


def _statements(function: Any) -> List[Any]:
    return sorted((each for each in within(function, _SCOPES) if isinstance(each, ast.stmt)), key=lambda one: (one.lineno, one.col_offset))


def _gives(statement: Any, name: str) -> bool:
    """x = ..., not in a statement within."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    return any(isinstance(each, ast.Name) and each.id == name for target in targets if target is not None for each in ast.walk(target))


def _of_bools(operator: Any) -> bool:
    return isinstance(operator, ast.UnaryOp) and isinstance(operator.op, ast.Invert)


def operators_of(statement: Any) -> Iterator[Any]:
    """What may run one, as it runs; not what stands in statements within, or in functions."""
    if isinstance(statement, (ast.IfExp, ast.BoolOp)):
        yield statement
        return
    for each in ast.iter_child_nodes(statement):
        if not isinstance(each, (ast.stmt, ast.Slice, *_SCOPES)):  # x[i * n : i * n + n]: of numbers
            yield from operators_of(each)
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


def line_of_operator(operator: Any) -> int:
    return line_of(operator) if isinstance(operator, ast.Call) and isinstance(operator.func, ast.Attribute) else operator.lineno
