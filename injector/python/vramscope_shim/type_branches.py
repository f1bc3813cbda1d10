# SPDX-License-Identifier: Apache-2.0
"""Where a model asks for the type of a tensor, and does with another type what a recording in float32 cannot show; told in deep steps.

    hidden = self.attention(hidden)              the call before: line 1 was reached
    if hidden.dtype == torch.float16:            in float32 nothing; found in the source of forward, once for each class
        hidden = torch.clamp(hidden, -top, top)
    hidden = self.widen(hidden)                  begins: line 4 was reached, and hidden is what the test would have seen

Why the source: the test leaves no trace in a run that fails it. It is read only of a forward whose code compares types, and told only where
what was seen leaves no choice: a branch stands in a block of which another line was reached, between the last call of a module and this one
(or what forward returns), for a variable that nothing gives another value between. Two forms are understood: the one above, and

    if hidden.dtype != self.narrow.weight.dtype: hidden = hidden.to(self.narrow.weight.dtype)

What else asks for a type is not told.
"""

import ast
import dis
import inspect
import textwrap
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import native, storage

NAMES = ("float16", "half")
CLAMP, CONVERT = "clamp", "to parameter"
FROM_THE_BEGIN = 0  # no line is before it


class Form(NamedTuple):
    what: str
    variable: str
    parameter: Tuple[str, ...] = ()  # below the module: whose type it gets


class Branch(NamedTuple):
    form: Form
    first: int  # line of the test
    last: int
    beside: Tuple[int, int]  # lines of the block of statements that it stands in
    given: Tuple[Tuple[int, Tuple[str, ...]], ...]  # what gives the variable another value behind it: the last line, and of self.x(...) beside it x
    returned: Tuple[Tuple[int, Optional[int]], ...]  # of each return behind it: its line, and which element the variable is; -1: all

    def passed(self, before: int, now: int, module: Any) -> bool:
        """Between two lines that were reached one after the other, with the variable as it is now."""
        first, last = self.beside
        if not (before < self.first and self.last < now and (first <= before <= last or first <= now <= last)):
            return False
        parts = module.__dict__.get("_modules", {})  # a call of one of these would have been seen
        return all(end >= now or any(name in parts for name in called) for end, called in self.given)


class Forward(NamedTuple):
    code: Any
    branches: Tuple[Branch, ...]


class TypeBranches:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._known: Dict[int, Tuple[type, Optional[Forward]]] = {}  # by id: a metaclass may not let a class be hashed

    def of(self, module: Any) -> Optional[Forward]:
        kind = type(module)
        known = self._known.get(id(kind))
        if known is None:
            known = self._known[id(kind)] = (kind, _read(kind))
        return None if known[1] is None or "forward" in module.__dict__ else known[1]

    def tell_before_call(self, forward: Forward, before: int, frame: Any) -> int:
        """`frame`: below the module's forward, which is about to call another one. The line that it has reached. Whoever asks empties the
        dictionaries of frames (variables.py)."""
        while frame is not None and frame.f_code is not forward.code:
            frame = frame.f_back
        if frame is None:
            return before
        now: int = frame.f_lineno
        module = frame.f_locals.get(forward.code.co_varnames[0])
        for branch in forward.branches:
            if branch.passed(before, now, module):
                self._tell(branch.form, module, frame.f_locals.get(branch.form.variable))
        return now

    def tell_returned(self, forward: Forward, before: int, module: Any, result: Any) -> None:
        for branch in forward.branches:
            line, element = branch.returned[0] if len(branch.returned) == 1 else (0, None)
            if element is None or not branch.passed(before, line, module):
                continue
            if element < 0:
                self._tell(branch.form, module, result)
            elif type(result) is tuple and element < len(result):
                self._tell(branch.form, module, result[element])

    def _tell(self, form: Form, module: Any, value: Any) -> None:
        for name in form.parameter[:-1]:
            module = module._modules[name]
        asked = (value, module._parameters[form.parameter[-1]]) if form.parameter else (value,)
        if not all(storage.is_tensor(each) for each in asked):
            return
        with storage.untouched():
            if any(each.dtype is not self._torch.float32 for each in asked):
                return
            for _, part, address, size in storage.places(value):
                native.label(native.Role.TYPE_BRANCH, native.Source.VARIABLE, address, size, native.intern(form.what), part._cdata)


def _read(kind: type) -> Optional[Forward]:
    """None where there is nothing to tell, or where the source is not there or not that of the code."""
    try:
        code = inspect.unwrap(kind.forward).__code__  # type: ignore[attr-defined]
        if "dtype" not in code.co_names or not {*NAMES, "to"} & set(code.co_names):
            return None
        lines, first = inspect.getsourcelines(code)
        tree = ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first - 1)
        of_code = {line for _, line in dis.findlinestarts(code)}
        branches = tuple(branch for branch in _branches(tree.body[0]) if branch.first in of_code)
    except Exception:
        return None
    return Forward(code, branches) if branches else None


