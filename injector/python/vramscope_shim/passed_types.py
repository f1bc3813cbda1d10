# SPDX-License-Identifier: Apache-2.0
"""What type a function makes tensors of nothing in where its caller says so, by the argument which names it, or by leaving that out; told as what the
program asks for (factories.py), of the line that makes them when it is called from that line.

    def one_hot(labels, n, dtype=torch.float):
        o = torch.zeros(len(labels), n, dtype=dtype)       utils.py:214

    class Dice(nn.Module):
        def forward(self, x, labels):
            kept = one_hot(labels, 3, dtype=x.dtype)       "utils.py:214<dice.py:9 tensor@10"
            return x * one_hot(labels, x.shape[1])         "utils.py:214<dice.py:10 type"

    class Gaussian:                                        of any file, where a module's file makes one: Gaussian(y)
        def __init__(self, y):
            self.y = y
            self.mean, self.std = y.chunk(2)
        def sample(self):
            return self.mean + self.std * one_hot(0, 3, dtype=self.y.dtype)       "utils.py:214<gaussian.py:6 tensor@4"

Why: the function stands in another file, mostly, and somebody else may call it with another type.
"""

import ast
import functools
import inspect
from types import CodeType, FunctionType
from typing import Any, Dict, Iterator, List, Set, Tuple

from . import factories
from .conversions import TENSOR, TYPE, asked_names, asks_of, of_value, wanted_names
from .given_first import lines_given_attribute, lines_given_first
from .source_text import definitions_of, is_of_torch, is_written_out, line_of, stored_in
from .type_tests import given_once

_FLOATS = ("torch.float32", "torch.float16", "torch.bfloat16")


def found_in(source: Any, file: str, names: Dict[str, Any]) -> Iterator[str]:
    """`names`: globals of the file. Each with what it asks for."""
    told: Dict[str, Set[str]] = {}
    for line, asks in (*_told(source, file, names), *_told_of_objects(source, names)):
        told.setdefault(line, set()).add(asks)
    return (f"{line} {asks.pop()}" for line, asks in told.items() if len(asks) == 1)


def _told_of_objects(source: Any, names: Dict[str, Any]) -> Iterator[Tuple[str, str]]:
    """In the methods of those which the source makes, of classes in other files."""
    for kind in _classes(source, names):
        methods = [each for each in vars(kind).values() if isinstance(each, FunctionType) and each.__module__ == kind.__module__]
        if any(_passes_types_on(each) for each in methods):
            body: List[Any] = [definition for each in methods for definition in definitions_of(each.__code__)]
            yield from _told(ast.ClassDef(kind.__name__, [], [], body, []), methods[0].__code__.co_filename, methods[0].__globals__)


def _passes_types_on(function: FunctionType) -> bool:
    """As far as its code says without its source, which takes a while to read."""
    code, names = function.__code__, function.__globals__
    return "dtype" in code.co_names and any(_is_own(names.get(name)) and _made(names[name].__code__) for name in code.co_names)


def _told(part: Any, file: str, names: Dict[str, Any]) -> Iterator[Tuple[str, str]]:
    """Of the calls in that part of a file's source: the line in the function with that of the call, and what it asks for."""
    for call, called, function, kind in _calls_of_makers(part, names):
        for argument, asks in _asked(call, called, function, kind):
            yield from ((place, asks) for place in _places(called, argument, file, call))


def _calls_of_makers(part: Any, names: Dict[str, Any]) -> Iterator[Tuple[Any, FunctionType, Any, Any]]:
    """Calls of functions that make tensors of a type which an argument names; each with that function, and with the one and the class that it stands in."""
    own = _own_names(part)
    for call, function, kind in _calls(part, None, None):
        called = names.get(call.func.id) if call.func.id not in own else None
        if _is_own(called) and _made(called.__code__):
            yield call, called, function, kind


def _places(called: FunctionType, argument: str, file: str, call: Any) -> Iterator[str]:
    return (f"{called.__code__.co_filename}:{line}<{file}:{call.lineno}" for line in _made(called.__code__).get(argument, []))


def _is_own(called: Any) -> bool:
    """A function, none of torch's."""
    return isinstance(called, FunctionType) and not hasattr(called, "__wrapped__") and not is_of_torch(called)


