# SPDX-License-Identifier: Apache-2.0
"""Calls torch.cuda.empty_cache() before each backward pass, before each step of an optimizer, or once after each step: when all optimizers have stepped
and the gradients are zeroed, or otherwise before the next backward pass.

A program without an optimizer of torch.optim (fastai, Keras, its own) has no step() to observe. In such a program, a step ends when
the next batch is requested, or a model is called, after a backward pass."""

import functools
import importlib
import sys
from threading import get_ident
from typing import Any, Callable, Optional, Set

from vramscope_core import guard
from vramscope_core.import_hook import when_imported

from . import outermost
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
        _AfterStep(torch, empty).install(notes)


def _before_step(empty: Callable[[], None], _: Any, proceed: Callable[[Closure], Any], closure: Closure) -> Any:
    empty()
    return proceed(closure)


class _AfterStep:
    def __init__(self, torch: Any, empty: Callable[[], None]) -> None:
        self._torch = torch
        self._empty = empty
        self._steps = Steps.of(torch)
        self._stepped: Set[int] = set()  # optimizers that have stepped since all of them had
        self._to_zero: Optional[Set[int]] = None  # optimizers whose gradients are not zeroed yet; None: no step is waiting
        self._thread = 0  # of the last backward pass; 0: a step was seen to end since

    def install(self, notes: Notes) -> None:
        self._steps.layers.insert(0, self._step)
        Backward.of(self._torch).when_begins(guard.hook("try.cache", self._backward_begins))
        outermost.watch(self._torch, "empty-cache", notes, lambda _model: self._next_begins())
        when_imported("torch.utils.data.dataloader", guard.hook("try.cache", self._watch_loaders))
        optimizer = importlib.import_module("torch.optim.optimizer").Optimizer
        optimizer.zero_grad = self._around(optimizer.zero_grad, lambda owner: {id(owner)})
        module = sys.modules["torch.nn"].Module
        module.zero_grad = self._around(module.zero_grad, lambda _: set(self._steps.optimizers))

    def _watch_loaders(self) -> None:
        iterator = sys.modules["torch.utils.data.dataloader"]._BaseDataLoaderIter
        iterator.__next__ = functools.wraps(iterator.__next__)(guard.before("try.cache", lambda _iterator: self._next_begins())(iterator.__next__))

    def _backward_begins(self) -> None:
        self._give_up()
        self._thread = get_ident()

    def _next_begins(self) -> None:
        """A batch is requested or a model is called: a step begins, unless an optimizer of torch.optim exists, whose steps are observed instead."""
        if self._thread == get_ident() and not self._steps.optimizers:
            self._thread = 0
            self._empty()

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
