# SPDX-License-Identifier: Apache-2.0
"""Wraps the step() of every optimizer, outside the hooks that PyTorch calls there: the place where code would call something else instead.

A layer is called as layer(optimizer, proceed, closure) and calls proceed(closure) for the step itself, or does not. A function that it calls may call
optimizer.step() again, like GradScaler.step: that is the step itself."""

import functools
import importlib
import weakref
from typing import Any, Callable, Dict, List, Optional, Set

from vramscope_core import guard

HOOK = "try.steps"
Closure = Optional[Callable[[], Any]]
Layer = Callable[[Any, Callable[[Closure], Any], Closure], Any]


def _proceed(layers: List[Layer], optimizer: Any, step: Callable[..., Any], closure: Closure) -> Any:
    """A function that called itself by name would be a reference cycle that keeps the optimizer alive."""
    if layers:
        return layers[0](optimizer, functools.partial(_proceed, layers[1:], optimizer, step), closure)
    return step() if closure is None else step(closure=closure)


class Steps:
    _instance: Optional["Steps"] = None

    @classmethod
    def of(cls, torch: Any) -> "Steps":
        if cls._instance is None:
            cls._instance = cls(torch)
        return cls._instance

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.layers: List[Layer] = []  # the outermost first
        self.optimizers: Dict[int, Any] = {}  # weak references to all that live, by id
        self._busy: Set[int] = set()
        optimizer = importlib.import_module("torch.optim.optimizer").Optimizer
        optimizer.__init__ = self._meeting(optimizer.__init__)

    def _meeting(self, original: Callable[..., None]) -> Callable[..., None]:
        def meet(optimizer: Any, *_: Any, **__: Any) -> None:
            key = id(optimizer)
            self.optimizers[key] = weakref.ref(optimizer, functools.partial(self.optimizers.pop, key))
            kind = type(optimizer)
            if not getattr(kind.step, "vramscope_layers", False):
                kind.step = self._layered(kind.step)

        return functools.wraps(original)(guard.after(HOOK, meet)(original))

    def _layered(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def in_layers(call: guard.Call, optimizer: Any, *args: Any, **settings: Any) -> Any:
            key = id(optimizer)
            if key in self._busy:
                return call(optimizer, *args, **settings)
            if args:
                settings["closure"], args = args[0], args[1:]
            closure = settings.pop("closure", None)
            if closure is not None:
                closure = functools.partial(call.of_program, closure)
            self._busy.add(key)
            try:
                return _proceed(self.layers, optimizer, functools.partial(call, optimizer, *args, **settings), closure)
            finally:
                self._busy.discard(key)

        step = guard.instead(HOOK, original, in_layers)
        step.vramscope_layers = True  # type: ignore[attr-defined]
        return step

    def is_stepping(self, optimizer: Any) -> bool:
        return id(optimizer) in self._busy

    def living(self) -> List[Any]:
        return [optimizer for optimizer in (reference() for reference in list(self.optimizers.values())) if optimizer is not None]
