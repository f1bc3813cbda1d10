# SPDX-License-Identifier: Apache-2.0
"""Replaces the program's optimizer: Adam(learning_rate=...) and compile("adam") create an SGD. vramscope_try/replacement.py explains how."""

import importlib
import sys
from typing import Any, Dict, Optional

from vramscope_try.notes import Notes
from vramscope_try.replacement import Replacement

_CLASSES = {"sgd": "SGD", "momentum": "SGD", "adam": "Adam", "adamw": "AdamW", "adafactor": "Adafactor"}


def install(kind: str, implementation: Optional[str], notes: Notes) -> None:
    if kind not in _CLASSES:
        notes.refused("optimizer", f"Keras has no optimizer with 8-bit states, as {kind} is")
        return
    if implementation:
        notes.refused("optimizer", f"Keras has one implementation of each optimizer; leave out :{implementation}")
        return
    notes.expected("optimizer", "no optimizer of Keras was created")
    KerasReplacement(kind, notes).install()


class KerasReplacement(Replacement):
    def __init__(self, kind: str, notes: Notes) -> None:
        super().__init__(importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer, _CLASSES[kind], notes)
        self._scaling = importlib.import_module("keras.src.optimizers.loss_scale_optimizer").LossScaleOptimizer
        self._momentum = {"sgd": 0.0, "momentum": 0.9}.get(kind)

    def find(self) -> Any:
        return getattr(sys.modules["keras"].optimizers, self._name)

    def is_left_alone(self, cls: Any, args: Any, settings: Dict[str, Any]) -> bool:
        """True for an optimizer that wraps another one, for the loss scale: the inner one is already of the other class."""
        return issubclass(cls, self._scaling)

    def adjust(self, mapped: Dict[str, Any], accepted: Any) -> None:
        if self._momentum is not None:
            mapped["momentum"] = self._momentum and (mapped.get("momentum") or self._momentum)
            mapped["nesterov"] = bool(self._momentum and mapped.get("nesterov"))

    def is_shown(self, value: Any) -> bool:
        return super().is_shown(value) and value is not False

    def why_not(self, cls: Any, error: Exception) -> str:
        return f"{self._name} cannot be created with the settings of {cls.__name__} ({error})"
