# SPDX-License-Identifier: Apache-2.0
"""What type a function makes tensors of nothing in that is called without the argument which names it; told as a type that the program names
(factories.py), of the line that makes them when it is called from the line that leaves it out.

    def one_hot(labels, n, dtype=torch.float):
        o = torch.zeros(len(labels), n, dtype=dtype)       utils.py:214

    class Dice(nn.Module):
        def forward(self, x, labels):
            return x * one_hot(labels, x.shape[1])         "utils.py:214<dice.py:9 type"

Why: the function stands in another file, mostly, and somebody else may call it with another type.
"""

import ast
import inspect
import linecache
from types import FunctionType
from typing import Any, Dict, Iterator, Tuple

from . import factories
from .source_text import is_written_out, parse


def found_in(source: Any, file: str, names: Dict[str, Any]) -> Iterator[str]:
    """`names`: globals of the file. Each with what it asks for."""
    own = {each.id for each in ast.walk(source) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    own |= {each.arg for each in ast.walk(source) if isinstance(each, ast.arg)}
    told: Dict[str, None] = {}
    for call in ast.walk(source):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id in own:
            continue
        function = names.get(call.func.id)
        if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__") and not function.__module__.startswith("torch."):
            for line in _lines(function, call):
                told[f"{function.__code__.co_filename}:{line}<{file}:{call.lineno} type"] = None
    return iter(told)


def _lines(function: FunctionType, call: Any) -> Tuple[int, ...]:
    """That make a tensor of a type of floats which the call leaves to the function."""
    left = {name for name, value in _left_out(function, call).items() if str(value) in ("torch.float32", "torch.float16", "torch.bfloat16")}
    if not left:
        return ()
    code = function.__code__
    for each in ast.walk(parse("".join(linecache.getlines(code.co_filename)))):
        if isinstance(each, ast.FunctionDef) and each.name == code.co_name and each.lineno == code.co_firstlineno:
            left -= {name.id for name in ast.walk(each) if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Load)}
            made = [one for one in ast.walk(each) if isinstance(one, ast.Call) and factories.makes(one)]
            lines = [factories.line_of(one) for one in made]
            return tuple(line for one, line in zip(made, lines) if lines.count(line) == 1 and _named_by(one) in left)
    return ()


def _named_by(call: Any) -> str:
    return next((each.value.id for each in call.keywords if each.arg == "dtype" and isinstance(each.value, ast.Name)), "")


def _left_out(function: FunctionType, call: Any) -> Dict[str, Any]:
    """Arguments that are not given, with their values."""
    if not is_written_out(call):
        return {}
    try:
        parameters = inspect.signature(function).parameters
        given = inspect.signature(function).bind(*call.args, **{each.arg: each for each in call.keywords}).arguments
    except TypeError:
        return {}
    return {name: each.default for name, each in parameters.items() if name not in given and each.default is not each.empty}
