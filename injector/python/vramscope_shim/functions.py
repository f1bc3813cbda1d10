# SPDX-License-Identifier: Apache-2.0
"""What the variables of the program's functions are given, line by line: told in deep steps, as marks.

    10  def scale(x):                      model.py:10-14 args 11-11=norm 12-12=y 13-13~norm
    11      norm = torch.norm(x)           norm holds what this line computes
    12      y = x / norm
    13      del norm                       and what it held goes here
    14      return y                       all that variables hold goes when the function returns; so does what it was given

Why: a recorded operator says in which functions it was called, and from which lines. How long what it made is held by a variable, where
autograd does not keep it, shows in the source alone, which is read once for each file that has a class of a module.
"""

import ast
from typing import Any, Iterator, List, Set, Tuple

_OPERATORS = ("torch", "F")  # F.relu(x) is no module's call
_CONTAINERS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ELSEWHERE = "."  # self.x = y, kept.append(y)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def found_in(source: Any) -> Iterator[str]:
    """FIRST-LAST [args] [loops and statements in their order], for each function that returns as functions do."""
    for function in ast.walk(source):
        if isinstance(function, ast.FunctionDef) and not any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in _within(function)):
            yield _described(function)


def _described(function: Any) -> str:
    free = {name for each in _within(function) if isinstance(each, (ast.Global, ast.Nonlocal)) for name in each.names}
    parts = [f"{function.lineno}-{function.end_lineno}"]
    given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    changed = {each.id for each in _within(function) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    if not given & changed:
        parts.append("args")
    for statement, unsure in _statements(function.body, False):
        if isinstance(statement, (ast.For, ast.While)):
            parts.append(f"{_lines(statement)}@")
        first_lines = f"{statement.lineno}-{statement.iter.end_lineno}" if isinstance(statement, ast.For) else _lines(statement)
        parts += [first_lines + what for what in _changes(statement, free, "?" if unsure else "")]
    return " ".join(parts)


def _lines(statement: Any) -> str:
    return f"{statement.lineno}-{statement.end_lineno}"


def _statements(body: List[Any], unsure: bool) -> Iterator[Tuple[Any, bool]]:
    """What stands within others may be passed over."""
    for each in body:
        if isinstance(each, _SCOPES):
            continue
        yield each, unsure
        inner = [*getattr(each, "body", ())]
        for arm in (*getattr(each, "handlers", ()), *getattr(each, "cases", ())):
            inner += arm.body
        inner += [*getattr(each, "orelse", ()), *getattr(each, "finalbody", ())]
        yield from _statements(inner, unsure or not isinstance(each, (ast.With, ast.AsyncWith)))


def _changes(statement: Any, free: Set[str], unsure: str) -> Iterator[str]:
    """=x: it is given what the statement computes; (x: what a call returns, which may be one of a module; <x<y: what y stands for; ~x: it no
    more stands for what it did, and what the statement computes may stay anywhere."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield unsure + "~" + _ELSEWHERE
    targets = statement.targets if isinstance(statement, (ast.Assign, ast.Delete)) else [getattr(statement, "target", None)]
    value = getattr(statement, "value", None)
    for target in targets:
        if target is None or isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and value is None):
            continue
        if isinstance(target, ast.Name) and target.id not in free and value is not None and not isinstance(value, _CONTAINERS):
            yield unsure + (f"<{target.id}<{value.id}" if isinstance(value, ast.Name) else f"({target.id}" if _may_call_a_module(value) else f"={target.id}")
        else:
            names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)]
            yield from (f"{unsure}~{name}" for name in names or [_ELSEWHERE] if name not in free)


def _may_call_a_module(value: Any) -> bool:
    """As the last that the expression does."""
    called = value.func if isinstance(value, ast.Call) else None
    while isinstance(called, ast.Attribute):
        called = called.value
    return isinstance(value, ast.Call) and not (isinstance(called, ast.Name) and called.id in _OPERATORS)


def _within(function: Any) -> Iterator[Any]:
    """Without what stands in functions of its own."""
    waiting = list(function.body)
    while waiting:
        each = waiting.pop()
        yield each
        if not isinstance(each, _SCOPES):
            waiting += ast.iter_child_nodes(each)
