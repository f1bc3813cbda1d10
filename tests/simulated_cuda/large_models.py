# SPDX-License-Identifier: Apache-2.0
"""Trains large models for a few steps, as a user would write it: weights made on the CPU, then moved.

    large_models.py gpt2-small|gpt-4b|llama-7b|llama-70b-fsdp2 [--steps 3]
"""
import argparse
import os
from typing import Any, Dict, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Shape(NamedTuple):
    layers: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    vocabulary: int
    context: int
    batch: int
    dtype: torch.dtype


SHAPES: Dict[str, Shape] = {
    "gpt2-small": Shape(12, 768, 12, 12, 3072, 50257, 1024, 4, torch.float32),
    "gpt-4b": Shape(32, 3072, 24, 24, 8192, 50257, 1024, 1, torch.float32),
    "llama-7b": Shape(32, 4096, 32, 32, 11008, 32000, 2048, 1, torch.bfloat16),
    "llama-70b-fsdp2": Shape(80, 8192, 64, 8, 28672, 32000, 4096, 1, torch.bfloat16),
}


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.head = shape.width // shape.heads
        self.norm, self.mlp_norm = nn.RMSNorm(shape.width), nn.RMSNorm(shape.width)
        self.query = nn.Linear(shape.width, shape.width, bias=False)
        self.key_value = nn.Linear(shape.width, 2 * shape.kv_heads * self.head, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.gate, self.up = nn.Linear(shape.width, shape.hidden, bias=False), nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def inner(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        y = self.norm(x)
        query = self.query(y).view(batch, length, -1, self.head).transpose(1, 2)
        key, value = self.key_value(y).view(batch, length, 2, -1, self.head).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=key.shape[1] != query.shape[1])
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        y = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def forward(self, x: Tensor, recompute: bool = False) -> Tensor:
        return checkpoint(self.inner, x, use_reentrant=False) if recompute else self.inner(x)


class Model(nn.Module):
    def __init__(self, shape: Shape, recompute: bool) -> None:
        super().__init__()
        self.recompute = recompute
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)

    def forward(self, text: Tensor) -> Tensor:
        x = self.tokens(text)
        for block in self.blocks:
            x = block(x, self.recompute)
        return self.head(self.norm(x))


def shard(model: Any) -> Any:
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    for block in model.blocks:
        fully_shard(block.cuda())
    return fully_shard(model.cuda())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=SHAPES)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    shape = SHAPES[options.model]
    torch.set_default_dtype(shape.dtype)
    model: Any = Model(shape, recompute=options.model.startswith("llama"))
    model = shard(model) if options.model.endswith("fsdp2") else model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(options.steps):
        text = torch.randint(shape.vocabulary, (shape.batch, shape.context + 1)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=shape.dtype == torch.float32):
            loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
