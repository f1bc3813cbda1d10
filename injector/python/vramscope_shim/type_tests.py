# SPDX-License-Identifier: Apache-2.0
"""What a test that asks for types would come to with another one: read from its source, nothing of the program is run.

    input_dtype in (torch.float16, torch.bfloat16) and not torch.isinf(x).any()
    └ of a variable that was given x.dtype          └ what else is asked: values are taken as finite, the rest can be anything

A test is worked out for float32, as recorded, and for another type of all tensors that it asks and that were float32.
"""

import ast
import itertools
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from .source_text import parameters

HALF, BFLOAT16, SINGLE, AUTOCAST = "float16", "bfloat16", "float32", "autocast"
CHANGES = (HALF, BFLOAT16, AUTOCAST)  # autocast: nothing but that it is on
_TYPES = {"half": HALF, "float": SINGLE, "double": "float64", "long": "int64", "int": "int32", "short": "int16"}
_MOST_UNKNOWN = 6

Given = Dict[str, Any]  # what functions' variables were given, where that was once
Know = Callable[[Any], Any]  # an expression's value, or UNKNOWN
UNKNOWN = object()


def given_once(function: Any) -> Given:
    values: Dict[str, Any] = {}
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            values[each.id] = None if each.id in values else UNKNOWN
    for each in ast.walk(function):
        for target, value in _pairs(each):
            if isinstance(target, ast.Name) and values[target.id] is UNKNOWN:
                values[target.id] = value
    arguments = set(parameters(function))
    return {name: value for name, value in values.items() if isinstance(value, ast.AST) and name not in arguments}


def _pairs(statement: Any) -> Iterator[Tuple[Any, Any]]:
    """x = a; x, y = a, b; of i, j, x = *a.shape, b those before what is unpacked there, and those behind it."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        yield target, value
    elif not any(isinstance(each, ast.Starred) for each in target.elts):
        unpacked = [i for i, each in enumerate(value.elts) if isinstance(each, ast.Starred)]
        if not unpacked and len(target.elts) != len(value.elts):
            return
        behind = len(value.elts) - 1 - unpacked[-1] if unpacked else 0
        yield from zip(target.elts, value.elts[: unpacked[0]] if unpacked else value.elts)
        yield from zip(reversed(target.elts), reversed(value.elts[len(value.elts) - behind :]))


def asked(test: Any, given: Given) -> Iterator[Any]:
    """x of each x.dtype; of those that are compared."""
    for each in _spread(test, given):
        if isinstance(each, ast.Attribute) and each.attr == "dtype" and not _is_torch(each.value):
            yield each.value


def concerns_types(test: Any, given: Given) -> bool:
    return any(True for _ in asked(test, given)) or any(isinstance(each, ast.Call) and _asks_for_autocast(each) for each in _spread(test, given))


def outcomes(test: Any, given: Given, change: str, type_of: Know, value_of: Know) -> Set[Tuple[bool, bool]]:
    """As recorded, and with the change: all that are possible. `type_of`: x of x.dtype; the name of its type in the recording."""
    unknown = sorted({text for text in _unknown(test, given, value_of)})
    if len(unknown) > _MOST_UNKNOWN:
        return {(False, False), (False, True), (True, False), (True, True)}
    found = set()
    for values in itertools.product((False, True), repeat=len(unknown)):
        taken = dict(zip(unknown, values))
        found.add((_Test(given, SINGLE, type_of, value_of, taken).of(test), _Test(given, change, type_of, value_of, taken).of(test)))
    return found


def come_true(test: Any, given: Given) -> Tuple[str, ...]:
    """With which of the two types it is true, whatever else is so, and was not before."""
    return tuple(low for low in (HALF, BFLOAT16) if outcomes(test, given, low, lambda _: SINGLE, lambda _: UNKNOWN) == {(False, True)})


class _Test:
    def __init__(self, given: Given, change: str, type_of: Know, value_of: Know, taken: Dict[str, bool]) -> None:
        self._given, self._change, self._type_of, self._value_of, self._taken = given, change, type_of, value_of, taken

    def of(self, test: Any) -> bool:
        if isinstance(test, ast.BoolOp):
            every = all if isinstance(test.op, ast.And) else any
            return every([self.of(each) for each in test.values])
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return not self.of(test.operand)
        if isinstance(test, ast.Name) and isinstance(self._given.get(test.id), (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call)):
            return self.of(self._given[test.id])
        if isinstance(test, ast.Call) and _asks_for_autocast(test):
            return self._change == AUTOCAST
        finite = _asks_for_infinities(test)
        if finite is not None:
            return finite
        compared = _compared(test, self._given)
        if compared is not None:
            left, others, wanted = compared
            return (self._type(left) in [self._type(each) for each in others]) == wanted
        known = self._value_of(test)
        return self._taken[ast.unparse(test)] if known is UNKNOWN else bool(known)

    def _type(self, value: Any) -> Any:
        named = _named_type(value)
        if named is not None:
            return named
        value = value if isinstance(value, ast.Attribute) else self._given[value.id]
        recorded = self._type_of(value.value)
        return self._change if recorded == SINGLE and self._change != AUTOCAST else recorded


def _unknown(test: Any, given: Given, value_of: Know) -> Iterator[str]:
    if isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _unknown(each, given, value_of)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _unknown(test.operand, given, value_of)
    elif isinstance(test, ast.Name) and isinstance(given.get(test.id), (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call)):
        yield from _unknown(given[test.id], given, value_of)
    elif not (isinstance(test, ast.Call) and _asks_for_autocast(test)) and _asks_for_infinities(test) is None:
        if _compared(test, given) is None and value_of(test) is UNKNOWN:
            yield ast.unparse(test)


def _compared(test: Any, given: Given) -> Optional[Tuple[Any, List[Any], bool]]:
    """A type, and others of which it is one, or is none."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    left, right, how = test.left, test.comparators[0], test.ops[0]
    if isinstance(how, (ast.In, ast.NotIn)):
        others = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else None
    else:
        others = [right] if isinstance(how, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) else None
    if others is None or not all(_is_type(each, given) for each in (left, *others)):
        return None
    return left, others, isinstance(how, (ast.In, ast.Eq, ast.Is))


