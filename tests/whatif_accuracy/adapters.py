# SPDX-License-Identifier: Apache-2.0
"""LoRA and quantized weights in torch alone, for --lora and --quantize, and tensor parallelism."""

import re
from typing import Any, Iterator, Tuple

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn import functional as F

BLOCK = 64  # elements that share a scale
# The 16 values of NF4 (Dettmers et al., QLoRA, 2023, appendix E).
NF4 = (-1.0, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0.0,
       0.0795803, 0.1609302, 0.2461123, 0.3379152, 0.4407098, 0.5626170, 0.7229568, 1.0)


class Lora(nn.Module):
    def __init__(self, base: nn.Module, rank: int) -> None:
        super().__init__()
        rows, columns = reversed(base.weight.shape) if type(base).__name__ == "Conv1D" else base.shape if isinstance(base, Quantized) else base.weight.shape
        self.base = base
        self.down, self.up = nn.Linear(columns, rank, bias=False), nn.Linear(rank, rows, bias=False)
        nn.init.zeros_(self.up.weight)

    @property
    def weight(self) -> Any:
        """As in peft: programs read its type."""
        return self.base.weight

    def forward(self, input: Tensor) -> Tensor:  # the name as in nn.Linear: some programs pass it by name
        return self.base(input) + self.up(self.down(input))


def _expression(pattern: str) -> str:
    """* stands for one name."""
    return pattern.replace(".", r"\.").replace("*", "[^.]+")


def matches(name: str, patterns: str) -> bool:
    """True if a module or parameter matches one of the patterns, or is in a module that does."""
    return any(re.match(_expression(pattern) + r"(\.|$)", name) for pattern in patterns.split(",") if pattern)


def is_one_of(name: str, patterns: str) -> bool:
    """True if the module itself matches one of the patterns."""
    return any(re.fullmatch(_expression(pattern), name) for pattern in patterns.split(","))


def linears(model: nn.Module, patterns: str) -> Iterator[Tuple[nn.Module, str, nn.Module]]:
    """(parent, name in it, layer) of nn.Linear and of transformers' Conv1D in modules of these patterns."""
    for path, parent in list(model.named_modules()):
        for name, layer in list(parent.named_children()):
            if (isinstance(layer, (nn.Linear, Quantized)) or type(layer).__name__ == "Conv1D") and matches(f"{path}.{name}".lstrip("."), patterns):
                yield parent, name, layer


def add_lora(model: nn.Module, rank: int, patterns: str) -> None:
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parent, name, layer in linears(model, patterns):
        setattr(parent, name, Lora(layer, rank))


class Product(torch.autograd.Function):
    """A linear layer whose weight exists only while it multiplies."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, layer: "Quantized") -> Tensor:
        ctx.layer = layer
        return F.linear(x, layer.weight().to(x.dtype), layer.bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tuple[Tensor, None]:
        return gradient @ ctx.layer.weight().to(gradient.dtype), None


class Quantized(nn.Module):
    def __init__(self, layer: nn.Module, kind: str) -> None:
        super().__init__()
        weight = layer.weight.detach() if isinstance(layer, nn.Linear) else layer.weight.detach().t()
        self.shape, self.bias = weight.shape, layer.bias
        values = weight.reshape(-1, BLOCK)
        scales = values.abs().amax(1, keepdim=True)
        if kind == "int8":
            self.register_buffer("codes", (values / scales * 127).round().to(torch.int8))
            self.register_buffer("scales", scales / 127)
            self.pairs = None
            return
        nearest = (values / scales).unsqueeze(-1).sub(torch.tensor(NF4)).abs().argmin(-1).to(torch.uint8)
        self.register_buffer("codes", nearest[:, 0::2] * 16 + nearest[:, 1::2])  # two in a byte
        self.register_buffer("scales", scales)
        self.register_buffer("pairs", torch.tensor([(high, low) for high in NF4 for low in NF4]))

    def weight(self) -> Tensor:
        if self.pairs is None:
            return (self.codes * self.scales).view(self.shape)
        return F.embedding(self.codes.int(), self.pairs).view(-1, BLOCK).mul_(self.scales).view(self.shape)

    def forward(self, input: Tensor) -> Tensor:
        return Product.apply(input, self)


def quantize(model: nn.Module, kind: str, patterns: str) -> None:
    for parent, name, layer in linears(model, patterns):
        setattr(parent, name, Quantized(layer, kind))


# Layers that are split by columns, and by rows.
COLUMNS = ("qkv", "wide", "query", "key", "value", "intermediate.dense")
ROWS = ("out", "narrow", "output.dense")


def share_out(model: nn.Module, ranks: int) -> nn.Module:
    """The model as one rank of a tensor-parallel job: divides the heads of attention and the inner widths of MLPs."""
    mesh = init_device_mesh("cuda", (ranks,))
    for path, layer in list(model.named_modules()):
        if isinstance(layer, nn.Linear) and re.search(r"\.\d+\.", path):
            if path.endswith(tuple("." + name for name in COLUMNS)):
                parallelize_module(layer, mesh, ColwiseParallel())
            elif path.endswith(tuple("." + name for name in ROWS)):
                parallelize_module(layer, mesh, RowwiseParallel())
        if hasattr(layer, "heads"):
            layer.heads //= ranks
    return model
