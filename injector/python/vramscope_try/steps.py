# SPDX-License-Identifier: Apache-2.0
"""Stands around the step() of every optimizer, outside of the hooks that PyTorch calls there: where code would write something else for it.

A layer is called as layer(optimizer, proceed, closure) and calls proceed(closure) for the step itself, or does not. What it calls may call
optimizer.step() again, as GradScaler.step does: that is the step itself.
"""

import functools
import importlib
import weakref
from typing import Any, Callable, Dict, List, Optional, Set

Closure = Optional[Callable[[], Any]]
Layer = Callable[[Any, Callable[[Closure], Any], Closure], Any]


def _proceed(layers: List[Layer], optimizer: Any, step: Callable[..., Any], closure: Closure) -> Any:
    """A function that called itself by name would be a circle that keeps the optimizer alive."""
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
        @functools.wraps(original)
        def __init__(optimizer: Any, *args: Any, **settings: Any) -> None:
            original(optimizer, *args, **settings)
            key = id(optimizer)
            self.optimizers[key] = weakref.ref(optimizer, lambda _: self.optimizers.pop(key, None))
            kind = type(optimizer)
            if not getattr(kind.step, "vramscope_layers", False):
                kind.step = self._layered(kind.step)

        return __init__

    def _layered(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def step(optimizer: Any, *args: Any, **settings: Any) -> Any:
            key = id(optimizer)
            if key in self._busy:
                return original(optimizer, *args, **settings)
            if args:
                settings["closure"], args = args[0], args[1:]
            closure = settings.pop("closure", None)
            self._busy.add(key)
            try:
                return _proceed(self.layers, optimizer, functools.partial(original, optimizer, *args, **settings), closure)
            finally:
                self._busy.discard(key)

        step.vramscope_layers = True  # type: ignore[attr-defined]
        return step

    def is_stepping(self, optimizer: Any) -> bool:
        return id(optimizer) in self._busy

    def living(self) -> List[Any]:
        return [optimizer for optimizer in (reference() for reference in list(self.optimizers.values())) if optimizer is not None]
