# SPDX-License-Identifier: Apache-2.0
"""Branches on a tensor's type whose meaning is known, found in the source of a forward.

    if x.dtype == torch.float16: x = torch.clamp(x, ...)                                       (or clip)
    if x.dtype == torch.float16: x = softmax(x, dim=-1, dtype=torch.float32).to(torch.float16)
    else: x = softmax(x, dim=-1)
    if x.dtype != self.wo.weight.dtype: x = x.to(self.wo.weight.dtype)
    if self.weight.dtype in (torch.float16, torch.bfloat16): x = x.to(self.weight.dtype)      (told by the line behind it: narrowed.py)
"""

import ast
from typing import Any, List, NamedTuple, Optional, Tuple

from .type_tests import BFLOAT16, HALF, Given, asked, come_true

CLAMP, CONVERT, SOFTMAX, UNTOLD = "clamp", "to parameter", "softmax", "untold"
CLAMPS = (CLAMP, "clip")  # two names of one function
VIEWS = {"view", "reshape", "transpose", "permute", "squeeze", "unsqueeze", "flatten"}


class Form(NamedTuple):
    what: str
    variable: str
    parameter: Tuple[str, ...] = ()  # below the module: whose type it gets
    types: Tuple[str, ...] = ()  # with which it is done


def form_of(statement: Any, given: Given) -> Optional[Form]:
    return _clamped(statement, given) or _converted(statement) or _softened(statement, given) or narrowed(statement, given)


def _clamped(statement: Any, given: Given) -> Optional[Form]:
    """x of `if x.dtype == torch.float16: ...; x = torch.clamp(x, ...)`."""
    if not isinstance(statement, ast.If) or statement.orelse or not all(isinstance(each, ast.Assign) for each in statement.body):
        return None
    name, types = _asked_alone(statement.test, given)
    call = statement.body[-1].value  # type: ignore[attr-defined]
    if name is None or not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in CLAMPS):
        return None
    of_itself = any(isinstance(each, ast.Name) and each.id == name for each in (call.func.value, *call.args[:1]))
    also = [gives(each, name) for each in statement.body]
    return Form(CLAMP, name, types=types) if of_itself and also[-1] and not any(also[:-1]) else None


def _softened(statement: Any, given: Given) -> Optional[Form]:
    """x of `if x.dtype == torch.float16: x = softmax(x, ..., dtype=torch.float32).to(torch.float16)`, `else: x = softmax(x, ...)`."""
    if not isinstance(statement, ast.If) or [len(statement.body), len(statement.orelse)] != [1, 1]:
        return None
    (low,), (single,) = statement.body, statement.orelse
    name, types = _asked_alone(statement.test, given)
    if name is None or not (isinstance(low, ast.Assign) and isinstance(single, ast.Assign) and isinstance(low.value, ast.Call)):
        return None
    if [ast.unparse(each) for each in (*low.targets, *single.targets)] != [name, name]:
        return None
    made = getattr(low.value.func, "value", None)
    if not (isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == SOFTMAX):
        return None
    back = ast.unparse(low.value)[len(ast.unparse(made)) :]
    of_half = (".to(torch.float16)", ".to(torch.half)", ".half()")
    if back != f".to({name}.dtype)" and not (types == (HALF,) and back in of_half) and not (types == (BFLOAT16,) and back == ".to(torch.bfloat16)"):
        return None
    in_single = [each for each in made.keywords if each.arg == "dtype" and ast.unparse(each.value) in ("torch.float32", "torch.float")]
    as_it_is = ast.Call(made.func, made.args, [each for each in made.keywords if each not in in_single])
    of_itself = any(isinstance(each, ast.Name) and each.id == name for each in (made.func.value, *made.args[:1]))
    return Form(SOFTMAX, name, types=types) if in_single and of_itself and ast.dump(as_it_is) == ast.dump(single.value) else None


def _asked_alone(test: Any, given: Given) -> Tuple[Optional[str], Tuple[str, ...]]:
    """The variable of which alone a type is asked, and those of which it must be for the test to be true."""
    tensors = {ast.unparse(each): each for each in asked(test, given)}
    types = come_true(test, given) if len(tensors) == 1 else ()
    (tensor,) = tensors.values() if types else (None,)
    return (tensor.id, types) if isinstance(tensor, ast.Name) else (None, ())


def _converted(statement: Any) -> Optional[Form]:
    """x of `if x.dtype != self....weight.dtype: x = x.to(self....weight.dtype)`; the test may also ask what kind of tensor the weight is."""
    if not isinstance(statement, ast.If) or statement.orelse or len(statement.body) != 1:
        return None
    x, path = _to_parameter(statement.body[0])
    weight = ".".join(("self", *path))
    known = {f"{x}.dtype != {weight}.dtype", f"{weight}.dtype != {x}.dtype"}
    others = {f"isinstance({weight}, torch.Tensor)", f"{weight}.dtype != torch.int8", f"{weight}.dtype != torch.uint8"}
    tests = set(_all_of(statement.test))
    return Form(CONVERT, x, path) if path and tests & known and tests <= known | others else None


def narrowed(statement: Any, given: Given) -> Optional[Form]:
    """x of `if self.weight.dtype in (torch.float16, torch.bfloat16): x = x.to(self.weight.dtype)`."""
    if not isinstance(statement, ast.If) or statement.orelse or len(statement.body) != 1:
        return None
    x, path = _to_parameter(statement.body[0])
    of_parameter = {ast.unparse(each) for each in asked(statement.test, given)} == {".".join(("self", *path))}
    return Form(UNTOLD, x, path) if path and of_parameter else None


def _to_parameter(statement: Any) -> Tuple[str, Tuple[str, ...]]:
    """x and a.b of `x = x.to(self.a.b.dtype)`."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "to" and len(call.args) == 1 and not call.keywords):
        return "", ()
    x, wanted = ast.unparse(call.func.value), call.args[0]
    if not (isinstance(call.func.value, ast.Name) and [ast.unparse(each) for each in statement.targets] == [x]):
        return "", ()
    return (x, below_self(wanted.value)) if isinstance(wanted, ast.Attribute) and wanted.attr == "dtype" else ("", ())


def _all_of(test: Any) -> List[str]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [each for value in test.values for each in _all_of(value)]
    return [ast.unparse(test)]


def below_self(value: Any) -> Tuple[str, ...]:
    """The names of `self.a.b`; none of what is not of that form."""
    names: List[str] = []
    while isinstance(value, ast.Attribute):
        names.insert(0, value.attr)
        value = value.value
    return tuple(names) if isinstance(value, ast.Name) and value.id == "self" else ()


def viewing(statements: List[Any], variable: str) -> List[Any]:
    """Those that give the variable a view of itself: `y = x.view(2, 3)`, and behind it `x = y.view(6)`."""
    found, views = [], {variable}
    for each in sorted(statements, key=lambda one: one.lineno):
        if not isinstance(each, ast.Assign) or len(each.targets) != 1 or not isinstance(each.targets[0], ast.Name):
            views -= {name for name in views - {variable} if gives(each, name)}
            continue
        value, name = each.value, each.targets[0].id
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in VIEWS:
            value = value.func.value
        if isinstance(value, ast.Name) and value.id in views:
            views.add(name)
            found.append(each)
        else:
            views.discard(name)
    return found


def gives(statement: ast.stmt, variable: str) -> bool:
    """Whether it gives the variable another value, apart from the statements in it."""
    own = (each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt))
    names = (each for part in own for each in ast.walk(part) if isinstance(each, ast.Name))
    return any(each.id == variable and not isinstance(each.ctx, ast.Load) for each in names)
