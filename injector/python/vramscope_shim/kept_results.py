# SPDX-License-Identifier: Apache-2.0
"""What a module returned, where a variable gets it and keeps it until its function returns: told at the end of the call, in deep steps only.

    out, cache = self.net(x, return_intermediates=True)     cache, of lists of keys and values, is looked at by nobody any more, and stays
    return cross_entropy(out, labels)

Why: variables are told when a module is called (variables.py), and behind a function's last call there is none. What the source says of a variable
is enough for a tensor (functions.py): of a tuple, a dictionary or a dataclass it does not tell what is in it. Which variable gets it the byte code
behind the call tells.
"""

import dis
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import native, storage
from .lasting import GENERATORS, Lasting
from .variables import forward_in, label, may_let_go, tensors_in

PLAIN = {id(kind) for kind in (int, float, bool, str, type(None))}


class Receivers(NamedTuple):
    names: Tuple[str, ...]  # of variables; as many as are known, from the first
    each: bool  # of them is given one of several; else the one gets all
    at: int  # offset of the instruction that gives the last one its value

    def pairs(self, result: Any) -> Iterator[Tuple[str, Any]]:
        """Each variable with what it is given."""
        return zip(self.names, _several(result) if self.each else (result,))


class KeptResults:
    def __init__(self, lasting: Lasting) -> None:
        self._lasting = lasting
        self._known: Dict[Tuple[Any, int], Optional[Receivers]] = {}  # by code and the place of the call

    @staticmethod
    def may_be(result: Any) -> bool:
        """Whether there may be tensors in it."""
        return id(type(result)) not in PLAIN and not storage.is_tensor(result)

    def tell(self, result: Any, frames: List[Any]) -> None:
        """`frames`: of the call's callers, innermost first, up to the call of the module around (callers.py)."""
        forward = forward_in(frames, self._lasting)
        for i, frame in enumerate(frames):
            code, at = frame.f_code, frame.f_lasti
            if (code, at) not in self._known:
                self._known[code, at] = receivers(code, at)
            given = self._known[code, at]
            if given is None:  # handed on, to the function around
                continue
            if i >= forward:
                lasting = self._lasting.behind(code, given.at).lasting
                with storage.untouched():
                    for name, value in given.pairs(result):
                        if name in lasting and self.may_be(value) and not may_let_go(value):
                            for tensor in tensors_in(value):
                                label(native.Role.KEPT_RESULT, name, tensor)
            return


def _several(result: Any) -> Tuple[Any, ...]:
    if issubclass(type(result), tuple):
        return tuple.__getitem__(result, slice(None))
    return tuple(result) if type(result) is list else ()


def receivers(code: Any, at: int) -> Optional[Receivers]:
    """Of what the call at that offset returns. None: the function returns it."""
    if code.co_flags & GENERATORS:
        return Receivers((), False, at)
    behind = [each for each in dis.get_instructions(code) if each.offset > at and each.opname != "EXTENDED_ARG"]
    if behind and behind[0].opname == "RETURN_VALUE":
        return None
    each = bool(behind) and behind[0].opname == "UNPACK_SEQUENCE"
    wanted = behind[0].arg or 0 if each else 1
    names: List[str] = []
    last = at
    for instruction in behind[1:] if each else behind:
        # From Python 3.13 on one instruction may do two things, of which the first is the one in its name.
        if len(names) >= wanted or not instruction.opname.startswith("STORE_FAST"):
            break
        value, last = instruction.argval, instruction.offset
        names += [value] if type(value) is not tuple else value[:1] if "LOAD_FAST" in instruction.opname else value
    return Receivers(tuple(names[:wanted]), each, last)
