# SPDX-License-Identifier: Apache-2.0
"""Replaces the program's optimizer of optax: optax.adam(1e-3) creates an optax.sgd(1e-3). Only the learning rate is kept."""

import sys
from typing import Any, Callable, Dict, Optional

from vramscope_core import guard, patches
from vramscope_try.notes import Notes, place

HOOK = "try.optimizer"
_REPLACED = ("adabelief", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "amsgrad", "lamb", "lars", "lion", "nadam", "nadamw", "novograd",
             "radam", "rmsprop", "sgd", "yogi")


def install(kind: str, implementation: Optional[str], notes: Notes) -> None:
    optax: Any = sys.modules["optax"]
    originals = {name: getattr(optax, name) for name in _REPLACED if hasattr(optax, name)}
    create = _creators(originals).get(kind)
    if create is None or implementation:
        notes.refused("optimizer", f"optax has no {kind}{':' + implementation if implementation else ''}")
        return
    notes.expected("optimizer", "the program created no optimizer of optax")
    for name, original in originals.items():
        patches.wrap_method(optax, name, lambda _original, name=name, original=original: _replacement(name, original, kind, create, notes))


def _creators(originals: Dict[str, Callable[..., Any]]) -> Dict[str, Callable[[Any], Any]]:
    return {
        "sgd": lambda rate: originals["sgd"](rate),
        "momentum": lambda rate: originals["sgd"](rate, momentum=0.9),
        "adam": lambda rate: originals["adam"](rate),
        "adamw": lambda rate: originals["adamw"](rate),
        "adafactor": lambda rate: originals["adafactor"](rate),
    }


def _replacement(name: str, original: Callable[..., Any], kind: str, create: Callable[[Any], Any], notes: Notes) -> Callable[..., Any]:
    def replace(call: guard.Call, *args: Any, **settings: Any) -> Any:
        rate = args[0] if args else settings.get("learning_rate")
        if rate is None:  # adafactor may do without
            notes.refused("optimizer", f"optax.{name}() at {place(sys._getframe(2))} has no learning rate")
            return call(*args, **settings)
        made = create(rate)
        notes.applied("optimizer", f"optax.{name}() -> {kind} at {place(sys._getframe(2))}")
        return made

    return guard.instead(HOOK, original, replace)
