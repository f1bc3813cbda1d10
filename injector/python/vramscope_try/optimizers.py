# SPDX-License-Identifier: Apache-2.0
"""Replaces the program's optimizer: AdamW(parameters, lr=...) creates an SGD, with those of the hyperparameters that SGD has.

Optimizer gets a __new__ that creates the other class. So names, isinstance and subclasses stay as they are, wherever the program imports its class
from. Only arguments that the program passes and the other class accepts are passed on; defaults are the other class's own."""

import importlib
import inspect
import sys
from typing import Any, Callable, Dict, Optional, Set, Tuple

from vramscope_core import guard

from .notes import Notes, place

HOOK = "try.optimizer"

_IMPLEMENTATIONS = {
    "foreach": {"foreach": True, "fused": False},
    "fused": {"fused": True, "foreach": False},
    "loop": {"foreach": False, "fused": False},
}


_CLASSES = {
    "sgd": ("torch.optim", "SGD"), "momentum": ("torch.optim", "SGD"), "adam": ("torch.optim", "Adam"), "adamw": ("torch.optim", "AdamW"),
    "adafactor": ("torch.optim", "Adafactor"),  # since 2.5
    "adam8bit": ("bitsandbytes.optim", "Adam8bit"), "adamw8bit": ("bitsandbytes.optim", "AdamW8bit"),
}


def install(kind: str, implementation: Optional[str], notes: Notes) -> None:
    Replacement(sys.modules["torch"], _CLASSES[kind], 0.9 if kind == "momentum" else None, implementation, notes).install()


class Replacement:
    def __init__(self, torch: Any, kind: Tuple[str, str], momentum: Optional[float], implementation: Optional[str], notes: Notes) -> None:
        self._base = torch.optim.Optimizer
        self._module, self._name = kind
        self._kind: Any = None  # until the first optimizer is created: bitsandbytes imports half of PyTorch
        self._momentum = momentum
        self._implementation = implementation
        self._notes = notes
        self._making = False
        self._ready: Set[int] = set()  # ids of new optimizers, which Python is about to initialize a second time

    def install(self) -> None:
        self._base.__new__ = guard.instead(HOOK, _new_object, self._new)

    def _find_kind(self) -> None:
        if self._kind is None:
            self._kind = getattr(importlib.import_module(self._module), self._name)
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
        if self._making or not _is_given_parameters(args, settings):
            return call(cls)
        parameters = call.of_program(list, args[0] if args else settings["params"])
        try:
            self._making = True
            self._find_kind()
            mapped = self._mapped(cls, args[1:], settings)
            optimizer = object.__new__(self._kind)
            self._kind.__init__(optimizer, parameters, **mapped)
            self._notes.applied("optimizer", f"{cls.__name__} -> {self._described(mapped)} at {place(sys._getframe())}")
        except ModuleNotFoundError as error:
            package = (error.name or self._module).partition(".")[0]
            self._notes.refused("optimizer", f"{sys.executable} has no package {package}, which has {self._name}")
            return call.of_program(self._unchanged, cls, parameters, args, settings)
        except Exception as error:
            self._notes.refused("optimizer", f"{self._name} cannot be made of these parameters ({error})")
            return call.of_program(self._unchanged, cls, parameters, args, settings)
        finally:
            self._making = False
        if issubclass(self._kind, cls):
            self._ready.add(id(optimizer))
        return optimizer

    def _unchanged(self, cls: Any, parameters: Any, args: Any, settings: Dict[str, Any]) -> Any:
        """The optimizer that the program requested. `parameters` may have been taken out of a generator, so it is initialized here, not by Python."""
        optimizer = object.__new__(cls)
        if args:
            cls.__init__(optimizer, parameters, *args[1:], **settings)
        else:
            cls.__init__(optimizer, **{**settings, "params": parameters})
        if cls is not self._kind:
            cls.__init__ = self._once(cls.__init__)
        self._ready.add(id(optimizer))
        return optimizer

    def _mapped(self, cls: Any, positional: Any, settings: Dict[str, Any]) -> Dict[str, Any]:
        given = dict(settings)
        given.pop("params", None)
        names = list(inspect.signature(cls.__init__).parameters)[2:]
        given.update(zip(names, positional))
        taken = inspect.signature(self._kind.__init__).parameters
        # Adafactor's eps is a pair, that of other optimizers a number.
        mapped = {name: value for name, value in given.items() if name in taken and _is_several(value) == _is_several(taken[name].default)}
        if self._momentum is not None:
            mapped["momentum"] = mapped.get("momentum") or self._momentum
        elif "momentum" in taken:
            mapped.pop("momentum", None)
            mapped.pop("nesterov", None)
        if self._implementation is not None:
            mapped.update({name: value for name, value in _IMPLEMENTATIONS[self._implementation].items() if name in taken})
        return mapped

    def _described(self, mapped: Dict[str, Any]) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in mapped.items() if isinstance(value, (int, float, tuple)))
        return f"{self._name}({shown})"


def _new_object(cls: Any, *_: Any, **__: Any) -> Any:
    """The __new__ of a class that does not define one."""
    return object.__new__(cls)


def _is_several(value: Any) -> bool:
    return isinstance(value, (tuple, list))


def _is_given_parameters(args: Any, settings: Dict[str, Any]) -> bool:
    """False for a class that wraps or creates an optimizer, and for a copy that pickle makes without arguments."""
    first = args[0] if args else settings.get("params")
    if first is None or hasattr(first, "param_groups") or "optimizer_class" in settings or "optimizer" in settings:
        return False
    return hasattr(first, "__iter__")
