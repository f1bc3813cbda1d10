# SPDX-License-Identifier: Apache-2.0
"""Replaces the forward of chosen modules.

The class gets a forward that checks whether the module is chosen. Why the class and not the module: a function stored in it would hold the module in a
reference cycle. It would be freed later than in the unchanged program, and a copy of the model would call the original's forward."""

import functools
from typing import Any, Callable, Dict, Tuple

from vramscope_core import guard

HOOK = "try.forward"
Around = Callable[[Any, Any, Callable[..., Any], Tuple[Any, ...], Dict[str, Any]], Any]  # module, guard's call, its forward, arguments


def replace(module: Any, mark: str, around: Around) -> None:
    """`mark`: an attribute of the chosen modules; a deep copy has it too."""
    setattr(module, mark, True)
    own = vars(module).get("forward")
    if own is not None:  # put there by a library that hooks models (accelerate)
        module.forward = guard.instead(HOOK, own, lambda call, *args, **named: around(module, call, call, args, named), while_compiling=True)
        return
    kind = type(module)
    if mark not in getattr(kind.forward, "vramscope_marks", ()):
        kind.forward = _asking(kind.forward, mark, around)


def _asking(original: Callable[..., Any], mark: str, around: Around) -> Callable[..., Any]:
    def ask(call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if mark in vars(module):
            return around(module, call, functools.partial(call, module), args, named)
        return call(module, *args, **named)

    forward = guard.instead(HOOK, original, ask, while_compiling=True)
    forward.vramscope_marks = {*getattr(original, "vramscope_marks", ()), mark}  # type: ignore[attr-defined]
    return forward
