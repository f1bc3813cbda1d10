# SPDX-License-Identifier: Apache-2.0
"""Builds the modules of a noted program: names, shapes, types and settings as they were, weights arbitrary.

PyTorch's own modules are real ones. Any other is a Noted under the name of its class; its forward() runs the noted calls. Modules are built on the
host first: the program's own move to the device, root.to(device), decides in which order parameters are allocated there."""

import importlib
from typing import Any, Dict, List, Optional

import torch
from torch import nn

from .decode import constant
from .quantized import none_found, quantize

SMALL = 1 << 20  # bytes


class Noted(nn.Module):
    runner: Any = None

    def forward(self, *tensors: Any, noted_call: int) -> Any:
        return self.runner.forward(noted_call, tensors)


def build(document: Dict[str, Any], device: Any, low: Optional[Any], quantized: Optional[str]) -> List[nn.Module]:
    """Builds the root modules."""
    roots: List[nn.Module] = []
    for modules in document["roots"]:
        made: Dict[str, nn.Module] = {}
        for path, number, training, *shared in modules:
            module = made[path] = _make(document["kinds"][number], document["device_type"])
            module.training = bool(training)
            for key, name in (shared[0] if shared else {}).items():
                owner, last = _owner(roots, made, name)
                table = owner._parameters if last in owner._parameters else owner._buffers
                (module._parameters if last in owner._parameters else module._buffers)[key] = table[last]
            if path:
                above, _, key = path.rpartition(".")
                made[above]._modules[key] = module
        root = made[""]
        roots.append(root)
    if quantized and not sum(quantize(root, quantized) for root in roots):
        raise ValueError(none_found(quantized))
    for root in roots:
        _to(root, device, low)
    return roots


def _owner(roots: List[nn.Module], made: Dict[str, nn.Module], name: str) -> Any:
    number, _, rest = name.rpartition(":")
    path, _, key = rest.rpartition(".")
    if number and int(number) < len(roots):
        return roots[int(number)].get_submodule(path), key
    if not number and roots:
        return roots[0].get_submodule(path), key
    return made[path], key


def _to(root: nn.Module, device: Any, low: Optional[Any]) -> None:
    """Moves a model to the device, except tensors that the program has on the host."""
    def moved(tensor: Any) -> Any:
        return tensor.to(device) if getattr(tensor, "vramscope_moves", True) else tensor

    if low is not None:
        root.to(low)
    root._apply(moved)


def _class_of(kind: Dict[str, Any]) -> Any:
    if kind["base"] is None:
        return nn.Module
    module, _, path = kind["base"].partition(":")
    found: Any = importlib.import_module(module)
    for key in path.split("."):
        found = getattr(found, key)
    return found


_classes: Dict[str, Any] = {}


def _make(kind: Dict[str, Any], noted_device: str) -> nn.Module:
    base = _class_of(kind)
    if kind.get("opaque") or kind["class"] == kind["base"] and base.forward is nn.Module.forward:
        cls = base
    else:
        key = kind["class"] + str(kind["base"])
        cls = _classes.get(key)
        if cls is None:
            bases = (Noted,) if base is nn.Module else (Noted, base)
            module, _, path = kind["class"].rpartition(":")
            cls = _classes[key] = type(path.rpartition(".")[2], bases, {"__module__": module})
    module = cls.__new__(cls)
    nn.Module.__init__(module)
    for key, value in kind.get("settings", {}).items():
        module.__dict__[key] = constant(value)
    for role, table in (("parameters", module._parameters), ("buffers", module._buffers)):
        for key, spec in kind[role].items():
            table[key] = None if spec is None else _tensor(spec, role == "parameters", noted_device)
    return module


def _tensor(spec: List[Any], is_parameter: bool, noted_device: str) -> Any:
    tensor = empty(spec, "cpu")
    if is_parameter:
        tensor = nn.Parameter(tensor, requires_grad=bool(spec[3]))
    if spec[2].partition(":")[0] != noted_device:
        tensor.vramscope_moves = False  # type: ignore[attr-defined]
    return tensor


def empty(spec: List[Any], device: Any) -> Any:
    """A tensor of this shape, type and layout. Small ones are filled with zeros, because they may be indices. Larger ones stay uninitialized, so that
    the weights of a large model never really occupy the host's memory."""
    dtype = getattr(torch, spec[1])
    made = torch.empty_strided(spec[0], spec[4], dtype=dtype, device=device) if len(spec) > 4 else torch.empty(spec[0], dtype=dtype, device=device)
    return made.zero_() if made.numel() * made.element_size() < SMALL else made
