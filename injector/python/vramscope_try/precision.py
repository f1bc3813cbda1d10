# SPDX-License-Identifier: Apache-2.0
"""Automatic mixed precision around the forward and loss of a program that does not use it (region.py defines where it begins and ends).

Copies of the weights in the low precision live until autocast is left, so that point decides the peak. float16 needs loss scaling as well.

Programs that use accelerate, including transformers' Trainer, have a switch for it in their environment. If that works, we do nothing."""

import os
import sys
import threading
from typing import Any, Optional

from . import blocks
from .notes import Notes
from .region import Region

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
    """True if the program has created an Accelerator that uses mixed precision."""
    state = getattr(sys.modules.get("accelerate.state"), "AcceleratorState", None)
    return getattr(state, "_shared_state", {}).get("_mixed_precision", "no") in ("bf16", "fp16")


class Precision:
    def __init__(self, torch: Any, dtype: Any, notes: Notes) -> None:
        self._torch = torch
        self._dtype = dtype
        self._notes = notes
        self.was_entered = False
        self._thread = threading.local()  # device: where autocast was entered

    def install(self) -> None:
        Region(self._torch, "amp", self._notes, self._around, self._around_more).install()

    def _around(self, module: Any) -> Optional[Any]:
        device = self._device_of(module)
        if accelerate_does():
            self._notes.applied("amp", "the mixed precision of accelerate, in the program")
            return None
        if self._is_on(device):
            self._notes.refused("amp", "the program enters autocast itself")
            return None
        self._notes.applied("amp", f"{str(self._dtype).replace('torch.', '')} around calls of {blocks.name_of(module)} on {device}")
        return self._autocast(device)

    def _around_more(self) -> Optional[Any]:
        device = getattr(self._thread, "device", None)
        return None if device is None or self._is_on(device) else self._autocast(device)

    def _autocast(self, device: str) -> Any:
        self._thread.device = device
        self.was_entered = True
        return self._torch.autocast(device, dtype=self._dtype)

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
