# SPDX-License-Identifier: Apache-2.0
"""What the variables of the program's functions are given, line by line, and what functions return: told in deep steps, as marks.

    10  def scale(x):                      model.py:10-14 args 11-11=norm 12-12=y 13-13~norm 14-14>y
    11      norm = torch.norm(x)           norm holds what this line computes
    12      y = x / norm
    13      del norm                       and what it held goes here
    14      return y                       all that variables hold goes when the function returns; so does what it was given

Why: a recorded operator says in which functions it was called, and from which lines. How long what it made is held by a variable, where
autograd does not keep it, shows in the source alone, which is read once for each file that has a class of a module.
"""

import ast
from typing import Any, Dict, Iterator, List, Set, Tuple

from .returned_values import CALLED, COMPUTED, UNKNOWN, is_for_each_of, is_one_operator, is_the_same_of_each, kind_of, names_kept
from .source_text import SCOPES, within

_ELSEWHERE = "."  # self.x = y, kept.append(y)
_WORDS = {COMPUTED: "=", CALLED: "(", UNKNOWN: "~"}


def found_in(source: Any) -> Iterator[str]:
    """FIRST-LAST args[=those that get something else] [loops and statements in their order], for each function that returns as functions do."""
    for function in ast.walk(source):
        if isinstance(function, ast.FunctionDef) and not any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in within(function)):
            yield _described(function)


def _described(function: Any) -> str:
    free = {name for each in within(function) if isinstance(each, (ast.Global, ast.Nonlocal)) for name in each.names}
    parts = [f"{function.lineno}-{function.end_lineno}"]
    given = _arguments(function.args)
    changed = {each.id for each in within(function) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    changed_arguments = ",".join(name for name in given if name in changed)
    parts.append(f"args={changed_arguments}" if changed_arguments else "args")
    statements = list(_statements(function.body, False))
    in_line: Dict[int, int] = {}
    for statement, _ in statements:
        if not hasattr(statement, "body"):
            in_line[statement.lineno] = in_line.get(statement.lineno, 0) + 1
    for statement, unsure in statements:
        if isinstance(statement, (ast.For, ast.While)):
            parts.append(f"{_lines(statement)}@")
        changes = _changes(statement, free)
        several = in_line.get(statement.lineno, 1) > 1  # x = f(y); z = x * y: which of them an operator is of does not show
        parts += [lines + ("?" if unsure else "") + (_unclear(what) if several else what) for lines, what in changes]
    return " ".join(parts)


def _arguments(given: Any) -> List[str]:
    """In the order in which the function lets go of them, before its other variables."""
    last = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [each.arg for each in (*getattr(given, "posonlyargs", ()), *given.args, *given.kwonlyargs, *last)]


def _unclear(what: str) -> str:
    return what if what[0] == "!" else ">." if what[0] == ">" else "~" + what[1:].partition("<")[0]


def _lines(first: Any, last: Any = None) -> str:
    return f"{first.lineno}-{(last or first).end_lineno}"


def _statements(body: List[Any], unsure: bool) -> Iterator[Tuple[Any, bool]]:
    """What stands within others may be passed over."""
    for each in body:
        if isinstance(each, SCOPES):
            continue
        yield each, unsure
        inner = [*getattr(each, "body", ())]
        for arm in (*getattr(each, "handlers", ()), *getattr(each, "cases", ())):
            inner += arm.body
        inner += [*getattr(each, "orelse", ()), *getattr(each, "finalbody", ())]
        yield from _statements(inner, unsure or not isinstance(each, (ast.With, ast.AsyncWith)))


def _changes(statement: Any, free: Set[str]) -> Iterator[Tuple[str, str]]:
    """Lines, and =x: it is given what the statement computes; (x: what a call returns, which may be one of a module; (x,y: each one of what it
    returns; [x,y: each what the same expression computes of another value, one behind the other; <x<y: what y stands for; ~x: it no more stands
    for what it did, and what the statement computes may stay anywhere; !x: what it stands for is held elsewhere as well; >x, >=, >.: the function
    returns what x stands for, what the statement computes, or anything; >x,=: several; >{x,y: a dict or a list of what these stand for, and of nothing else."""
    lines = _own_lines(statement)
    yield from ((lines, f"~{each.target.id}") for part in _own(statement) for each in ast.walk(part) if type(each).__name__ == "NamedExpr")
    if isinstance(statement, ast.Return):
        value = statement.value
        several = isinstance(value, ast.Tuple) and len(value.elts) > 1
        if _is_of_names(value, free):
            yield lines, ">{" + ",".join(dict.fromkeys(names_kept(value)))
            return
        yield lines, ">" + ",".join(_returned(each, free, several) for each in (value.elts if several else [value]))
    elif isinstance(statement, ast.Expr):
        if isinstance(statement.value, ast.Call):
            yield from ((lines, "!" + name) for name in names_kept(statement.value))
            yield lines, "~" + _ELSEWHERE
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        yield from ((lines, what) for what in _assigned(statement, free))
    else:
        yield from ((lines, "~" + name) for name in _bound(statement) if name not in free)


def _is_of_names(value: Any, free: Set[str]) -> bool:
    """{"loss": loss, "weight": 2}, [x, y]"""
    parts = value.values if isinstance(value, ast.Dict) else value.elts if isinstance(value, ast.List) else []
    keys = value.keys if isinstance(value, ast.Dict) else []
    named = any(isinstance(each, ast.Name) for each in parts)
    return named and all(isinstance(each, ast.Constant) or (isinstance(each, ast.Name) and each.id not in free) for each in parts) and all(isinstance(each, ast.Constant) for each in keys)


def _returned(value: Any, free: Set[str], one_of_several: bool) -> str:
    if isinstance(value, ast.Name) and value.id not in free:
        return value.id
    known = is_one_operator(value) if one_of_several else kind_of(value) != UNKNOWN
    return "=" if known else "."


def _assigned(statement: Any, free: Set[str]) -> Iterator[str]:
    value, kind = statement.value, kind_of(statement.value)
    if value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    several = len(targets[0].elts) if len(targets) == 1 and _are_names(targets[0], free) else 0
    if is_for_each_of(value, several) or is_the_same_of_each(value, several):
        yield "[" + ",".join(each.id for each in targets[0].elts)
        return
    kept = [*names_kept(value)] if kind == UNKNOWN else []
    if isinstance(value, ast.Name) and not all(isinstance(each, ast.Name) for each in targets):
        kept.append(value.id)
    yield from ("!" + name for name in kept)
    for target in targets:
        if isinstance(target, ast.Name) and target.id not in free:
            if isinstance(statement, ast.AugAssign):  # in place, or not: what is computed last. A list that grows stays what it is
                yield from [f"={target.id}"] if kind != UNKNOWN else []
            else:
                yield f"<{target.id}<{value.id}" if isinstance(value, ast.Name) else _WORDS[kind] + target.id
            continue
        if kind == CALLED and _are_names(target, free):
            yield "(" + ",".join(each.id for each in target.elts)
            continue
        names = [] if isinstance(statement, ast.AugAssign) else [each.id for each in ast.walk(target) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)]
        yield from (f"~{name}" for name in names or [_ELSEWHERE] if name not in free)


