# SPDX-License-Identifier: Apache-2.0
"""Branches on a tensor's type, or on autocast, in a forward, that do something and have no form that is known (type_forms.py).

    if x.dtype == torch.bfloat16:      told for bfloat16: what would be done there is not in a recording in float32
        x = self.other_way(x)
    if x.dtype == torch.float16:       not told: nothing is done with tensors
        lowest = -65504.0

Why told: a prediction for that type must say that it does not know, instead of taking what was recorded.
"""

import ast
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .type_tests import AUTOCAST, CHANGES, SINGLE, UNKNOWN, Given, Know, asked, concerns_types, given_once, outcomes

NOTHING, CHOICE, WORK = 0, 1, 2  # what statements do: not with tensors, perhaps elsewhere, with tensors
NOWHERE = (1, 0)
_TELLING = ("logger", "logging", "warnings", "log", "print")
_LIMITS = ("torch.finfo", "torch.iinfo", "float", "int", "min", "max", "abs")
_OF_ONE_NUMBER = ("torch.tensor", "torch.full")


Lines = Tuple[int, int]


class Around(NamedTuple):
    """A test that a branch stands in."""

    test: Any
    wanted: bool  # what must come of it
    other_arm: Lines


class Other(NamedTuple):
    test: Any
    tensors: Tuple[Any, ...]  # whose types are asked
    work: bool  # else what comes of it is not seen here
    path: Tuple[Around, ...]
    line: int
    last: int
    beside: Lines  # lines of the block of statements that it stands in
    behind_return: bool  # perhaps it is not reached
    helper: Optional[Given] = None  # of a function that is called there: what its own variables are given

    def changes(self, given: Given, type_of: Know, value_of: Know) -> Iterator[Tuple[str, bool]]:
        """With what something else is done, and whether that is sure once the test is reached."""
        for change in CHANGES if self.helper is None else (AUTOCAST,):
            possible = outcomes(self.test, given, change, type_of, value_of) if self.helper is None else self._in_helper(change)
            if any(was != would for was, would in possible):
                yield change, self.work and all(was != would for was, would in possible)

    def _in_helper(self, change: str) -> Any:
        return outcomes(self.test, self.helper or {}, change, lambda _: SINGLE, lambda _: UNKNOWN)

    def reached(self, lines: List[int], given: Given, type_of: Know, value_of: Know) -> Any:
        """`lines`: that this call was seen at. UNKNOWN where that is so."""
        if any(_within(self.beside, line) for line in lines):
            return True
        if any(_within(around.other_arm, line) for around in self.path for line in lines):
            return False
        sure = True
        for test, wanted, _ in self.path:
            came = {was for was, _ in outcomes(test, given, SINGLE, type_of, value_of)}
            if came == {not wanted}:
                return False
            sure = sure and came == {wanted}
        return True if sure else UNKNOWN


def others(function: Any, given: Given, known: Dict[Any, bool]) -> Iterator[Other]:
    """`known`: statements whose form is known, and whether one that could not be told is among these: its work is known to be small."""
    returns = [each.lineno for each in ast.walk(function) if isinstance(each, ast.Return)]
    for statement, path, beside in _statements(function.body, (), (0, function.end_lineno)):
        tests = [each for part in _own(statement) for each in ast.walk(part) if isinstance(each, ast.IfExp)]
        for each in [statement, *tests] if isinstance(statement, ast.If) and known.get(statement, True) else tests:
            if not concerns_types(each.test, given):
                continue
            does = _of_arms(each)
            work = does == WORK and each not in known
            behind = any(line < each.lineno for line in returns)
            found = Other(each.test, tuple(asked(each.test, given)), work, path, each.lineno, each.end_lineno, beside, behind)
            if does != NOTHING and any(True for _ in found.changes(given, lambda _: SINGLE, lambda _: UNKNOWN)):
                yield found


