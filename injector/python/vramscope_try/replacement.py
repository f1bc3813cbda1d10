# SPDX-License-Identifier: Apache-2.0
"""Replaces the program's optimizer, in any framework: AdamW(lr=...) creates an SGD, with those of the hyperparameters that SGD has.

The base class of all optimizers gets a __new__ that creates the other class. So names, isinstance and subclasses stay as they are, wherever the program
imports its class from. Only arguments that the program passes and the other class accepts are passed on; defaults are the other class's own. A
framework's subclass adds what is special there."""

import inspect
import sys
from typing import Any, Callable, Dict, Set

from vramscope_core import guard

from .notes import Notes, place

HOOK = "try.optimizer"


class Replacement:
    leading = 0  # how many positional arguments every class of the framework begins with: they are passed on as they are

    def __init__(self, base: Any, name: str, notes: Notes) -> None:
        """base: the class of all optimizers; name: that of the class to create, which find() imports."""
        self._base = base
        self._name = name
        self._kind: Any = None  # until the first optimizer is created: its import may be slow
        self._notes = notes
        self._making = False
        self._ready: Set[int] = set()  # ids of new optimizers, which Python is about to initialize a second time

    def install(self) -> None:
        self._base.__new__ = guard.instead(HOOK, _new_object, self._new)

    def find(self) -> Any:
        """The class to create."""
        raise NotImplementedError

    def is_left_alone(self, cls: Any, args: Any, settings: Dict[str, Any]) -> bool:
        raise NotImplementedError

    def taken(self, args: Any, settings: Dict[str, Any]) -> Any:
        """(args, settings) in a form that can be passed twice."""
        return args, settings

    def adjust(self, mapped: Dict[str, Any], accepted: Any) -> None:
        """Changes the arguments that the other class is created with. accepted: those that it has."""

    def is_shown(self, value: Any) -> bool:
        """True for the arguments that the answer of `vramscope try` lists."""
        return isinstance(value, (int, float, tuple))

    def why_not(self, cls: Any, error: Exception) -> str:
        raise NotImplementedError

    def unchanged(self, call: guard.Call, cls: Any, args: Any, settings: Dict[str, Any]) -> Any:
        """The optimizer that the program requested."""
        return call(cls)

    def initialized(self, cls: Any, args: Any, settings: Dict[str, Any]) -> Any:
        """A new instance of `cls`, which Python will not initialize again."""
        optimizer = object.__new__(cls)
        cls.__init__(optimizer, *args, **settings)
        if cls is not self._kind:
            cls.__init__ = self._once(cls.__init__)
        self._ready.add(id(optimizer))
        return optimizer

    def _find_kind(self) -> None:
        if self._kind is None:
            self._kind = self.find()
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
        if self._making or self.is_left_alone(cls, args, settings):
            return call(cls)
        args, settings = call.of_program(self.taken, args, settings)
        try:
            self._making = True
            self._find_kind()
            mapped = self._mapped(cls, args, settings)
            optimizer = object.__new__(self._kind)
            self._kind.__init__(optimizer, *args[: self.leading], **mapped)
            shown = ", ".join(f"{name}={value!r}" for name, value in mapped.items() if self.is_shown(value))
            self._notes.applied("optimizer", f"{cls.__name__} -> {self._name}({shown}) at {place(sys._getframe())}")
        except Exception as error:
            self._notes.refused("optimizer", self.why_not(cls, error))
            return call.of_program(self.unchanged, call, cls, args, settings)
        finally:
            self._making = False
        if issubclass(self._kind, cls):
            self._ready.add(id(optimizer))
        return optimizer

    def _mapped(self, cls: Any, args: Any, settings: Dict[str, Any]) -> Dict[str, Any]:
        names = list(inspect.signature(cls.__init__).parameters)[1 + self.leading :]
        given = {**settings, **dict(zip(names, args[self.leading :]))}
        accepted = inspect.signature(self._kind.__init__).parameters
        mapped = {name: value for name, value in given.items() if name in accepted and _are_alike(value, accepted[name].default)}
        self.adjust(mapped, accepted)
        return mapped


def _new_object(cls: Any, *_: Any, **__: Any) -> Any:
    """The __new__ of a class that does not define one."""
    return object.__new__(cls)


def _are_alike(value: Any, default: Any) -> bool:
    """Adafactor's eps is a pair, that of other optimizers a number."""
    return default is inspect.Parameter.empty or isinstance(value, (tuple, list)) == isinstance(default, (tuple, list))
