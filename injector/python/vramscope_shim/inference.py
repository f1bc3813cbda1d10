# SPDX-License-Identifier: Apache-2.0
"""Names the weights of a program that does not train (yet): looks at its models when it enters no_grad or inference_mode.

A program without optimizer and data loader has no obvious moment at which its models are complete and in place. But nearly all of them run under
torch.no_grad() or torch.inference_mode(). Both are restored at the end of the first training step that is seen. Until then, an entry of no_grad() also
starts the search for optimizers of the program's own, because their steps run under no_grad() too."""

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
    """True if torch itself enters no_grad, for example to initialize weights. As a decorator, no_grad is entered for the function's caller."""
    if frame.f_globals.get("__name__") in ("torch.utils._contextlib", "torch.autograd.grad_mode"):
        frame = frame.f_back or frame
    return str(frame.f_globals.get("__name__")).startswith("torch.")
