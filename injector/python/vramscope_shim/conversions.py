# SPDX-License-Identifier: Apache-2.0
"""What the program's calls of Tensor.to() ask for: a type that they name, or that of another tensor; told in deep steps, as marks.

    wide = x.to(torch.float32)         model.py:7 type        so does x.float()
    mask = mask.to(x.dtype)            model.py:8 tensor again     the variable holds what it was converted from no more
    mean = x.sum() / n.to(x.dtype)     model.py:9 tensor@9    of what an operator of line 9 is given first
    kind = x.dtype
    return wide.to(kind)               model.py:11 origin     the type of what it was computed from, "origin@10" where an operator of line 10 is given that first
    (x.float() + y).to(x.dtype)        model.py:12 type,first      the same, and it comes first in each line between (first_operands.py)
    f(y.float(), 2).to(x.dtype)        model.py:13 type,tensor     in the order in which they run; - for one that names no type
    torch.as_tensor(x)                 model.py:14 own         which asks for the type that x has
    if weight.dtype in HALF: ...       model.py:16 narrowed        of line 16, behind a conversion that does not run in float32 (narrowed.py)

Why: in float32 neither does anything, and the operator that is recorded (aten::to) is the same. In 16 bits the one makes x wider, the other
gives it back. Which it is shows in the source alone, which is read once for each file that has a class of a module; the recorded operator says
from which line it was called. A line with a call that leaves a choice, or with calls of both kinds that may not all run, is not told.
"""

import ast
from typing import Any, Dict, Iterator, List, Set

from .first_operands import come_first, is_first
from .given_first import lines_before, lines_behind
from .narrowed import narrowed_lines
from .source_text import line_of
from .type_tests import Given, given_once

TYPE, TENSOR, ORIGIN, FIRST, OWN, UNCLEAR, NONE = "type", "tensor", "origin", "first", "own", "unclear", "-"
NARROWED = "narrowed"
AGAIN = " again"
_NAMED = {"float", "half", "bfloat16", "double"}  # x.float()
_TYPES = {*_NAMED, "float16", "float32", "float64"}  # torch.float16
_FACTS = {"dtype", "device", "shape", "ndim"}
_FACTS_OF = {"new_zeros", "new_ones", "new_empty", "new_full", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "size", "dim", "numel", "stride"}
_UNTOLD = {"", UNCLEAR, AGAIN, UNCLEAR + AGAIN}
_OTHERS = {"to", "long", "int", "short", "char", "byte", "bool", "cuda", "cpu"}
PERHAPS = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def found_in(source: Any) -> Dict[int, str]:
    """By line. A call within a function that stands in another one is met twice, with as many names known or more."""
    calls: Dict[Any, str] = {}
    again: Set[Any] = set()
    narrowed: Set[int] = set()
    for function in ast.walk(source):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        given = given_once(function)
        narrowed.update(narrowed_lines(function, given))
        for each in ast.walk(function):
            if isinstance(each, ast.Assign) and _takes_its_name(each):
                again.add(each.value)
            elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
                if calls.get(each, UNCLEAR) == UNCLEAR:
                    asks = asks_of(each, given)
                    calls[each] = _whose(source, function, each, given) if asks == TENSOR else asks
                if calls[each] == TENSOR:
                    calls[each] += "".join(f"@{line}" for line in _lines_before(function, each))
    lines: Dict[int, List[Any]] = {}
    for call in in_order(source):
        if calls.get(call) or (call in calls and _runs(call)):
            lines.setdefault(line_of(call), []).append(call)
    perhaps = {call for each in ast.walk(source) if isinstance(each, PERHAPS) for call in ast.walk(each)}
    told = {line: _told([calls[call] + AGAIN * (call in again) for call in there], not perhaps.isdisjoint(there)) for line, there in lines.items()}
    return {**dict.fromkeys(narrowed, NARROWED), **{line: asks for line, asks in told.items() if asks}}


def _whose(source: Any, function: Any, call: Any, given: Given) -> str:
    wanted = wanted_names(call, given)
    if len(wanted) == 1 and is_first(function, call, min(wanted), given):
        return FIRST
    if is_origin(function, call, given):
        return ORIGIN + "".join(f"@{line}" for line in _lines_of_origin(function, call, given))
    return FIRST if len(wanted) == 1 and come_first(source, function, call, min(wanted), given) else TENSOR


def _lines_of_origin(function: Any, call: Any, given: Given) -> List[int]:
    """Of a type that was read before, kind = x.dtype: where x as it was then is given to an operator."""
    values = [given[each.id] for each in (*call.args, *(each.value for each in call.keywords)) if isinstance(each, ast.Name) and each.id in given]
    read = [each for each in values if isinstance(each, ast.Attribute) and each.attr == "dtype" and isinstance(each.value, ast.Name)]
    return lines_behind(function, read[0].value.id, read[0].lineno, line_of(call)) if len(read) == 1 else []


