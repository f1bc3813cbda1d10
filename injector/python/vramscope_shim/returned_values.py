# SPDX-License-Identifier: Apache-2.0
"""What an expression's value is, as far as its source says: what its last operator computes, what a call returns, or anything.

    x * y, F.relu(x), x[:, 1:]         computed
    self.norm(x), x.view(2)            what a call returns: the last that it computes, or what a module made
    f(x)[0], x.max(-1).values, (x, y)  anything: one of several, or several that stay together
"""

import ast
from typing import Any, Iterator, List, Set, Tuple

COMPUTED, CALLED, UNKNOWN = "computed", "called", "unknown"
_OPERATORS = {"torch", "F", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft"}  # F.relu(x) is no module's call
_CONTAINERS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred)
_VIEWS = {"T", "mT", "H", "mH"}


def kind_of(value: Any) -> str:
    if value is None or isinstance(value, (*_CONTAINERS, ast.IfExp, ast.BoolOp, ast.Await, ast.Lambda)) or type(value).__name__ == "NamedExpr":
        return UNKNOWN
    if isinstance(value, ast.BinOp):
        return UNKNOWN if any(isinstance(each, _CONTAINERS) for each in (value.left, value.right)) else COMPUTED
    if isinstance(value, ast.Subscript):
        return UNKNOWN if isinstance(value.value, ast.Call) and not _is_slice(value.slice) else COMPUTED
    if isinstance(value, ast.Attribute):
        return UNKNOWN if isinstance(value.value, ast.Call) and value.attr not in _VIEWS else COMPUTED
    if isinstance(value, ast.Call):
        return COMPUTED if _is_operator(value.func) else UNKNOWN if _makes_an_object(value.func) else CALLED
    return COMPUTED


def is_one_operator(value: Any) -> bool:
    """x * y, x.to(kind), F.relu(x): of names alone, and what is asked of these."""
    parts = [value.left, value.right] if isinstance(value, ast.BinOp) else [*value.args, *(each.value for each in value.keywords)] if isinstance(value, ast.Call) else []
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not _makes_an_object(value.func):
        parts.append(value.func.value)
    elif not isinstance(value, ast.BinOp):
        return False
    plain = (ast.Name, ast.Constant, ast.Attribute, ast.UnaryOp, ast.Load, ast.USub)
    return all(isinstance(each, plain) for part in parts for each in ast.walk(part))


def is_for_each_of(value: Any, several: int) -> bool:
    """[f(t) for t in (x, y, z)], (t * 2 for t in [x, y, z]): unpacked, each is made before any of them gets its name."""
    if several < 2 or not isinstance(value, (ast.ListComp, ast.GeneratorExp)) or len(value.generators) != 1 or kind_of(value.elt) == UNKNOWN:
        return False
    over = value.generators[0]
    if not isinstance(over.target, ast.Name) or over.ifs or over.is_async or not isinstance(over.iter, (ast.Tuple, ast.List)):
        return False
    used = any(isinstance(each, ast.Name) and each.id == over.target.id for each in ast.walk(value.elt))
    return used and len(over.iter.elts) == several and all(isinstance(each, ast.Name) for each in over.iter.elts)


def is_the_same_of_each(value: Any, several: int) -> bool:
    """f(x), f(y), f(z): the same but for one name. A tuple too is there before any of it gets its name."""
    if not isinstance(value, (ast.Tuple, ast.List)) or several < 2 or len(value.elts) != several:
        return False
    if any(kind_of(each) == UNKNOWN or not isinstance(each, (ast.Call, ast.BinOp, ast.Subscript)) for each in value.elts):
        return False
    first, *others = [[*ast.walk(each)] for each in value.elts]
    apart = [_names_apart(first, other) for other in others]
    return all(len(pairs) == 1 for pairs in apart) and len({one for ((one, _),) in apart}) == 1 and len({other for ((_, other),) in apart}) == len(others)


def _names_apart(first: List[Any], second: List[Any]) -> Set[Tuple[str, str]]:
    """Of two expressions' parts: the names that are others; none where more is."""
    if len(first) != len(second) or any(type(one) is not type(other) for one, other in zip(first, second)):
        return set()
    names = {(one.id, other.id) for one, other in zip(first, second) if isinstance(one, ast.Name)}
    renamed = dict(names)
    apart = {(one, other) for one, other in names if one != other}
    same = len(renamed) == len(names) and all(_own_of(one) == _own_of(other) for one, other in zip(first, second) if not isinstance(one, ast.Name))
    return apart if same else set()


def _own_of(node: Any) -> List[Any]:
    """What it says without its parts: x.float says float."""
    return [value for _, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list))]


def names_kept(value: Any) -> Iterator[str]:
    """Variables whose values a container gets, a new object, or a function that may keep them."""
    for each in ast.walk(value):
        if isinstance(each, (ast.Tuple, ast.List, ast.Set)):
            yield from (name.id for name in each.elts if isinstance(name, ast.Name))
        elif isinstance(each, ast.Dict):
            yield from (name.id for name in each.values if isinstance(name, ast.Name))
        elif isinstance(each, ast.IfExp):
            yield from (name.id for name in (each.body, each.orelse) if isinstance(name, ast.Name))
        elif isinstance(each, ast.BoolOp):
            yield from (name.id for name in each.values if isinstance(name, ast.Name))
        elif isinstance(each, ast.Call) and (each is value or _makes_an_object(each.func)) and not _is_operator(each.func):
            yield from (name.id for name in (*each.args, *(part.value for part in each.keywords)) if isinstance(name, ast.Name))


def _is_operator(called: Any) -> bool:
    """Or one that changes what it is called on, and keeps nothing."""
    return isinstance(called, ast.Attribute) and (ast.unparse(called.value) in _OPERATORS or called.attr.endswith("_"))


def _makes_an_object(called: Any) -> bool:
    """Output(loss=loss): classes are written so."""
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name[:1].isupper()


def _is_slice(index: Any) -> bool:
    """x[:, 1], x[None], which tuples do not take. Before Python 3.9 what stands in brackets has a node around it."""
    index = getattr(index, "value", index) if type(index).__name__ == "Index" else index
    return isinstance(index, (ast.Slice, ast.Tuple)) or type(index).__name__ == "ExtSlice" or (isinstance(index, ast.Constant) and index.value in (None, Ellipsis))
