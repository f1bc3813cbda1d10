# SPDX-License-Identifier: Apache-2.0
"""Which variables of a function keep what they hold until it returns: nothing behind the place that it has reached gives them another value.

    hidden = self.layers(x)
    hidden = hidden[:, -1]
    logits = self.head(hidden)         here: hidden stays until the function returns, logits does not hold anything yet
    return loss_of(logits), logits

Why: behind a function's last call of a module nobody looks at its variables any more. Read from the byte code, once for each function: a variable
that is assigned or deleted further down, or in a loop around the place, may be given something else and does not count. What a list holds stays
as long where the variable is not even read there (variables.py sees that nobody else has the list).
"""

import dis
from typing import Any, Dict, FrozenSet, List, NamedTuple, Tuple

GENERATORS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR: they may never return


class Changes(NamedTuple):
    places: Dict[str, List[int]]  # by variable: offsets of what gives it another value, or takes it away
    uses: Dict[str, List[int]]  # the same of all that has to do with it
    loops: Tuple[Tuple[int, int], ...]  # offsets of their first and last instruction

    def lasts(self, name: str, at: int) -> bool:
        return self._are_over(self.places.get(name, []), at)

    def rests(self, name: str, at: int) -> bool:
        return self._are_over(self.uses.get(name, []), at)

    def _are_over(self, places: List[int], at: int) -> bool:
        around = [(first, last) for first, last in self.loops if first <= at <= last]
        return all(place <= at and not any(first <= place <= last for first, last in around) for place in places)


class Behind(NamedTuple):
    """A place in a function."""

    lasting: FrozenSet[str]  # variables that nothing gives another value there
    resting: FrozenSet[str]  # of these those that nothing reads either


def nothing() -> Behind:
    """Where nothing is known. No constant: it and its class would hold each other when the recorder has gone."""
    return Behind(frozenset(), frozenset())


class Lasting:
    def __init__(self) -> None:
        self._changes: Dict[Any, Changes] = {}  # by code
        self._known: Dict[Tuple[Any, int], Behind] = {}
        self._returns: Dict[Tuple[Any, int], bool] = {}

    def behind(self, code: Any, at: int) -> Behind:
        """`at`: the offset of the instruction that is being carried out (f_lasti)."""
        known = self._known.get((code, at))
        if known is None:
            known = self._known[code, at] = self._read(code, at)
        return known

    def returns_behind(self, code: Any, at: int) -> bool:
        """Whether the function returns what the call there returns: return f(x)."""
        known = self._returns.get((code, at))
        if known is None:
            behind = (each.opname for each in dis.get_instructions(code) if each.offset > at and each.opname != "CACHE")
            known = self._returns[code, at] = next(behind, "") == "RETURN_VALUE"
        return known

    def _read(self, code: Any, at: int) -> Behind:
        if code.co_flags & GENERATORS:
            return nothing()
        changes = self._changes.get(code)
        if changes is None:
            changes = self._changes[code] = _changes(code)
        lasting = frozenset(name for name in code.co_varnames if name not in code.co_cellvars and changes.lasts(name, at))
        return Behind(lasting, frozenset(name for name in lasting if changes.rests(name, at)))


def _changes(code: Any) -> Changes:
    places: Dict[str, List[int]] = {}
    uses: Dict[str, List[int]] = {}
    loops = []
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        named = value if type(value) is tuple else (value,)
        if "_FAST" in name:
            for each in named:
                uses.setdefault(each, []).append(instruction.offset)
        # From Python 3.13 on one instruction may do two things, of which the first is the one in its name.
        if "STORE_FAST" in name or "DELETE_FAST" in name or name == "LOAD_FAST_AND_CLEAR":
            for each in named[:1] if name.startswith("STORE_FAST_LOAD") else named:
                places.setdefault(each, []).append(instruction.offset)
        elif instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            if type(value) is int and value <= instruction.offset:
                loops.append((value, instruction.offset))
    return Changes(places, uses, tuple(loops))
