# SPDX-License-Identifier: Apache-2.0
"""Finds which values of a traced program depend on which, and which of its equations are differentiation.

For each equation, JAX keeps the transformations that created it, as a name stack:

    jvp(...)              forward, of a function that is differentiated
    transpose(jvp(...))   backward
    neither               the rest: an optimizer's arithmetic, for example

We look into a call of another program (jit inside jit, scan, checkpoint) if its arguments and results correspond one to one. Otherwise each of its
results counts as depending on each of its arguments."""

from typing import Any, Dict, Iterator, List, Sequence, Set

PLAIN, FORWARD, BACKWARD = 0, 1, 2


def kind_of(equation: Any) -> int:
    stack = str(equation.source_info.name_stack)
    if "transpose(" in stack:
        return BACKWARD
    return FORWARD if "jvp(" in stack else PLAIN


def inner_of(equation: Any) -> List[Any]:
    """The programs that an equation calls."""
    found = []
    for value in equation.params.values():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            one = getattr(one, "jaxpr", one)
            if hasattr(one, "eqns") and hasattr(one, "invars"):
                found.append(one)
    return found


def called(equation: Any) -> Any:
    """The one program with the same arguments and results as this equation; None if there is no such program."""
    inner = inner_of(equation)
    if len(inner) == 1 and len(inner[0].invars) == len(equation.invars) and len(inner[0].outvars) == len(equation.outvars):
        return inner[0]
    return None


def trains(program: Any) -> bool:
    """True if there is a backward pass in it."""
    return any(kind_of(equation) == BACKWARD or any(trains(inner) for inner in inner_of(equation)) for equation in program.eqns)


def _is_variable(value: Any) -> bool:
    return not hasattr(value, "val")  # a literal has one


def from_backward(program: Any, arguments: Sequence[bool]) -> List[bool]:
    """For each result, whether it comes from a backward pass. `arguments`: the same for each argument."""
    known: Set[Any] = {variable for variable, from_it in zip(program.invars, arguments) if from_it}
    for equation in program.eqns:
        kind, inner = kind_of(equation), called(equation)
        given = [_is_variable(value) and value in known for value in equation.invars]
        if kind == PLAIN and inner is not None:
            results = from_backward(inner, given)
        else:
            trained_in = kind == PLAIN and any(trains(one) for one in inner_of(equation))
            results = [kind == BACKWARD or (kind == PLAIN and (any(given) or trained_in))] * len(equation.outvars)
        known.update(variable for variable, from_it in zip(equation.outvars, results) if from_it)
    return [_is_variable(value) and value in known for value in program.outvars]


def differentiated(program: Any, results: Sequence[bool]) -> List[bool]:
    """For each argument, whether a differentiated function uses it. `results`: for each result, whether such a function uses it later."""
    used: Set[Any] = {value for value, is_used in zip(program.outvars, results) if is_used and _is_variable(value)}
    for equation in reversed(program.eqns):
        kind, inner = kind_of(equation), called(equation)
        wanted = [variable in used for variable in equation.outvars]
        if kind == PLAIN and inner is not None:
            needed = differentiated(inner, wanted)
        else:
            trained_in = kind == PLAIN and any(trains(one) for one in inner_of(equation))
            needed = [kind != PLAIN or any(wanted) or trained_in] * len(equation.invars)
        used.update(value for value, is_used in zip(equation.invars, needed) if is_used and _is_variable(value))
    return [variable in used for variable in program.invars]


class Updates:
    """Finds out whether a result is an argument's next value: computed from it outside of differentiation, or returned as it is."""

    MOST_EQUATIONS = 100_000  # that are looked at for all results together

    def __init__(self, program: Any) -> None:
        self._program = program
        self._maker: Dict[Any, Any] = {variable: equation for equation in program.eqns for variable in equation.outvars}
        self._left = self.MOST_EQUATIONS

    def is_next_value(self, result: int, argument: int) -> bool:
        wanted = self._program.invars[argument]
        seen: Set[Any] = set()
        waiting = [self._program.outvars[result]]
        while waiting and self._left > 0:
            value = waiting.pop()
            if not _is_variable(value) or value in seen:
                continue
            if value is wanted:
                return True
            seen.add(value)
            equation = self._maker.get(value)
            self._left -= 1
            if equation is not None and kind_of(equation) == PLAIN:
                waiting.extend(self._sources(equation, value))
        return False

    @staticmethod
    def _sources(equation: Any, value: Any) -> Iterator[Any]:
        """The arguments of an equation on which its result depends outside of differentiation."""
        inner = called(equation)
        if inner is None:
            yield from equation.invars
            return
        result = next(number for number, variable in enumerate(equation.outvars) if variable is value)
        updates = Updates(inner)
        for number, argument in enumerate(equation.invars):
            if updates.is_next_value(result, number):
                yield argument
