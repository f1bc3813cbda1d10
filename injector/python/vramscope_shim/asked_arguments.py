# SPDX-License-Identifier: Apache-2.0
"""Whose type a forward asks for, where that is one of its arguments or a parameter: told at the begin of each call, in deep steps.

    def forward(self, x, position_ids):
        cos = ...                            computed of something else
        return cos.to(dtype=x.dtype)         "asked model.py:9", of x
        x = x.to(self.proj.weight.dtype)     "asked model.py:10", of that weight
        chosen = one_hot(x.argmax(-1)).to(x.dtype)       likewise: whose type integers get, where they came from does not say
        y = torch.zeros(3, dtype=x.dtype)    "asked model.py:11": so do those that make tensors of nothing

Why: in float32 the call does nothing, under autocast it converts where x is what a product of matrices made. What cos is used with says nothing of
that, and x may be used by no operator of the module. Parameters stay in float32 there, whatever is used with them.
"""

import ast
from typing import Any, Dict, List, Set

from . import factories
from .conversions import TENSOR, UNCLEAR, asked_names, asks_of
from .source_text import line_of
from .type_tests import Given


def asked_arguments(function: Any, given: Given) -> Dict[str, List[int]]:
    """By argument that stands for one tensor throughout, or "self.proj.weight" which only an object can tell: the lines that ask for its type,
    and of no other tensor's. Without self."""
    own = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    inner = [each.arg for each in ast.walk(function) if isinstance(each, ast.arg)]
    stored = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    arguments = {name for name in own[1:] if inner.count(name) == 1} - stored
    asked: Dict[int, Set[str]] = {}
    for call in ast.walk(function):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if asks_of(call, given) in (TENSOR, UNCLEAR):
            asked.setdefault(line_of(call), set()).update(_whose(call, given))
        elif factories.makes(call) and factories.asks_of(call, given) == TENSOR:
            asked.setdefault(line_of(call), set()).update(_names(call, given))
    lines: Dict[str, List[int]] = {}
    for line, names in sorted(asked.items()):
        if len(names) == 1 and (names <= arguments or parameter_path(min(names))):
            lines.setdefault(names.pop(), []).append(line)
    return lines


def parameter_path(name: str) -> List[str]:
    """["proj", "weight"] of "self.proj.weight"; empty: it is no such name."""
    first, *path = name.split(".")
    return path if first == "self" else []


def _whose(call: Any, given: Given) -> Set[str]:
    """Names of tensors; UNCLEAR where that does not show."""
    return {UNCLEAR} if asks_of(call, given) == UNCLEAR else _names(call, given)


def _names(call: Any, given: Given) -> Set[str]:
    return {name for value in (*call.args, *(each.value for each in call.keywords)) for name in asked_names(value, given, 0)} or {UNCLEAR}