def _is_type(value: Any, given: Given) -> bool:
    if isinstance(value, ast.Name):
        value = given.get(value.id)
        return isinstance(value, ast.Attribute) and value.attr == "dtype"
    return isinstance(value, ast.Attribute) and (value.attr == "dtype" or _named_type(value) is not None)


def _named_type(value: Any) -> Optional[str]:
    if not (isinstance(value, ast.Attribute) and _is_torch(value.value)):
        return None
    return _TYPES.get(value.attr, value.attr)


def _is_torch(value: Any) -> bool:
    return isinstance(value, ast.Name) and value.id == "torch"


def _asks_for_autocast(call: Any) -> bool:
    return isinstance(call.func, (ast.Name, ast.Attribute)) and getattr(call.func, "attr", getattr(call.func, "id", "")).startswith("is_autocast_enabled")


def _asks_for_infinities(test: Any) -> Optional[bool]:
    """What comes of it where all is finite: torch.isinf(x).any(), torch.isfinite(x).all()."""
    text = ast.unparse(test)
    if isinstance(test, ast.Call) and text.endswith((".any()", ".all()")):
        if "isfinite(" in text:
            return text.endswith(".all()") or None
        if "isinf(" in text or "isnan(" in text:
            return False
    return None


def _spread(test: Any, given: Given) -> Iterator[Any]:
    """Its parts, and those of what its variables were given."""
    for each in ast.walk(test):
        yield each
        if isinstance(each, ast.Name) and each.id in given and given[each.id] is not test:
            value = given[each.id]
            if isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp)) or (isinstance(value, ast.Attribute) and value.attr == "dtype"):
                yield from ast.walk(value)