def others_of_helpers(function: Any, source_of: Callable[[str], Any]) -> Iterator[Other]:
    """Of functions that it calls by name, those that ask whether autocast is on, and do something else then. `source_of`: such a function's syntax
    tree, or None. Types of their arguments are not known here; what `with` is given is a context, and no work."""
    returns = [each.lineno for each in ast.walk(function) if isinstance(each, ast.Return)]
    for statement, path, beside in _statements(function.body, (), (0, function.end_lineno)):
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            continue
        called = {each.func.id for part in _own(statement) for each in ast.walk(part) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}
        for name in sorted(called):
            helper = source_of(name)
            for each in others(helper, given_once(helper), {}) if helper is not None else ():
                if each.tensors:
                    continue
                sure = each.work and not each.path and not each.behind_return
                behind = any(line < statement.lineno for line in returns)
                found = Other(each.test, (), sure, path, statement.lineno, _own_end(statement), beside, behind, given_once(helper))
                if any(True for _ in found.changes({}, lambda _: SINGLE, lambda _: UNKNOWN)):
                    yield found


def _own_end(statement: Any) -> int:
    return max([statement.lineno, *(each.end_lineno for each in _own(statement) if getattr(each, "end_lineno", None))])


def _statements(body: List[Any], path: Tuple[Around, ...], beside: Lines) -> Iterator[Tuple[Any, Tuple[Around, ...], Lines]]:
    for statement in body:
        yield statement, path, beside
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            continue
        arms = [getattr(statement, "body", []), getattr(statement, "orelse", [])]
        for arm, other, wanted in ((*arms, True), (*reversed(arms), False)):
            if arm:
                further = (Around(statement.test, wanted, _lines(other)),) if isinstance(statement, ast.If) else ()
                yield from _statements(arm, path + further, _lines(arm))


def _lines(statements: List[Any]) -> Lines:
    return (statements[0].lineno, statements[-1].end_lineno) if statements else NOWHERE


def _within(lines: Lines, line: int) -> bool:
    return lines[0] <= line <= lines[1]


def _own(statement: Any) -> Iterator[Any]:
    return (each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt))



def _of_arms(each: Any) -> int:
    if isinstance(each, ast.IfExp):
        return max(_of_value(each.body), _of_value(each.orelse))
    if _without_numbers(each.body) == _without_numbers(each.orelse):
        return NOTHING
    return max(_of_statements(each.body), _of_statements(each.orelse))


def _without_numbers(statements: List[Any]) -> List[str]:
    """x * (1 - m) - 65500 * m is in size what x * (1 - m) - 1e30 * m is."""
    copies = [ast.parse(ast.unparse(each)) for each in statements]
    for copy in copies:
        for each in ast.walk(copy):
            if isinstance(each, ast.Constant) and type(each.value) in (int, float):
                each.value = 0
    return [ast.dump(each) for each in copies]


def _of_statements(statements: List[Any]) -> int:
    return max((_of_statement(each) for each in statements), default=NOTHING)


def _of_statement(statement: Any) -> int:
    if isinstance(statement, (ast.Pass, ast.Raise, ast.Import, ast.ImportFrom)):
        return NOTHING
    if isinstance(statement, ast.Expr):
        value = statement.value
        told = isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[0] in _TELLING)
        return NOTHING if told else WORK
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return NOTHING if statement.value is None else _of_value(statement.value)
    if isinstance(statement, (ast.If, ast.With)):
        return max(_of_statements(statement.body), _of_statements(getattr(statement, "orelse", [])))
    return WORK


def _of_value(value: Any) -> int:
    if isinstance(value, ast.Constant):
        return NOTHING if type(value.value) in (int, float) else CHOICE
    if isinstance(value, ast.UnaryOp):
        return _of_value(value.operand)
    if isinstance(value, ast.BinOp):
        return NOTHING if _of_value(value.left) == _of_value(value.right) == NOTHING else WORK
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Call):
        return _of_value(value.value)
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func)
        if name in _LIMITS or (name in _OF_ONE_NUMBER and all(_of_value(each) == NOTHING or ast.unparse(each) == "()" for each in value.args)):
            return NOTHING
    return CHOICE if isinstance(value, (ast.Name, ast.Attribute, ast.JoinedStr)) else WORK
