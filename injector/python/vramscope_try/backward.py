# SPDX-License-Identifier: Apache-2.0
"""Observes the two entry points of a backward pass: torch.autograd.backward, which Tensor.backward also calls, and torch.autograd.grad."""

import functools
import sys
from typing import Any, Callable, List, Optional, Tuple

from vramscope_core import guard

HOOK = "try.backward"


def _compiles() -> bool:
    """True while torch.compile is tracing: it then asks autograd for gradients of stand-ins."""
    context = getattr(sys.modules.get("torch._guards"), "TracingContext", None)
    return context is not None and context.try_get() is not None


class Backward:
    _instance: Optional["Backward"] = None

    @classmethod
    def of(cls, torch: Any) -> "Backward":
        if cls._instance is None:
            cls._instance = cls(torch)
        return cls._instance

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.running = 0  # passes that are running, in whatever thread
        self._before: List[Callable[[], None]] = []
        self._after_grad: List[Callable[[], None]] = []  # of one whose gradients go on being differentiated
        self.undo: List[Callable[[], None]] = []
        self.scale: Optional[Callable[[Any], Any]] = None  # of the tensors that a pass begins with
        self.weight: Optional[Callable[[], Optional[float]]] = None  # of their gradients, which begin as 1
        autograd = torch.autograd
        autograd.backward = self._backward(autograd.backward)
        autograd.grad = self._grad(autograd.grad)

    def when_begins(self, tell: Callable[[], None]) -> None:
        """`tell`: guarded."""
        self._before.append(tell)

    def when_grad_ends(self, tell: Callable[[], None]) -> None:
        """After torch.autograd.grad(create_graph=True)."""
        self._after_grad.append(tell)

    def _failed(self, _error: Exception) -> None:
        """A listener for a pass may have missed one."""
        for undo in self.undo:
            undo()

    def begins(self) -> bool:
        """Calls those that wait for a pass; False in the middle of one."""
        if self.running or _compiles():
            return False  # within another one (a re-entrant checkpoint), or a trace of one and nothing that runs
        for tell in self._before:
            tell()
        return True

    def _backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        changed = guard.hook(HOOK, self._changed, self._failed)

        @functools.wraps(original)
        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **settings: Any) -> Any:
            tensors, grad_tensors = changed(tensors, grad_tensors) or (tensors, grad_tensors)
            self.running += 1
            try:
                return original(tensors, grad_tensors, *args, **settings)
            finally:
                self.running -= 1

        return backward

    def _changed(self, tensors: Any, grad_tensors: Any) -> Tuple[Any, Any]:
        """The gradient that the pass begins with."""
        if self.begins():
            if self.scale is not None:
                tensors = self.scale(tensors)
            if self.weight is not None and grad_tensors is None:
                grad_tensors = self._weighted(tensors, self.weight())
        return tensors, grad_tensors

    def _weighted(self, tensors: Any, weight: Optional[float]) -> Any:
        """The initial gradients that autograd would create for losses, with another value; None if they are not losses."""
        torch = self._torch
        losses = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        if weight is None or not all(loss.numel() == 1 for loss in losses):
            return None
        return tuple(torch.full_like(loss, weight, requires_grad=False) for loss in losses)

    def _grad(self, original: Callable[..., Any]) -> Callable[..., Any]:
        begins, ends = guard.hook(HOOK, self.begins, self._failed), guard.hook(HOOK, self._grad_ends, self._failed)

        @functools.wraps(original)
        def grad(*args: Any, **settings: Any) -> Any:
            outer = begins()
            self.running += 1
            try:
                return original(*args, **settings)
            finally:
                self.running -= 1
                if outer:
                    ends(*args, **settings)

        return grad

    def _grad_ends(self, *args: Any, **settings: Any) -> None:
        if settings.get("create_graph") or (len(args) > 4 and args[4]):
            for tell in self._after_grad:
                tell()
