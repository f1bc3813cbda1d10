# SPDX-License-Identifier: Apache-2.0
"""Whose type a forward asks for, where that is one of its arguments: told at the begin of each call, in deep steps.

    def forward(self, x, position_ids):
        cos = ...                            computed of something else
        return cos.to(dtype=x.dtype)         "asked model.py:9", of x

Why: in float32 the call does nothing, under autocast it converts where x is what a product of matrices made. What cos is used with says nothing of
that, and x may be used by no operator of the module.
"""

import ast
from typing import Any, Dict, List

from .conversions import TENSOR, asked_names, asks_of, is_origin, line_of
from .type_tests import Given


def asked_arguments(function: Any, given: Given) -> Dict[str, List[int]]:
    """By argument that stands for one tensor throughout: the lines that ask for its type."""
    stored = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    arguments = {each.arg for each in (*function.args.posonlyargs, *function.args.args)} - stored
    lines: Dict[str, List[int]] = {}
    for call in ast.walk(function):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)) or asks_of(call, given) != TENSOR or is_origin(function, call, given):
            continue
        names = {name for value in (*call.args, *(each.value for each in call.keywords)) for name in asked_names(value, given, 0)}
        if len(names) == 1 and names <= arguments:
            lines.setdefault(names.pop(), []).append(line_of(call))
    return lines