def asked_of_variables(function: Any, file: str, names: Dict[str, Any]) -> Iterator[Tuple[str, str]]:
    """Variables that the function gives one tensor, and where tensors are made of nothing in the type of that, or converted to it: as found_in() says the place."""
    stored, given = list(stored_in(function)), given_once(function)
    for call, called, _, _ in _calls_of_makers(function, names):
        for argument, value in _arguments(call, called):
            for name in _only(stored, asked_names(value, given, 0)):
                yield from ((name, place) for place in _places(called, argument, file, call))
    for call in (each for each in ast.walk(function) if isinstance(each, ast.Call) and factories.makes(each)):
        for value in (each.value for each in call.keywords if each.arg == "dtype"):
            yield from ((name, f"{file}:{line_of(call)}") for name in _only(stored, asked_names(value, given, 0)))
    for call in (each for each in ast.walk(function) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)):
        if asks_of(call, given) == TENSOR:
            yield from ((name, f"{file}:{line_of(call)}") for name in _only(stored, iter(wanted_names(call, given))))


def _only(stored: List[str], names: Iterator[str]) -> Set[str]:
    found = set(names)
    return found if len(found) == 1 and stored.count(min(found)) == 1 else set()


def _own_names(source: Any) -> Set[str]:
    """That the file gives something else somewhere."""
    return {*stored_in(source), *(each.arg for each in ast.walk(source) if isinstance(each, ast.arg))}


def _calls(node: Any, function: Any, kind: Any) -> Iterator[Tuple[Any, Any, Any]]:
    """Of functions by their names, with the function and the class that each stands in."""
    if isinstance(node, ast.ClassDef):
        function, kind = None, node
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        function = node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield node, function, kind
    for each in ast.iter_child_nodes(node):
        yield from _calls(each, function, kind)


def _asked(call: Any, called: FunctionType, function: Any, kind: Any) -> Iterator[Tuple[str, str]]:
    """Arguments with the types that they ask for."""
    given = given_once(function) if function else {}
    for name, value in _arguments(call, called):
        if not isinstance(value, ast.AST):
            if str(value) in _FLOATS:
                yield name, TYPE
        else:
            found = set(of_value(value, given, 0))
            if found == {TYPE}:
                yield name, TYPE
            elif found == {TENSOR}:
                yield name, TENSOR + "".join(f"@{line}" for line in _lines_of_whose(function, kind, call, set(asked_names(value, given, 0))))


def _arguments(call: Any, called: FunctionType) -> Iterator[Tuple[str, Any]]:
    """What each one is given, or its default where the call says nothing of it."""
    if not is_written_out(call):
        return
    try:
        parameters = inspect.signature(called).parameters
        arguments = inspect.signature(called).bind(*call.args, **{each.arg: each.value for each in call.keywords}).arguments
    except (TypeError, ValueError):
        return
    for name, parameter in parameters.items():
        value = arguments.get(name, parameter.default)
        if not isinstance(value, tuple):  # what *values are given
            yield name, value


def _lines_of_whose(function: Any, kind: Any, call: Any, names: Any) -> List[int]:
    """Of the caller's file, which show whose type it is."""
    if not function or len(names) != 1:
        return []
    first, *path = min(names).split(".")
    if first == "self":
        return lines_given_attribute(kind, path[0]) if kind and len(path) == 1 else []
    return [] if path else lines_given_first(function, first, call.lineno)


@functools.lru_cache(maxsize=256)
def _made(code: CodeType) -> Dict[str, List[int]]:
    """Lines that make a tensor of a type which an argument names, by argument."""
    named: Dict[str, List[int]] = {}
    for each in [] if factories.MAKERS.isdisjoint(code.co_names) else definitions_of(code):
        changed = set(stored_in(each))
        made = [one for one in ast.walk(each) if isinstance(one, ast.Call) and factories.makes(one)]
        lines = [line_of(one) for one in made]
        for one, line in zip(made, lines):
            if lines.count(line) == 1 and _named_by(one) not in changed:
                named.setdefault(_named_by(one), []).append(line)
    return named


def _named_by(call: Any) -> str:
    return next((each.value.id for each in call.keywords if each.arg == "dtype" and isinstance(each.value, ast.Name)), "")


def _classes(source: Any, names: Dict[str, Any]) -> Iterator[type]:
    """Of which it makes objects: no modules and no tensors, and not those that stand in it."""
    own = _own_names(source) | {each.name for each in ast.walk(source) if isinstance(each, ast.ClassDef)}
    for name in sorted({call.func.id for call, _, _ in _calls(source, None, None)} - own):
        kind = names.get(name)
        if isinstance(kind, type) and not any(map(is_of_torch, kind.__mro__)):
            yield kind
