# SPDX-License-Identifier: Apache-2.0
"""Reads in the program's source which types a call passes: whether a type is written out, and whether the call passes one at all.

    x.to(torch.float32)                     written out: it stays under any change
    (w.to(torch.float32) * x).to(dtype)     the outer call may have the type that was read from a tensor
    self.scores(x)                          passes none: functools.partial(softmax, dtype=torch.float32) has its own, which stays

Python 3.11 and newer report which call of a line runs. In older releases, the whole line counts."""

import ast
import itertools
import linecache
import re
from typing import Any, Dict, FrozenSet, NamedTuple, Optional, Tuple

_WORDS = {"float32": "float32|float", "float64": "float64|double", "float16": "float16|half", "int64": "int64|long", "int32": "int32|int"}
_SPREAD = re.compile(r"[(,]\s*\*")
_NAMED = re.compile(r"(\w+)\s*=(?!=)")
_STATEMENT_LINES = 12


class Given(NamedTuple):
    """The arguments that are written in a call."""
    text: str
    names: FrozenSet[str]
    ordered: int  # number of positional arguments
    more: bool  # has *some or **some, which may pass any others


_given: Dict[Tuple[str, int, int], Given] = {}


def writes_type(frame: Any, dtype: Any) -> bool:
    name = str(dtype)[6:]
    return re.search(rf"torch\.(?:{_WORDS.get(name, name)})\b", _given_in(frame).text) is not None


def may_give(frame: Any, key: str, position: Optional[int]) -> bool:
    """True if the call may pass the argument `key` of the called function, by name or as argument number `position` (None: by name only)."""
    given = _given_in(frame)
    return given.more or key in given.names or position is not None and given.ordered >= position  # the tensor before the dot is number 0


def _given_in(frame: Any) -> Given:
    key = (frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)
    found = _given.get(key)
    if found is None:
        try:
            found = _of_call(frame)
        except (SyntaxError, ValueError):
            found = None
        found = _given[key] = found or _of_statement(frame)
    return found


def _of_call(frame: Any) -> Optional[Given]:
    code = frame.f_code
    if not hasattr(code, "co_positions"):
        return None
    first, last, begin, end = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))
    if None in (first, last, begin, end):
        return None
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    source = "(" + b"".join(lines).decode() + ")"
    call = ast.parse(source, mode="eval").body
    if not isinstance(call, ast.Call):
        return None
    text = "; ".join(ast.get_source_segment(source, each) or "" for each in (*call.args, *(named.value for named in call.keywords)))
    more = any(isinstance(each, ast.Starred) for each in call.args) or any(named.arg is None for named in call.keywords)
    return Given(text, frozenset(named.arg for named in call.keywords if named.arg), len(call.args), more)


def _of_statement(frame: Any) -> Given:
    """The line that runs, and those after it up to the closing parenthesis. Without source code, any argument may be passed."""
    text, number = "", frame.f_lineno
    while number < frame.f_lineno + _STATEMENT_LINES:
        text += linecache.getline(frame.f_code.co_filename, number)
        if text.count("(") <= text.count(")"):
            break
        number += 1
    return Given(text, frozenset(_NAMED.findall(text)), text.count(",") + 1, not text or _SPREAD.search(text) is not None)
