# SPDX-License-Identifier: Apache-2.0
"""Where a model asks for the type of a tensor, and does with another type what a recording in float32 cannot show; told in deep steps.

    hidden = self.attention(hidden)              the call before: line 1 was reached
    if hidden.dtype == torch.float16:            in float32 nothing; found in the source of forward, once for each class
        hidden = torch.clamp(hidden, -top, top)
    hidden = self.widen(hidden)                  begins: line 4 was reached, and hidden is what the test would have seen

Why the source: the test leaves no trace in a run that fails it. It is read only of a forward whose code compares types, and told only where
what was seen leaves no choice: a branch stands in a block of which another line was reached, between the last call of a module and this one
(or what forward returns), for a variable that nothing but a view gives another value between, and its form is known (type_forms.py).
Of other branches that would do something it is told that they are there, and where (other_branches.py): `other in float16: ...` of one that was
passed, `perhaps in float16: ...` where that is not sure, or where known forms leave a choice.
"""

import ast
import dis
import inspect
import os
import sys
import textwrap
import types
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import native, storage
from .asked_arguments import asked_arguments, parameter_path
from .by_class import ByClass
from .other_branches import Other, others, others_of_helpers
from .seen_values import Seen, type_name
from .source_text import is_of_torch, parse
from .type_forms import UNTOLD, Form, form_of, gives, viewing
from .type_tests import AUTOCAST, HALF, Given, given_once

FROM_THE_BEGIN = 0  # no line is before it
RETURNED = sys.maxsize  # nor behind it


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
    others: Tuple[Other, ...]
    given: Given
    changed: Dict[str, int]  # its variables: the first line that gives them a value
    where: str  # "Gate.forward, model.py"
    asked: Tuple[Tuple[str, str], ...]  # arguments and parameters whose type it asks for: name, and "asked model.py:9"


class TypeBranches:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._forwards: ByClass[Optional[Forward]] = ByClass(_read)

    def of(self, module: Any, arguments: Any) -> Optional["Passing"]:
        """For a call that begins."""
        forward = self._forwards.of(type(module))
        if forward is None or "forward" in module.__dict__:
            return None
        self._tell_asked(forward, module, arguments)
        return Passing(self._torch, forward, module, arguments) if forward.branches or forward.others else None

    def _tell_asked(self, forward: Forward, module: Any, arguments: Any) -> None:
        if not forward.asked:
            return
        given = dict(zip(forward.code.co_varnames[1 : forward.code.co_argcount], arguments))
        with storage.untouched():
            for name, what in forward.asked:
                path = parameter_path(name)
                value = _parameter(module, path) if path else given.get(name)
                if storage.is_tensor(value) and value.dtype is self._torch.float32:
                    _label(what, value)


class Passing:
    """One call of a forward that asks for types."""

    def __init__(self, torch: Any, forward: Forward, module: Any, arguments: Any) -> None:
        self._torch, self._forward, self._module = torch, forward, module
        self._types: Dict[str, str] = {}  # of its arguments: which of them are held is not to change
        if forward.others:
            with storage.untouched():
                names = zip(forward.code.co_varnames[1 : forward.code.co_argcount], arguments)
                self._types = {name: type_name(each) for name, each in names if storage.is_tensor(each)}
        self._lines = [FROM_THE_BEGIN]  # that it had reached when it called modules
        self._done: Set[int] = set()  # lines of branches that were told, or are known not to be passed

    def before_call(self, frame: Any) -> None:
        """`frame`: below the module's forward, which is about to call another one. Whoever asks empties the dictionaries of frames
        (variables.py)."""
        while frame is not None and frame.f_code is not self._forward.code:
            frame = frame.f_back
        if frame is None:
            return
        before, now, variables = self._lines[-1], frame.f_lineno, frame.f_locals
        self._lines.append(now)
        for branch in self._forward.branches:
            if branch.passed(before, now, self._module):
                self._tell(branch, variables.get(branch.form.variable))
        self._tell_others(now, variables, ())

    def returned(self, result: Any) -> None:
        for branch in self._forward.branches:
            line, element = branch.returned[0] if len(branch.returned) == 1 else (0, None)
            if element is None or not branch.passed(self._lines[-1], line, self._module):
                continue
            if element < 0:
                self._tell(branch, result)
            elif type(result) is tuple and element < len(result):
                self._tell(branch, result[element])
        self._tell_others(RETURNED, {}, result if type(result) is tuple else (result,))

    def _tell(self, branch: Branch, value: Any) -> None:
        form, module = branch.form, self._module
        for name in form.parameter[:-1]:
            module = module._modules[name]
        asked = (value, module._parameters[form.parameter[-1]]) if form.parameter else (value,)
        if not all(storage.is_tensor(each) for each in asked):
            return
        self._done.add(branch.first)
        with storage.untouched():
            if any(each.dtype is not self._torch.float32 for each in asked):
                return
            for name in [form.what if low == HALF else f"{form.what} in {low}" for low in form.types] or [form.what]:
                _label(name, value)

    def _tell_others(self, now: int, variables: Dict[str, Any], results: Tuple[Any, ...]) -> None:
        """Of those before the line that was reached."""
        waiting = [other for other in self._forward.others if other.last < now and other.line not in self._done]
        if not waiting:
            return
        with storage.untouched():
            for other in waiting:
                self._done.add(other.line)
                as_given = {name: each for name, each in self._types.items() if self._forward.changed.get(name, RETURNED) >= other.line}
                seen = Seen(self._module, variables, self._forward.changed, as_given)
                reached = other.reached(self._lines, self._forward.given, seen.type_of, seen.value_of)
                if reached is False:
                    continue
                tensors = [seen.tensor(each) for each in other.tensors]
                sure = reached is True and all(map(seen.knows_type, other.tensors)) and not (now == RETURNED and other.behind_return)
                labelled = next((each for each in (*tensors, *results, *variables.values()) if self._is_single(each)), None)
                for change, certain in other.changes(self._forward.given, seen.type_of, seen.value_of) if labelled is not None else ():
                    known = "other" if sure and certain else "perhaps"
                    _label(f"{known} {'under' if change == AUTOCAST else 'in'} {change}: {self._forward.where}:{other.line}", labelled)

    def _is_single(self, value: Any) -> bool:
        return storage.is_tensor(value) and value.dtype is self._torch.float32


