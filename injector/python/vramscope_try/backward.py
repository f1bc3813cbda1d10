# SPDX-License-Identifier: Apache-2.0
"""Observes the two entry points of a backward pass: torch.autograd.backward, which Tensor.backward also calls, and torch.autograd.grad."""

import functools
import sys
from typing import Any, Callable, List, Optional, Tuple

from vramscope_core import guard

HOOK = "try.backward"


def _compiles() -> bool:
    """True while torch.compile is tracing: it then requests gradients of stand-in tensors from autograd."""
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
        self._after_grad: List[Callable[[], None]] = []  # called after a pass whose gradients will be differentiated again
        self.undo: List[Callable[[], None]] = []
        self.scale: Optional[Callable[[Any], Any]] = None  # scales the tensors that a pass begins with
        self.weight: Optional[Callable[[], Optional[float]]] = None  # their initial gradient, instead of 1
        autograd = torch.autograd
        autograd.backward = self._backward(autograd.backward)
        autograd.grad = self._grad(autograd.grad)

    def when_begins(self, tell: Callable[[], None]) -> None:
        """tell() is called when a pass begins; it must be guarded."""
        self._before.append(tell)

    def when_grad_ends(self, tell: Callable[[], None]) -> None:
        """tell() is called after torch.autograd.grad(create_graph=True)."""
        self._after_grad.append(tell)

    def _failed(self, _error: Exception) -> None:
        """Called when a listener failed, which may have missed a pass: takes back what relies on it."""
        for undo in self.undo:
            undo()

    def begins(self) -> bool:
        """Calls the listeners for a pass; False if this pass is part of another one."""
        if self.running or _compiles():
            return False  # within another pass (a re-entrant checkpoint), or traced and not run
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
        """The tensors and initial gradients that the pass really begins with."""
        if self.begins():
            if self.scale is not None:
                tensors = self.scale(tensors)
            if self.weight is not None and grad_tensors is None:
                grad_tensors = self._weighted(tensors, self.weight())
        return tensors, grad_tensors

    def _weighted(self, tensors: Any, weight: Optional[float]) -> Any:
        """The initial gradients that autograd would create for losses, with the value `weight`; None if `tensors` are not losses."""
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