def _lines_before(function: Any, call: Any) -> List[int]:
    """Of y.sum() / x.to(y.dtype): where y is given to an operator before the call."""
    values = [*call.args, *(each.value for each in call.keywords if each.arg == "dtype")]
    read = [name for each in values for name in asked_names(each, {}, 0) if name.isidentifier() and name != "self"]
    return lines_before(function, read[0], call) if len(read) == 1 else []


def _told(calls: List[str], perhaps: bool) -> str:
    """Of the calls in a line, in their order. Empty: nothing."""
    kinds = {asks for asks in calls if asks}
    if len(kinds) == 1 and not kinds & _UNTOLD:
        return kinds.pop()
    words = [NONE if asks in _UNTOLD else asks for asks in calls]
    return "" if perhaps or set(words) == {NONE} or any(asks.endswith(AGAIN) for asks in words) else ",".join(words)


def in_order(node: Any) -> Iterator[Any]:
    """Calls, as they run: what they are called on, and what they are given, before themselves."""
    for each in ast.iter_child_nodes(node):
        yield from in_order(each)
    if isinstance(node, ast.Call):
        yield node


def _runs(call: Any) -> bool:
    """The operator that conversions run, without asking for a type of floats."""
    return call.func.attr in _OTHERS or _is_as_tensor(call) or (call.func.attr == "type" and bool(call.args))


def _takes_its_name(statement: ast.Assign) -> bool:
    """x = x.to(...)"""
    of = converted_by(statement.value)
    return isinstance(of, ast.Name) and [ast.unparse(each) for each in statement.targets] == [of.id]


def _is_as_tensor(call: Any) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "as_tensor" and isinstance(call.func.value, ast.Name) and call.func.value.id == "torch"


def converted_by(call: Any) -> Any:
    """x of x.to(...) and of torch.as_tensor(x); None of what is no call of a method."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    return (call.args[0] if call.args else None) if _is_as_tensor(call) else call.func.value


def is_origin(function: Any, call: Any, given: Given) -> bool:
    """Whether one whose type is asked for is among what the converted one was computed from, as the lines above it say."""
    wanted = wanted_names(call, given)
    above = [each for each in ast.walk(function) if isinstance(each, (ast.Assign, ast.AugAssign)) and each.lineno < call.lineno]
    known, new = set(), _names(converted_by(call))
    while new:
        known |= new
        if known & wanted:
            return True
        new = {name for each in above if _targets(each) & new for name in _names(each.value)} - known
    return False


def wanted_names(call: Any, given: Given) -> Set[str]:
    return {name for argument in (*call.args, *(each.value for each in call.keywords)) for name in asked_names(argument, given, 0)}


def asked_names(value: Any, given: Given, depth: int) -> Iterator[str]:
    """x of x.dtype, self.proj.weight of self.proj.weight.dtype."""
    if isinstance(value, ast.Name) and value.id in given and depth < 4:
        yield from asked_names(given[value.id], given, depth + 1)
    elif isinstance(value, ast.Attribute) and value.attr == "dtype" and _is_path(value.value):
        yield ast.unparse(value.value)


def _is_path(value: Any) -> bool:
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


def _names(value: Any) -> Set[str]:
    """Of what it is computed from; not where only facts about a tensor are asked for."""
    if isinstance(value, ast.Name):
        return {value.id}
    of = value.func if isinstance(value, ast.Call) else value
    if isinstance(of, ast.Attribute) and of.attr in (_FACTS if of is value else _FACTS_OF):
        return set()
    return {name for each in ast.iter_child_nodes(value) for name in _names(each)}


def _targets(statement: Any) -> Set[str]:
    return {name for each in getattr(statement, "targets", None) or [statement.target] for name in _names(each)}


def asks_of(call: Any, given: Given) -> str:
    """What the call of a method asks for; empty: it is no conversion, as far as can be seen."""
    method = call.func.attr
    if method in _NAMED:
        return TYPE if not call.args else ""
    if _is_as_tensor(call):
        values = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "dtype")]
        return _of_values(values, given) if values else OWN if call.args else ""
    if method not in ("to", "type"):
        return ""
    if any(each.arg == "other" for each in call.keywords):
        return TENSOR
    values = [*call.args, *(each.value for each in call.keywords if each.arg in ("dtype", None))]
    return _of_values(values, given) if values else ""


def _of_values(values: List[Any], given: Given) -> str:
    found = {asks for value in values for asks in of_value(value, given, 0)}
    return found.pop() if len(found) == 1 else UNCLEAR


def of_value(value: Any, given: Given, depth: int) -> Iterator[str]:
    if isinstance(value, ast.Name) and value.id in given and depth < 4:
        yield from of_value(given[value.id], given, depth + 1)
    elif isinstance(value, ast.IfExp):
        for arm in (value.body, value.orelse):
            yield from tuple(of_value(arm, given, depth + 1)) or (UNCLEAR,)
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "torch":
        if value.attr in _TYPES:
            yield TYPE
    elif isinstance(value, ast.Attribute) and value.attr == "dtype":
        yield TENSOR
    elif isinstance(value, ast.Call) and ast.unparse(value.func) == "torch.get_default_dtype":
        yield TYPE
