# SPDX-License-Identifier: Apache-2.0
"""The program's source, parsed without a word on its stderr: what its own compilation warned of, or would have, is not ours to say."""

import ast
import inspect
import linecache
import sys
import warnings
from types import CodeType
from typing import Any, Iterator, List

_OF_TENSORS = {"device", "dim", "dtype", "ndim", "shape", "size"}  # none of which types and devices have
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def parse(text: str) -> Any:
    """x.to(y) of a tensor as x.to(y.dtype), of which it is the type that counts. Raises SyntaxError. The filter goes into the list itself: warnings.simplefilter() would have Python show again what it showed once."""
    filters: Any = warnings.filters  # type: ignore[attr-defined]  # this list, whatever another thread puts in its place meanwhile
    silent = ("ignore", None, Warning, None, 0)
    filters.insert(0, silent)
    try:
        source = ast.parse(text)
    finally:
        filters.remove(silent)
    for function in ast.walk(source):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            _ask_for_types(function)
    return source


def definitions_of(code: CodeType) -> List[Any]:
    """Of that function, parsed without the rest of its file; none where that cannot be read."""
    try:
        lines = inspect.getblock(linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :])
        indented = lines[0][:1].isspace()
        part = parse("".join(["if True:\n"] * indented + lines))
    except Exception:
        return []
    ast.increment_lineno(part, code.co_firstlineno - 1 - indented)
    return [each for each in (part.body[0].body if indented else part.body) if isinstance(each, ast.FunctionDef)]


def _ask_for_types(function: Any) -> None:
    nodes = list(ast.walk(function))
    tensors = {each.value.id for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.attr in _OF_TENSORS}
    # y + x.to(y): a tensor is added to no type and to no device.
    sums = [(each.left, each.right) for each in nodes if isinstance(each, ast.BinOp)]
    beside = {(one.id, two) for pair in sums for one, two in (pair, pair[::-1]) if isinstance(one, ast.Name)}
    for each in nodes:
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "to" and len(each.args) == 1 and not each.keywords:
            other = each.args[0]
            if isinstance(other, ast.Name) and (other.id in tensors or (other.id, each) in beside):
                each.args[0] = ast.copy_location(ast.Attribute(other, "dtype", ast.Load()), other)


def within(function: Any, without: Any = SCOPES) -> Iterator[Any]:
    """The nodes of its body, in no order; what stands in a node of these kinds is left out, the node itself is not."""
    waiting = list(function.body)
    while waiting:
        each = waiting.pop()
        yield each
        if not isinstance(each, without):
            waiting += ast.iter_child_nodes(each)


def stored_in(node: Any) -> Iterator[str]:
    """Names that it gives something else, or takes away, as often as it does."""
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load))


def is_of_torch(owner: Any) -> bool:
    """A class or a function of torch itself: none of torchvision's."""
    return str(owner.__module__).split(".", 1)[0] == "torch"


def parameters(function: Any) -> List[str]:
    """In the order of the source, which is that of a call's arguments."""
    return [each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)]


def is_written_out(call: Any) -> bool:
    """No *values and no **values, so that each argument shows what it is given."""
    return not any(isinstance(each, ast.Starred) for each in call.args) and all(each.arg is not None for each in call.keywords)


def line_of(call: Any) -> int:
    """That a frame has while it runs the call: of the method's name, and before Python 3.10 of what it is called on."""
    return call.func.end_lineno if sys.version_info >= (3, 10) else call.lineno
