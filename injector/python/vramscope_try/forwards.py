# SPDX-License-Identifier: Apache-2.0
"""Another forward for chosen modules.

The class gets a forward that asks the module whether it is chosen. Not the module itself: a function kept in it would hold the module in a
circle, so that it is freed later than in the unchanged program, and a copy of the model would call the original's forward.
"""

import functools
from typing import Any, Callable, Dict, Tuple

Around = Callable[[Any, Callable[..., Any], Tuple[Any, ...], Dict[str, Any]], Any]  # module, its forward, arguments


def replace(module: Any, mark: str, around: Around) -> None:
    """`mark`: an attribute of the chosen modules; a deep copy has it too."""
    setattr(module, mark, True)
    own = vars(module).get("forward")
    if own is not None:  # put there by a library that hooks models (accelerate)
        module.forward = functools.wraps(own)(lambda *args, **named: around(module, own, args, named))
        return
    kind = type(module)
    if mark not in getattr(kind.forward, "vramscope_marks", ()):
        kind.forward = _asking(kind.forward, mark, around)


def _asking(original: Callable[..., Any], mark: str, around: Around) -> Callable[..., Any]:
    @functools.wraps(original)
    def forward(self: Any, *args: Any, **named: Any) -> Any:
        if mark in vars(self):
            return around(self, original.__get__(self), args, named)
        return original(self, *args, **named)

    forward.vramscope_marks = {*getattr(original, "vramscope_marks", ()), mark}  # type: ignore[attr-defined]
    return forward
