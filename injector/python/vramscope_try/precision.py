# SPDX-License-Identifier: Apache-2.0
"""Automatic mixed precision around the forward and loss of a program that does not use it.

    entered   a model is called, in training, with gradients on         where `with torch.autocast(...)` begins in code
    left      the backward pass begins, or an optimizer steps           where it ends: what is computed from the outputs, the
                                                                        loss above all, is inside
Copies of the weights in the low precision live until it is left, so these two places decide the peak. A model that is called without
gradients or in evaluation mode gets a region of its own, until it returns, unless one is open already. float16 needs loss scaling as well.

Programs that use accelerate, transformers' Trainer among them, have a switch for it in their environment: where it works, we stay out.
"""

import importlib
import os
import sys
import threading
from typing import Any

from vramscope_shim import patches

from . import blocks, outermost
from .backward import Backward
from .notes import Notes


_SWITCH = "ACCELERATE_MIXED_PRECISION"


def install(dtype: str, notes: Notes) -> None:
    os.environ.setdefault(_SWITCH, dtype)
    torch = sys.modules["torch"]
    precision = Precision(torch, {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype], notes)
    precision.install()
    if dtype == "fp16":
        from .scaling import Scaling

        Scaling(torch, lambda: precision.was_entered, notes).install()


def accelerate_does() -> bool:
    """Whether the program has made an Accelerator that uses mixed precision."""
    state = getattr(sys.modules.get("accelerate.state"), "AcceleratorState", None)
    return getattr(state, "_shared_state", {}).get("_mixed_precision", "no") in ("bf16", "fp16")


class Precision:
    def __init__(self, torch: Any, dtype: Any, notes: Notes) -> None:
        self._torch = torch
        self._dtype = dtype
        self._notes = notes
        self.was_entered = False
        self._thread = threading.local()  # region: the open autocast; brief: it ends with the call that it began with

    def install(self) -> None:
        torch = self._torch
        outermost.watch(torch, "amp", self._notes, self._model_called, self._model_returned)
        backward = Backward.of(torch)
        backward.before.append(self._leave)
        backward.after_grad.append(self._enter_again)
        optimizer = importlib.import_module("torch.optim.optimizer")
        patches.register(torch, optimizer.register_optimizer_step_pre_hook, self._optimizer_steps)

    def _model_called(self, module: Any) -> None:
        if getattr(self._thread, "region", None) is not None:
            return
        device = self._device_of(module)
        if accelerate_does():
            self._notes.applied("amp", "the mixed precision of accelerate, in the program")
            return
        if self._is_on(device):
            self._notes.refused("amp", "the program enters autocast itself")
            return
        self._thread.brief = not (module.training and self._torch.is_grad_enabled())
        self._enter(device)
        self._notes.applied("amp", f"{str(self._dtype).replace('torch.', '')} around calls of {blocks.name_of(module)} on {device}")

    def _model_returned(self, failed: bool) -> None:
        if failed or getattr(self._thread, "brief", False):
            self._leave()

    def _optimizer_steps(self, _optimizer: Any, _args: Any, _settings: Any) -> None:
        self._leave()

    def _enter(self, device: str) -> None:
        region = self._torch.autocast(device, dtype=self._dtype)
        region.__enter__()
        self._thread.region = region
        self._thread.device = device
        self.was_entered = True

    def _leave(self) -> None:
        region = getattr(self._thread, "region", None)
        if region is not None:
            self._thread.region = None
            region.__exit__(None, None, None)

    def _enter_again(self) -> None:
        """After torch.autograd.grad(create_graph=True): what is computed from its result is part of the loss."""
        device = getattr(self._thread, "device", None)
        if device is not None and not self._is_on(device):
            self._thread.brief = False
            self._enter(device)

    def _device_of(self, module: Any) -> str:
        for parameter in module.parameters():
            return str(parameter.device.type)
        return "cuda" if self._torch.cuda.is_available() else "cpu"

    def _is_on(self, device: str) -> bool:
        torch = self._torch
        try:
            return bool(torch.is_autocast_enabled(device))
        except TypeError:  # before 2.4 each device has a function of its own
            return bool(torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled())
