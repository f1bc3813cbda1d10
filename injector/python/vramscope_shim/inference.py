# SPDX-License-Identifier: Apache-2.0
"""Names the weights of a program that does not train (yet): looks at its models when it enters no_grad or inference_mode.

A program without optimizer and data loader has no obvious moment at which its models are complete and in place. But nearly all of them run under
torch.no_grad() or torch.inference_mode(). Both are restored at the end of the first training step that is seen: an optimizer of the program's own
enters no_grad() too, and the search for it starts there."""

from typing import Any, Callable, List

from vramscope_core import guard, native, patches

from .modules import Registry

HOOK = "python.first_use"


class FirstUse:
    def __init__(self, registry: Registry, entered: Callable[[], None]) -> None:
        """entered() is called each time, after the models have been examined."""
        self._registry = registry
        self._entered = entered
        self._undo: List[Callable[[], None]] = []

    def install(self, torch: Any) -> None:
        entering = guard.before(HOOK, self._entering)
        self._undo = [patches.wrap_method(owner, "__enter__", entering) for owner in (torch.no_grad, torch.inference_mode)]
        native.coverage(HOOK, native.State.HOOKED)

    def stop(self) -> None:
        while self._undo:
            self._undo.pop()()

    def _entering(self, _context: Any) -> None:
        if not _is_torch(patches.caller()):
            self._registry.look()
            self._entered()


def _is_torch(frame: Any) -> bool:
    """torch enters no_grad itself, to initialize weights and the like; but as a decorator, it is for the caller."""
    if frame.f_globals.get("__name__") in ("torch.utils._contextlib", "torch.autograd.grad_mode"):
        frame = frame.f_back or frame
    return str(frame.f_globals.get("__name__")).startswith("torch.")
