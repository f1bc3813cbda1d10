# SPDX-License-Identifier: Apache-2.0
"""A context manager around the forward and loss of a program, as if its code had a `with ...:` there.

    entered   a model is called, in training, with gradients on         where the `with` would begin
    left      the backward pass begins, or an optimizer steps           where it would end: computations on
                                                                        the outputs, above all the loss, are
                                                                        inside
A model that is called without gradients or in evaluation mode gets a region of its own until it returns,
unless one is already open."""

import importlib
import threading
from typing import Any, Callable, Optional

from vramscope_core import patches

from . import outermost
from .backward import Backward
from .notes import Notes

Make = Callable[[Any], Optional[Any]]  # the context manager for calls of a module; None: they get none
Again = Callable[[], Optional[Any]]  # the same for what is computed from a gradient


class Region:
    def __init__(self, torch: Any, lever: str, notes: Notes, make: Make, again: Again) -> None:
        self._torch = torch
        self._lever = lever
        self._notes = notes
        self._make = make
        self._again = again
        self._is_over = False
        self._thread = threading.local()  # open: the context manager; brief: it ends with the call that it began with

    def install(self) -> None:
        torch = self._torch
        outermost.watch(torch, self._lever, self._notes, self._model_called, self._model_returned, self._give_up)
        backward = Backward.of(torch)
        backward.undo.append(self._give_up)
        backward.when_begins(self._notes.guarded(self._lever, self._leave, undo=self._give_up))
        backward.when_grad_ends(self._notes.guarded(self._lever, self._enter_again, undo=self._give_up))
        optimizer = importlib.import_module("torch.optim.optimizer")
        patches.register(torch, optimizer.register_optimizer_step_pre_hook, self._notes.guarded(self._lever, self._optimizer_steps, undo=self._give_up))

    def _model_called(self, module: Any) -> None:
        if self._is_over or getattr(self._thread, "open", None) is not None:
            return
        region = self._make(module)
        if region is not None:
            self._thread.brief = not (module.training and self._torch.is_grad_enabled())
            self._enter(region)

    def _model_returned(self, failed: bool) -> None:
        if failed or getattr(self._thread, "brief", False):
            self._leave()

    def _optimizer_steps(self, _optimizer: Any, _args: Any, _settings: Any) -> None:
        self._leave()

    def _give_up(self) -> None:
        """The code that would have left a region failed: there is no region any more."""
        self._is_over = True
        self._leave()

    def _enter(self, region: Any) -> None:
        region.__enter__()
        self._thread.open = region
        self._thread.used = True

    def _leave(self) -> None:
        region = getattr(self._thread, "open", None)
        if region is not None:
            self._thread.open = None
            region.__exit__(None, None, None)

    def _enter_again(self) -> None:
        """Called after torch.autograd.grad(create_graph=True): computations on its result are part of the loss."""
        if self._is_over or not getattr(self._thread, "used", False) or getattr(self._thread, "open", None) is not None:
            return
        region = self._again()
        if region is not None:
            self._thread.brief = False
            self._enter(region)
