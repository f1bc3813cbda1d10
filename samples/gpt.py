#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT: a decoder-only transformer that learns a made-up language.

In the language every token is followed by one of three others, and some tokens are much more frequent than others, so the loss falls
from ln 97 = 4.6 first to about 3 (frequencies learned), then towards ln 3 = 1.1 (followers learned).

    python samples/gpt.py --steps 20
    torchrun --nproc-per-node 2 samples/gpt.py --device cpu --amp bf16 --checkpoint
"""

import argparse
from typing import List, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import training

VOCABULARY = 97
CONTEXT = 64
HEAD_DIM = 32


class Attention(nn.Module):
    """Causal self-attention with all heads in one projection."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.heads = max(1, dim // HEAD_DIM)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, dim))


class Block(nn.Module):
    """Pre-norm transformer block."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(dim)
        self.attention = Attention(dim)
        self.mlp_norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Gpt(nn.Module):
    def __init__(self, layers: int, dim: int, recompute: bool = False) -> None:
        super().__init__()
        self.recompute = recompute
        self.tokens = nn.Embedding(VOCABULARY, dim)
        self.positions = nn.Embedding(CONTEXT, dim)
        self.register_buffer("position_ids", torch.arange(CONTEXT), persistent=False)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, VOCABULARY, bias=False)
        for embedding in (self.tokens, self.positions):
            nn.init.normal_(embedding.weight, std=0.02)
        self.head.weight = self.tokens.weight  # tied, as in GPT-2: one storage with two names

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(self.position_ids[: tokens.shape[1]])
        for block in self.blocks:
            x = training.run_block(block, x, self.recompute)
        return self.head(self.norm(x))


def sentences(count: int) -> Sequence[Tensor]:
    """(tokens, targets), int64 [count, CONTEXT] each; the target of a position is the token after it."""
    followers = (torch.rand(VOCABULARY, 3) ** 3 * VOCABULARY).long()  # the cube makes low numbers frequent
    text = torch.empty(count, CONTEXT + 1, dtype=torch.int64)
    text[:, 0] = torch.randint(VOCABULARY, (count,))
    for position in range(CONTEXT):
        text[:, position + 1] = followers[text[:, position], torch.randint(3, (count,))]
    return text[:, :-1].contiguous(), text[:, 1:].contiguous()


def build(options: argparse.Namespace) -> training.Job:
    model = training.distribute(Gpt(options.layers, options.dim, options.checkpoint).to(options.device), options.device)

    def loss(tokens: Tensor, targets: Tensor) -> Tensor:
        logits = model(tokens)
        return F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))

    return training.Job(
        model=model,
        optimizers=(training.make_optimizer(model, options),),
        batches=training.endless_batches(sentences(512), options),
        loss=loss,
        precision=training.Precision(options.device, options.amp),
    )


def arguments() -> argparse.ArgumentParser:
    return training.parser(__doc__, batch=8, layers=4, dim=128, steps=30, lr=2e-3)


def main(argv: Optional[Sequence[str]] = None) -> List[float]:
    options = training.start(arguments(), argv)
    return training.train(build(options), options)


if __name__ == "__main__":
    main()
