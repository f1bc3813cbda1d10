# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.empty_cache() before each backward pass, before each step of an optimizer, or once a step is done: when the last of the optimizers
has stepped and the gradients are zeroed, or else before the next backward pass."""

import functools
import importlib
import sys
from typing import Any, Callable, Optional, Set

from vramscope_shim import guard

from .backward import Backward
from .notes import Notes
from .steps import Closure, Steps


def install(when: str, notes: Notes) -> None:
    torch = sys.modules["torch"]

    def empty() -> None:
        torch.cuda.empty_cache()
        notes.applied("empty-cache", when)

    if when == "before-backward":
        Backward.of(torch).when_begins(guard.hook("try.cache", empty))
    elif when == "before-optimizer":
        Steps.of(torch).layers.insert(0, functools.partial(_before_step, empty))
    else:
        _AfterStep(torch, empty).install()


def _before_step(empty: Callable[[], None], _: Any, proceed: Callable[[Closure], Any], closure: Closure) -> Any:
    empty()
    return proceed(closure)


class _AfterStep:
    def __init__(self, torch: Any, empty: Callable[[], None]) -> None:
        self._torch = torch
        self._empty = empty
        self._steps = Steps.of(torch)
        self._stepped: Set[int] = set()  # optimizers, since the last of them
        self._to_zero: Optional[Set[int]] = None  # optimizers whose gradients are waited for; None: no step is waiting

    def install(self) -> None:
        self._steps.layers.insert(0, self._step)
        Backward.of(self._torch).when_begins(guard.hook("try.cache", self._give_up))
        optimizer = importlib.import_module("torch.optim.optimizer").Optimizer
        optimizer.zero_grad = self._around(optimizer.zero_grad, lambda owner: {id(owner)})
        module = sys.modules["torch.nn"].Module
        module.zero_grad = self._around(module.zero_grad, lambda _: set(self._steps.optimizers))

    def _step(self, optimizer: Any, proceed: Callable[[Closure], Any], closure: Closure) -> Any:
        result = proceed(closure)
        self._stepped.add(id(optimizer))
        if self._stepped >= set(self._steps.optimizers):
            self._stepped.clear()
            self._to_zero = set(self._steps.optimizers)
        return result

    def _around(self, original: Callable[..., Any], zeroes: Callable[[Any], Set[int]]) -> Callable[..., Any]:
        def zeroed(owner: Any, *_: Any, **__: Any) -> None:
            if self._to_zero is not None:
                self._to_zero -= zeroes(owner)
                if not self._to_zero:
                    self._give_up()

        return functools.wraps(original)(guard.after("try.cache", zeroed)(original))

    def _give_up(self) -> None:
        if self._to_zero is not None:
            self._to_zero = None
            self._empty()