def _parameter(module: Any, path: List[str]) -> Any:
    """None where an attribute on the way is something else."""
    for name in path[:-1]:
        module = module.__dict__.get("_modules", {}).get(name)
        if module is None:
            return None
    return module.__dict__.get("_parameters", {}).get(path[-1])


def _label(name: str, tensor: Any) -> None:
    for _, part, address, size in storage.places(tensor):
        native.label(native.Role.TYPE_BRANCH, native.Source.VARIABLE, address, size, native.intern(name), part._cdata)


def _read(kind: type) -> Optional[Forward]:
    """None where there is nothing to tell, or where the source is not there or not that of the code."""
    try:
        code = inspect.unwrap(kind.forward).__code__  # type: ignore[attr-defined]
        helpers = _helpers(kind, code)
        if not helpers and not any(name == "dtype" or _asks_for_autocast(name) for name in code.co_names):
            return None
        function = _source_of(code)
        of_code = {line for _, line in dis.findlinestarts(code)}
        given = given_once(function)
        known = {each: form for each in ast.walk(function) if (form := form_of(each, given)) is not None and each.lineno in of_code}
        branches = tuple(_branches(function, known))
        # Torch's own ask whether a faster way can be gone, whose operators are seen.
        told = [] if is_of_torch(kind) else [*others(function, given, {each: bool(form.types) for each, form in known.items()})]
        if helpers:
            told += others_of_helpers(function, lambda name: _source_of(helpers[name]) if name in helpers else None)
        stored = [(each.id, each.lineno) for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        changed = dict(sorted(stored, key=lambda one: -one[1]))
        passed = {line for each in known for line in range(each.lineno, each.end_lineno + 1)}  # not run in float32
        lines_of = asked_arguments(function, given)
        asked = [(name, f"asked {code.co_filename}:{line}") for name, lines in lines_of.items() for line in lines if line not in passed]
        found = Forward(code, branches, tuple(told), given, changed, f"{kind.__name__}.forward, {os.path.basename(code.co_filename)}", tuple(asked))
    except Exception:
        return None
    return found if found.branches or found.others or found.asked else None


def _source_of(code: Any) -> Any:
    lines, first = inspect.getsourcelines(code)
    return ast.increment_lineno(parse(textwrap.dedent("".join(lines))), first - 1).body[0]  # type: ignore[attr-defined]


def _asks_for_autocast(name: str) -> bool:
    return name.startswith("is_autocast_enabled")


def _helpers(kind: type, code: Any) -> Dict[str, Any]:
    """Functions of the program that forward may call by name, and that ask for autocast: their code."""
    scope = getattr(inspect.unwrap(kind.forward), "__globals__", {})  # type: ignore[attr-defined]
    found = {}
    for name in () if is_of_torch(kind) else code.co_names:
        helper = scope.get(name)
        if isinstance(helper, types.FunctionType) and not is_of_torch(helper) and any(_asks_for_autocast(each) for each in helper.__code__.co_names):
            found[name] = helper.__code__
    return found


def _branches(function: Any, known: Dict[Any, Form]) -> Iterator[Branch]:
    """Loops are not looked into: in them lines are not reached in their order."""
    blocks = list(_blocks(function.body, (FROM_THE_BEGIN, function.end_lineno)))
    for block, beside in blocks:
        for statement in block:
            form = known.get(statement)
            if form is None or form.what == UNTOLD:
                continue
            variable = form.variable
            end = statement.end_lineno
            behind = [each for each in ast.walk(function) if isinstance(each, ast.stmt) and each.lineno > end]
            elsewhere = [(statements, lines) for statements, lines in blocks if not lines[0] <= end <= lines[1]]
            views = viewing(behind, variable)
            given = tuple((_end(each), tuple(_called_with(each, elsewhere))) for each in behind if gives(each, variable) and each not in views)
            returned = tuple((each.lineno, _place(each.value, variable)) for each in behind if isinstance(each, ast.Return))
            yield Branch(form, statement.lineno, end, beside, given, returned)


def _blocks(body: List[Any], lines: Tuple[int, int]) -> Iterator[Tuple[List[Any], Tuple[int, int]]]:
    yield body, lines
    for statement in body:
        for arm in (statement.body, statement.orelse) if isinstance(statement, ast.If) else ():
            if arm:
                yield from _blocks(arm, (arm[0].lineno, arm[-1].end_lineno))


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
