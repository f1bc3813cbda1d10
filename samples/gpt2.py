#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains GPT-2 small (124 million parameters) on random tokens, in one plain file: the train.py of the documentation.

    vramscope dryrun --gpu rtx-4090 -- python samples/gpt2.py --batch 8
    torchrun --nproc-per-node 2 samples/gpt2.py

`--keep-logits` makes a common mistake: a list for later statistics keeps a large tensor of every step on the GPU.
"""
import argparse
import os

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

VOCABULARY, CONTEXT = 50257, 1024


class Block(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        parts = self.qkv(self.attention_norm(x)).view(batch, length, 3, self.heads, dim // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, dim))
        return x + self.mlp(self.mlp_norm(x))


class Gpt2(nn.Module):
    def __init__(self, layers: int, dim: int, checkpointed: bool) -> None:
        super().__init__()
        self.checkpointed = checkpointed
        self.tokens, self.positions = nn.Embedding(VOCABULARY, dim), nn.Embedding(CONTEXT, dim)
        self.blocks = nn.ModuleList(Block(dim, dim // 64) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(self.norm(x))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--checkpoint", action="store_true", help="recompute the activations of each block in backward")
    parser.add_argument("--keep-logits", action="store_true", help="a mistake: keep what the model returns in every step")
    options = parser.parse_args()

    device = options.device
    if "RANK" in os.environ:
        torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo")
        device = f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" else device
    model = Gpt2(options.layers, options.dim, options.checkpoint).to(device)
    if "RANK" in os.environ:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    kept = []
    for step in range(1, options.steps + 1):
        text = torch.randint(VOCABULARY, (options.batch, CONTEXT + 1), device=device)
        logits = model(text[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if options.keep_logits:
            kept.append(logits)
        print(f"step {step:3d}  loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
