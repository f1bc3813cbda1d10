# SPDX-License-Identifier: Apache-2.0
"""Replaces the program's optimizer: AdamW(parameters, lr=...) creates an SGD. replacement.py explains how."""

import importlib
import sys
from typing import Any, Dict, Optional

from vramscope_core import guard

from .notes import Notes
from .replacement import Replacement

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
    TorchReplacement(kind, implementation, notes).install()


class TorchReplacement(Replacement):
    leading = 1  # the parameters

    def __init__(self, kind: str, implementation: Optional[str], notes: Notes) -> None:
        self._module, name = _CLASSES[kind]  # bitsandbytes imports half of PyTorch
        super().__init__(sys.modules["torch"].optim.Optimizer, name, notes)
        self._momentum = 0.9 if kind == "momentum" else None
        self._implementation = implementation

    def find(self) -> Any:
        return getattr(importlib.import_module(self._module), self._name)

    def is_left_alone(self, cls: Any, args: Any, settings: Dict[str, Any]) -> bool:
        """True for a class that wraps or creates an optimizer, and for a copy that pickle makes without arguments."""
        first = args[0] if args else settings.get("params")
        if first is None or hasattr(first, "param_groups") or "optimizer_class" in settings or "optimizer" in settings:
            return True
        return not hasattr(first, "__iter__")

    def taken(self, args: Any, settings: Dict[str, Any]) -> Any:
        """The parameters may come out of a generator."""
        return ((list(args[0]), *args[1:]), settings) if args else (args, {**settings, "params": list(settings["params"])})

    def unchanged(self, call: guard.Call, cls: Any, args: Any, settings: Dict[str, Any]) -> Any:
        """Initialized here, not by Python, which has only the empty generator."""
        return self.initialized(cls, args, settings)

    def adjust(self, mapped: Dict[str, Any], accepted: Any) -> None:
        if self._momentum is not None:
            mapped["momentum"] = mapped.get("momentum") or self._momentum
        elif "momentum" in accepted:
            mapped.pop("momentum", None)
            mapped.pop("nesterov", None)
        if self._implementation is not None:
            mapped.update({name: value for name, value in _IMPLEMENTATIONS[self._implementation].items() if name in accepted})

    def why_not(self, cls: Any, error: Exception) -> str:
        if isinstance(error, ModuleNotFoundError):
            package = (error.name or self._module).partition(".")[0]
            return f"{sys.executable} has no package {package}, which contains {self._name}"
        return f"{self._name} cannot be created with these parameters ({error})"
