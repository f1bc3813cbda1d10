# SPDX-License-Identifier: Apache-2.0
"""Linear layers with weights in 8 or 4 bits, for --quantize: a code for each element, a scale for each 64 elements.

The weight is restored while the layer multiplies, in forward and again in backward, and is frozen. Layers are replaced on the host, before the model
moves to the device: the full weights are never on the device."""

from typing import Any, List, Tuple

import torch
from torch import nn
from torch.nn import functional as F

from vramscope_try import lora

SCALED_TOGETHER = 64
# The 16 values of NF4 (Dettmers et al., QLoRA, 2023, appendix E).
NF4 = (-1.0, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0.0,
       0.0795803, 0.1609302, 0.2461123, 0.3379152, 0.4407098, 0.5626170, 0.7229568, 1.0)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, layer: "Quantized") -> Any:
        ctx.layer = layer
        return F.linear(x, layer.weight.to(x.dtype), layer.bias)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Tuple[Any, None]:
        return gradient @ ctx.layer.weight.to(gradient.dtype), None


class Quantized(nn.Module):
    vramscope_linear = True  # LoRA may be added to it

    def __init__(self, layer: Any, kind: str) -> None:
        super().__init__()
        weight = layer.weight.detach()
        self.out_features, self.in_features = weight.shape if type(layer) is nn.Linear else weight.shape[::-1]
        self.bias = layer.bias
        count = weight.numel() // SCALED_TOGETHER  # values do not matter here, only their sizes and types
        half = SCALED_TOGETHER // 2
        codes = torch.zeros(count, SCALED_TOGETHER, dtype=torch.int8) if kind == "int8" else torch.zeros(count, half, dtype=torch.uint8)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", torch.zeros(count, 1, dtype=weight.dtype))
        pairs = torch.tensor([(high, low) for high in NF4 for low in NF4], dtype=weight.dtype)  # two codes in a byte
        self.register_buffer("pairs", pairs if kind == "nf4" else None)

    @property
    def weight(self) -> Any:
        shape = (self.out_features, self.in_features)
        if self.pairs is None:
            return (self.codes * self.scales).view(shape)
        return F.embedding(self.codes.int(), self.pairs).view(-1, SCALED_TOGETHER).mul_(self.scales).view(shape)

    def forward(self, input: Any, noted_call: int = 0) -> Any:
        """noted_call: the noted body of a layer whose class is not PyTorch's own; ignored, because this layer replaces the body."""
        return _Product.apply(input, self)


def quantize(root: nn.Module, wish: str) -> int:
    """Replaces the linear layers of `root` that `wish` ("nf4", "int8:layers.*") names; returns how many."""
    kind, _, paths = wish.partition(":")
    if kind not in ("int8", "nf4"):
        raise ValueError(f"quantize: int8 or nf4, not {kind}")
    wishes: List[str] = paths.split(",") if paths else []
    found = [(name, layer) for name, layer in lora.linears(torch, root, wishes) if layer.weight.numel() % SCALED_TOGETHER == 0]
    made = {id(layer): Quantized(layer, kind) for _, layer in found}
    for above in list(root.modules()):
        for key, layer in list(above.named_children()):
            if id(layer) in made:
                setattr(above, key, made[id(layer)])
    return len(found)


def none_found(wish: str) -> str:
    return f"quantize: no linear layer with a weight of its own is in {wish.partition(':')[2] or 'a block'}"
