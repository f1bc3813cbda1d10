# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation in a program that steps after every batch of a DataLoader. Its batches become K times smaller (batches.py), and only
the last of every K optimizer steps is taken.

    optimizer.step(), scaler.step(), scaler.update()    the first K - 1 do nothing
    optimizer.zero_grad(), model.zero_grad()            does nothing except after a step that was taken
    clip_grad_norm_()                                   only before a step that will be taken
    loss.backward()                                     begins with a gradient of 1/K instead of 1

A program without a DataLoader is left as it is, because we cannot know which batch belongs to which step."""

import functools
import importlib
import sys
from typing import Any, Callable, Dict, Optional

from vramscope_core import guard

from . import batches
from .backward import Backward
from .notes import Notes
from .steps import Closure, Steps


def install(count: int, notes: Notes) -> None:
    Accumulation(sys.modules["torch"], count, notes).install()


class Accumulation:
    def __init__(self, torch: Any, count: int, notes: Notes) -> None:
        self._torch = torch
        self._count = count
        self._notes = notes
        self._steps = Steps.of(torch)
        self._works: Optional[bool] = None  # not known before the first backward pass
        self._asked: Dict[int, int] = {}  # by id of the optimizer: how many steps were requested from it

    def install(self) -> None:
        torch = self._torch
        Backward.of(torch).weight = self._weight
        Backward.of(torch).when_begins(guard.hook("try.accumulation", self._look_for_turns))
        self._steps.layers.insert(0, self._step)
        optimizer = importlib.import_module("torch.optim.optimizer").Optimizer
        optimizer.zero_grad = self._unless(optimizer.zero_grad, lambda owner, *_, **__: self._asked.get(id(owner), 0) % self._count != 0)
        torch.nn.Module.zero_grad = self._unless(torch.nn.Module.zero_grad, lambda *_, **__: self._in_the_middle())
        kind = getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)
        base = next(each for each in reversed(kind.__mro__) if "scale" in vars(each))
        base.step = self._unless(base.step, lambda _, optimizer, *__, **___: self._passes_over(optimizer))
        base.unscale_ = self._unless(base.unscale_, lambda _, optimizer: self._is_not_last(optimizer))
        base.update = self._unless(base.update, lambda *_, **__: self._in_the_middle())
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            for module in ("torch.nn.utils.clip_grad", "torch.nn.utils"):
                owner = sys.modules[module]
                setattr(owner, name, self._unless(getattr(owner, name), self._clips_too_early, torch.zeros(())))

    def _decide(self) -> bool:
        if self._works is None:
            self._works = batches.are_changed()
            if self._works:
                self._notes.applied("accumulate", f"one step of the optimizer for {self._count} batches")
        return self._works

    def _weight(self) -> Optional[float]:
        return 1 / self._count if self._decide() else None

    def _look_for_turns(self) -> None:
        """Refuses if a pass begins after steps of one optimizer and before those of another, as in a GAN."""
        if self._works and len(set(self._asked.values())) > 1:
            self._notes.refused("accumulate", "the optimizers step in turns, and a backward pass for one of them also adds to the gradients of the others. "
                                "In code, use two loops, one after the other")

    def _step(self, optimizer: Any, proceed: Callable[[Closure], Any], closure: Closure) -> Any:
        if not self._decide():
            return proceed(closure)
        self._asked[id(optimizer)] = asked = self._asked.get(id(optimizer), 0) + 1
        if asked % self._count == 0:
            return proceed(closure)
        if closure is None:
            return None
        with self._torch.enable_grad():
            return closure()

    def _is_not_last(self, optimizer: Any) -> bool:
        """True if its next requested step will not be taken."""
        return not self._steps.is_stepping(optimizer) and (self._asked.get(id(optimizer), 0) + 1) % self._count != 0

    def _passes_over(self, optimizer: Any) -> bool:
        """The same, for a caller that is about to request a step. If True, the request is counted here and the caller does not make it."""
        if not self._is_not_last(optimizer):
            return False
        self._asked[id(optimizer)] = self._asked.get(id(optimizer), 0) + 1
        return True

    def _clips_too_early(self, *_: Any, **__: Any) -> bool:
        return any(map(self._is_not_last, self._steps.living()))

    def _in_the_middle(self) -> bool:
        return any(asked % self._count != 0 for asked in self._asked.values())

    def _unless(self, original: Callable[..., Any], superfluous: Callable[..., bool], result: Any = None) -> Callable[..., Any]:
        is_superfluous = guard.hook("try.accumulation", superfluous)

        @functools.wraps(original)
        def function(*args: Any, **settings: Any) -> Any:
            return result if self._works and is_superfluous(*args, **settings) else original(*args, **settings)

        return function