def _branches(function: Any) -> Iterator[Branch]:
    """Loops are not looked into: in them lines are not reached in their order."""
    blocks = list(_blocks(function.body, (FROM_THE_BEGIN, function.end_lineno)))
    for block, beside in blocks:
        for statement in block:
            form = _clamped(statement) or _converted(statement)
            if form is None:
                continue
            variable = form.variable
            end = statement.end_lineno
            behind = [each for each in ast.walk(function) if isinstance(each, ast.stmt) and each.lineno > end]
            elsewhere = [(statements, lines) for statements, lines in blocks if not lines[0] <= end <= lines[1]]
            given = tuple((_end(each), tuple(_called_with(each, elsewhere))) for each in behind if _gives(each, variable))
            returned = tuple((each.lineno, _place(each.value, variable)) for each in behind if isinstance(each, ast.Return))
            yield Branch(form, statement.lineno, end, beside, given, returned)


def _blocks(body: List[Any], lines: Tuple[int, int]) -> Iterator[Tuple[List[Any], Tuple[int, int]]]:
    yield body, lines
    for statement in body:
        for arm in (statement.body, statement.orelse) if isinstance(statement, ast.If) else ():
            if arm:
                yield from _blocks(arm, (arm[0].lineno, arm[-1].end_lineno))


def _clamped(statement: Any) -> Optional[Form]:
    """x of `if x.dtype == torch.float16: ...; x = torch.clamp(x, ...)`."""
    if not isinstance(statement, ast.If) or statement.orelse or not all(isinstance(each, ast.Assign) for each in statement.body):
        return None
    test, call = statement.test, statement.body[-1].value  # type: ignore[attr-defined]
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is))):
        return None
    asked, wanted = test.left, test.comparators[0]
    if not (isinstance(asked, ast.Attribute) and asked.attr == "dtype" and isinstance(asked.value, ast.Name)):
        return None
    if not (isinstance(wanted, ast.Attribute) and wanted.attr in NAMES):
        return None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == CLAMP):
        return None
    name = asked.value.id
    of_itself = any(isinstance(each, ast.Name) and each.id == name for each in (call.func.value, *call.args[:1]))
    given = [_gives(each, name) for each in statement.body]
    return Form(CLAMP, name) if of_itself and given[-1] and not any(given[:-1]) else None


def _converted(statement: Any) -> Optional[Form]:
    """x of `if x.dtype != self....weight.dtype: x = x.to(self....weight.dtype)`; the test may also ask what kind of tensor the weight is."""
    if not isinstance(statement, ast.If) or statement.orelse or len(statement.body) != 1 or not isinstance(statement.body[0], ast.Assign):
        return None
    given, call = statement.body[0].targets, statement.body[0].value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "to" and len(call.args) == 1 and not call.keywords):
        return None
    variable, wanted = call.func.value, call.args[0]
    if not (isinstance(variable, ast.Name) and len(given) == 1 and isinstance(given[0], ast.Name) and given[0].id == variable.id):
        return None
    if not (isinstance(wanted, ast.Attribute) and wanted.attr == "dtype" and (path := _below_self(wanted.value))):
        return None
    x, weight = variable.id, ".".join(("self", *path))
    known = {f"{x}.dtype != {weight}.dtype", f"{weight}.dtype != {x}.dtype"}
    others = {f"isinstance({weight}, torch.Tensor)", f"{weight}.dtype != torch.int8"}
    tests = {ast.unparse(each) for each in (statement.test.values if isinstance(statement.test, ast.BoolOp) else (statement.test,))}
    if isinstance(statement.test, ast.BoolOp) and not isinstance(statement.test.op, ast.And):
        return None
    return Form(CONVERT, x, path) if tests & known and tests <= known | others else None


def _below_self(value: Any) -> Tuple[str, ...]:
    """The names of `self.a.b`; none of what is not of that form."""
    names: List[str] = []
    while isinstance(value, ast.Attribute):
        names.insert(0, value.attr)
        value = value.value
    return tuple(names) if isinstance(value, ast.Name) and value.id == "self" else ()


def _gives(statement: ast.stmt, variable: str) -> bool:
    """Whether it gives the variable another value, apart from the statements in it."""
    own = (each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt))
    names = (each for part in own for each in ast.walk(part) if isinstance(each, ast.Name))
    return any(each.id == variable and not isinstance(each.ctx, ast.Load) for each in names)


def _end(statement: Any) -> int:
    return statement.lineno if hasattr(statement, "body") else statement.end_lineno


def _called_with(statement: Any, blocks: List[Tuple[List[Any], Tuple[int, int]]]) -> Iterator[str]:
    """x of `... = self.x(...)` and `... = self.x[...](...)`: the statement itself, and those that run whenever it does."""
    beside = [each for statements, (first, last) in blocks if first <= statement.lineno <= last for each in statements]
    for each in (statement, *beside):
        of = each.value.func if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call) else None
        of = of.value if isinstance(of, ast.Subscript) else of
        if isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name) and of.value.id == "self":
            yield of.attr


def _place(value: Any, variable: str) -> Optional[int]:
    whole = not isinstance(value, ast.Tuple)
    for i, each in enumerate([value] if whole else value.elts):
        if isinstance(each, ast.Starred):
            return None
        if isinstance(each, ast.Name) and each.id == variable:
            return -1 if whole else i
    return None
