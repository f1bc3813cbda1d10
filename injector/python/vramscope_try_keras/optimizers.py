# SPDX-License-Identifier: Apache-2.0
"""Another optimizer instead of the program's: Adam(learning_rate=...) and compile("adam") give an SGD, with the hyperparameters that SGD has.

BaseOptimizer gets a __new__ that creates the other class, as vramscope_try does in PyTorch. An optimizer that wraps another one, for the loss scale, is
left alone: the inner one is already of the other class."""

import importlib
import inspect
import sys
from typing import Any, Callable, Dict, Optional, Set

from vramscope_core import guard
from vramscope_try.notes import Notes, place

HOOK = "try.optimizer"
_CLASSES = {"sgd": "SGD", "momentum": "SGD", "adam": "Adam", "adamw": "AdamW", "adafactor": "Adafactor"}


def install(kind: str, implementation: Optional[str], notes: Notes) -> None:
    if kind not in _CLASSES:
        notes.refused("optimizer", f"Keras has no optimizer with 8-bit states, as {kind} is")
        return
    if implementation:
        notes.refused("optimizer", f"Keras has one implementation of each optimizer; leave out :{implementation}")
        return
    notes.expected("optimizer", "no optimizer of Keras was created")
    Replacement(kind, notes).install()


class Replacement:
    def __init__(self, kind: str, notes: Notes) -> None:
        self._base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
        self._scaling = importlib.import_module("keras.src.optimizers.loss_scale_optimizer").LossScaleOptimizer
        self._kind: Any = getattr(sys.modules["keras"].optimizers, _CLASSES[kind])
        self._momentum = {"sgd": 0.0, "momentum": 0.9}.get(kind)
        self._notes = notes
        self._making = False
        self._ready: Set[int] = set()  # made, and about to be initialized by Python once more

    def install(self) -> None:
        self._base.__new__ = guard.instead(HOOK, _new_object, self._new)
        self._kind.__init__ = self._once(self._kind.__init__)

    def _once(self, original: Callable[..., None]) -> Callable[..., None]:
        """Python calls __init__ on the result of __new__ if it is an instance of the requested class: AdamW is an Adam."""

        def initialize(call: guard.Call, optimizer: Any, *args: Any, **settings: Any) -> None:
            if id(optimizer) in self._ready:
                self._ready.discard(id(optimizer))
                return
            call(optimizer, *args, **settings)

        return guard.instead(HOOK, original, initialize)

    def _new(self, call: guard.Call, cls: Any, *args: Any, **settings: Any) -> Any:
        if self._making or issubclass(cls, self._scaling):
            return call(cls)
        optimizer = object.__new__(self._kind)
        try:
            self._making = True
            mapped = self._mapped(cls, args, settings)
            self._kind.__init__(optimizer, **mapped)
        except Exception as error:
            self._notes.refused("optimizer", f"{self._kind.__name__} cannot be created with the settings of {cls.__name__} ({error})")
            return call(cls)
        finally:
            self._making = False
        self._notes.applied("optimizer", f"{cls.__name__} -> {self._described(mapped)} at {place(sys._getframe())}")
        if issubclass(self._kind, cls):
            self._ready.add(id(optimizer))
        return optimizer

    def _mapped(self, cls: Any, positional: Any, settings: Dict[str, Any]) -> Dict[str, Any]:
        given = dict(settings)
        given.update(zip(list(inspect.signature(cls.__init__).parameters)[1:], positional))
        taken = inspect.signature(self._kind.__init__).parameters
        mapped = {name: value for name, value in given.items() if name in taken}
        if self._momentum is not None:
            mapped["momentum"] = self._momentum and (mapped.get("momentum") or self._momentum)
            mapped["nesterov"] = bool(self._momentum and mapped.get("nesterov"))
        return mapped

    def _described(self, mapped: Dict[str, Any]) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in mapped.items() if isinstance(value, (int, float)) and value is not False)
        return f"{self._kind.__name__}({shown})"


def _new_object(cls: Any, *_: Any, **__: Any) -> Any:
    """The __new__ that a class without its own has."""
    return object.__new__(cls)
