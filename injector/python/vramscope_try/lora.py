# SPDX-License-Identifier: Apache-2.0
"""LoRA: linear layers, and everything else, are frozen; for each layer two additional matrices of a small rank are trained.

The two are modules inside the layer, created on its weight's device and in its type, in the order of the layers, before the optimizer is created. The
layer keeps its place and its class, so code that reads its weight finds it."""

import sys
from typing import Any, Dict, List, Tuple

from vramscope_core import guard

from . import blocks, complete, forwards
from .notes import Notes

_MARK = "_vramscope_lora"


def install(rank: int, wishes: List[str], notes: Notes) -> None:
    torch = sys.modules["torch"]

    def adapt(model: Any) -> None:
        if complete.is_sharded(model):
            notes.refused("lora", "the parameters are sharded before an optimizer is created for them")
            return
        layers = linears(torch, model, wishes)
        if not layers:
            notes.unmatched("lora", f"{blocks.name_of(model)} has no linear layer with a weight of its own in {', '.join(wishes) or 'its blocks'}")
            return
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        for _, layer in layers:
            _add(torch, layer, rank)
        listed = layers[0][0] if len(layers) == 1 else f"{layers[0][0]} to {layers[-1][0]}, {len(layers)} linear layers"
        notes.applied("lora", f"matrices of rank {rank} added to {listed} of {blocks.name_of(model)}; everything else is frozen")

    complete.watch(torch, "lora", notes, adapt)


def linears(torch: Any, model: Any, wishes: List[str]) -> List[Tuple[str, Any]]:
    """(path, layer) for layers whose forward only multiplies by the weight. Not those that share it: it cannot be changed for one layer alone."""
    owners: Dict[int, int] = {}
    for module in model.modules():
        for parameter in module._parameters.values():
            owners[id(parameter)] = owners.get(id(parameter), 0) + 1
    inside = {id(module) for _, block in blocks.chosen(model, ["all"]) for module in block.modules() if module is not block}
    return [(name, module) for name, module in blocks.named_modules(model)
            if (getattr(module, "vramscope_linear", False) or (type(module) is torch.nn.Linear or _is_conv1d(module)) and owners[id(module.weight)] == 1)
            and (blocks.belongs(name, wishes) if wishes else not inside or id(module) in inside)]


def _is_conv1d(module: Any) -> bool:
    """Transformers' name for a linear layer whose weight is transposed."""
    return type(module).__name__ == "Conv1D" and type(module).__module__.startswith("transformers.")


def _add(torch: Any, layer: Any, rank: int) -> None:
    if hasattr(layer, "vramscope_linear"):  # a quantized layer, which restores its weight in each call
        rows, columns, like, given = layer.out_features, layer.in_features, layer.scales, layer.codes
    else:
        like = given = layer.weight
        rows, columns = like.shape[::-1] if _is_conv1d(layer) else like.shape
    where = {"device": like.device, "dtype": like.dtype}
    layer.lora_down = torch.nn.Linear(columns, rank, bias=False, **where)
    layer.lora_up = torch.nn.Linear(rank, rows, bias=False, **where)
    torch.nn.init.zeros_(layer.lora_up.weight)
    complete.train_beside(torch, layer, given, ("lora_down", "lora_up"))
    forwards.replace(layer, _MARK, _forward)


def _forward(layer: Any, call: Any, original: Any, args: Tuple[Any, ...], named: Dict[str, Any]) -> Any:
    x = args[0] if args else named["input" if "input" in named else next(iter(named))]
    # A checkpoint ends its recomputation with an exception, as soon as the last tensor is saved: it may be one of these two.
    return original(*args, **named) + guard.of_program(call, lambda: layer.lora_up(layer.lora_down(x)))
