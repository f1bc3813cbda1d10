# SPDX-License-Identifier: Apache-2.0
"""--free-early all: donates the parameters and the optimizer state of the jitted step, so that its results take their memory.

What a function does is known when it is traced for its first call: the recorder's rules (vramscope_shim_jax.roles) tell which arguments have a next value
among the results. A function that returns only gradients is not changed: the program uses the parameters again. A donated array is deleted. If the
program still uses it after the step, JAX raises an error, as it would if the program donated it itself."""

import sys
from typing import Any, Callable, Dict, List

from vramscope_core import guard, patches
from vramscope_core.native import Role
from vramscope_try.notes import Notes

LEVER, HOOK = "free-early", "try.free-early"


def install(notes: Notes) -> None:
    jax: Any = sys.modules["jax"]
    notes.expected(LEVER, "the program has no jitted function that computes gradients and returns new parameters")

    def around(original: Callable[..., Any]) -> Callable[..., Any]:
        def jit(call: guard.Call, *args: Any, **settings: Any) -> Any:
            made = call(*args, **settings)
            if not args or not hasattr(made, "trace"):
                return made if args else _decorator(made, original, settings, notes)
            return Donating(original, args[0], settings, made, notes)

        return guard.instead(HOOK, original, jit)

    patches.wrap_method(jax, "jit", around)


def _decorator(made: Any, original: Callable[..., Any], settings: Dict[str, Any], notes: Notes) -> Callable[[Any], Any]:
    """For jax.jit(static_argnames=...) without a function, which returns a decorator."""
    return lambda function: Donating(original, function, settings, made(function), notes)


class Donating:
    """A jitted function whose first call decides which arguments it donates."""

    def __init__(self, original: Callable[..., Any], function: Any, settings: Dict[str, Any], made: Any, notes: Notes) -> None:
        self._original, self._function, self._settings, self._made, self._notes = original, function, settings, made, notes
        self._decided = False
        self.__wrapped__ = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        if not self._decided:
            self._decided = True
            self._notes.guarded(LEVER, self._decide)(args, named)
        return self._made(*args, **named)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else lambda *args, **named: self(instance, *args, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def _decide(self, args: Any, named: Any) -> None:
        from vramscope_shim_jax.roles import Roles

        program = self._made.trace(*args, **named).jaxpr.jaxpr
        names = program.debug_info.safe_arg_names(len(program.invars))
        results = program.debug_info.safe_result_paths(len(program.outvars))
        roles = Roles(program, names, results)
        if not roles.updates:
            return
        title = getattr(self._function, "__name__", "a function")
        if any(self._settings.get(name) for name in ("donate_argnums", "donate_argnames")):
            self._notes.refused(LEVER, f"the program donates arguments of {title}() itself")
            return
        if any(self._settings.get(name) for name in ("static_argnums", "static_argnames")):
            self._notes.refused(LEVER, f"{title}() has static arguments")
            return
        donated = self._updated(args, [label.role for label in roles.arguments])
        if not donated:
            return
        self._made = self._original(self._function, **{**self._settings, "donate_argnums": tuple(donated)})
        self._notes.applied(LEVER, f"jax.jit({title}, donate_argnums={tuple(donated)})")

    @staticmethod
    def _updated(args: Any, roles: List[int]) -> List[int]:
        """Numbers of the arguments that consist of parameters and optimizer state."""
        leaves_of = sys.modules["jax"].tree_util.tree_leaves
        donated, first = [], 0
        for number, argument in enumerate(args):
            count = len(leaves_of(argument))
            if count and all(role in (Role.PARAMETER, Role.OPTIMIZER_STATE) for role in roles[first:first + count]):
                donated.append(number)
            first += count
        return donated