def _are_names(target: Any, free: Set[str]) -> bool:
    return isinstance(target, ast.Tuple) and all(isinstance(each, ast.Name) and each.id not in free for each in target.elts)


def _bound(statement: Any) -> Iterator[str]:
    """By other statements than those that give a value: del x; for x in y; with f() as x; case x."""
    targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None), *(each.optional_vars for each in getattr(statement, "items", ()))]
    for each in (each for target in targets if target is not None for each in ast.walk(target)):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            yield each.id
    for arm in getattr(statement, "cases", ()):
        for pattern in ast.walk(arm.pattern):
            yield from (name for name in (getattr(pattern, "name", None), getattr(pattern, "rest", None)) if isinstance(name, str))


def _own(statement: Any) -> List[Any]:
    """Its parts, without the statements in it."""
    return [each for each in ast.iter_child_nodes(statement) if not isinstance(each, (ast.stmt, ast.excepthandler)) and type(each).__name__ != "match_case"]


def _own_lines(statement: Any) -> str:
    """Of a statement that has others in it, to the end of its head."""
    if not hasattr(statement, "body") and not hasattr(statement, "cases"):
        return _lines(statement)
    ends = [each.end_lineno for each in _own(statement) if getattr(each, "end_lineno", None)]
    ends += [each.context_expr.end_lineno for each in getattr(statement, "items", ())]
    return f"{statement.lineno}-{max([statement.lineno, *ends])}"
