# SPDX-License-Identifier: Apache-2.0
"""What the program's own source says of the types in a call: whether a type is written out, and whether the call gives one at all.

    x.to(torch.float32)                     written out: it stays under any change
    (w.to(torch.float32) * x).to(dtype)     the outer call may have the type that was read from a tensor
    self.scores(x)                          gives none: functools.partial(softmax, dtype=torch.float32) has its own, which stays

Python 3.11 and newer tell which call of a line runs. Before, the whole line counts."""

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
    ordered: int  # how many without a name
    more: bool  # *some or **some: any others too


_given: Dict[Tuple[str, int, int], Given] = {}


def writes_type(frame: Any, dtype: Any) -> bool:
    name = str(dtype)[6:]
    return re.search(rf"torch\.(?:{_WORDS.get(name, name)})\b", _given_in(frame).text) is not None


def may_give(frame: Any, key: str, position: Optional[int]) -> bool:
    """Whether the call may give the argument `key` of the function that is called, which is also its argument number `position`."""
    given = _given_in(frame)
    return given.more or key in given.names or position is not None and given.ordered >= position  # the tensor before the point counts too


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
    """The line that runs, and those after it up to the closing parenthesis. Without a source anything may be given."""
    text, number = "", frame.f_lineno
    while number < frame.f_lineno + _STATEMENT_LINES:
        text += linecache.getline(frame.f_code.co_filename, number)
        if text.count("(") <= text.count(")"):
            break
        number += 1
    return Given(text, frozenset(_NAMED.findall(text)), text.count(",") + 1, not text or _SPREAD.search(text) is not None)
