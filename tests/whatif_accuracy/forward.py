#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a model forward a few times, without autograd, with every change as a switch that such a program can make.

`snapshot` is the language model of the public recordings forward_fp32_ctx128 and forward_bf16_ctx128, reconstructed from their frames and sizes:
it allocates and frees the same tensors in the same order. The other models are those of train.py.

    python forward.py --model snapshot --amp bf16
"""

import argparse
import json
import math
from typing import Tuple

import torch
import train
from models.subject import Subject, causal, tokens
from torch import Tensor, nn

WIDTH, HEADS, BLOCKS, HIDDEN, WORDS, LENGTH = 768, 12, 12, 3072, 10_000, 128


class Linear(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, inputs))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("...i,oi->...o", x, self.weight)


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        mean = torch.einsum("...d,...d->...", x, x)[..., None] / WIDTH + 1e-5
        root = torch.sqrt(mean)
        return x / root * self.weight


class Rotation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cos", torch.zeros(LENGTH, WIDTH // HEADS))
        self.register_buffer("sin", torch.zeros(LENGTH, WIDTH // HEADS))

    @staticmethod
    def half(x: Tensor) -> Tensor:
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack((-odd, even), dim=-1).flatten(-2)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        cos = self.cos[places]
        sin = self.sin[places]
        return x * cos + self.half(x) * sin


def softmax(x: Tensor) -> Tensor:
    highest = x.max(dim=-1, keepdim=True)[0]
    exponentials = torch.exp(x - highest)
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / total


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = softmax(scores)
    return torch.einsum("bhqk,bhkd->bhqd", weights, v)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (Linear(WIDTH, WIDTH) for _ in range(4))
        self.rotation = Rotation()

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        count, length, _ = x.shape
        q = self.q(x).view(count, length, HEADS, -1).transpose(1, 2)
        k = self.k(x).view(count, length, HEADS, -1).transpose(1, 2)
        v = self.v(x).view(count, length, HEADS, -1).transpose(1, 2)
        q = self.rotation(q, places)
        k = self.rotation(k, places)
        mask = torch.tril(torch.ones(length, length, device=x.device)).bool()
        y = attend(q, k, v, mask)
        y = y.transpose(1, 2).reshape(count, length, WIDTH)
        return self.out(y)


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up, self.down = Linear(WIDTH, HIDDEN), Linear(WIDTH, HIDDEN), Linear(HIDDEN, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.einsum("...i,oi->...o", x, self.gate.weight)
        up = torch.einsum("...i,oi->...o", x, self.up.weight)
        return torch.einsum("...i,oi->...o", gate * torch.sigmoid(gate) * up, self.down.weight)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Norm(), Norm()
        self.attention, self.gated = Attention(), Gated()

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        first = self.first(x)
        attended = self.attention(first, places)
        between = x + attended
        second = self.second(between)
        gated = self.gated(second)
        return between + gated


class LanguageModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(WORDS, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm, self.head = Norm(), Linear(WIDTH, WORDS)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table[ids]
        places = torch.arange(ids.shape[1], device=ids.device)
        for block in self.blocks:
            x = block(x, places)
        normed = self.norm(x)
        return self.head(normed)


def subject_of(name: str, size: str) -> Tuple[nn.Module, Subject]:
    if name != "snapshot":
        subject = train.MODELS[name](size)
        return subject.model, subject
    with torch.device("meta"):
        model = LanguageModel()
    model = model.to_empty(device="cpu")
    return model, Subject(model, tokens(WORDS, LENGTH), causal)


def run(options: argparse.Namespace) -> None:
    if options.alloc_conf:
        torch.cuda.memory._set_allocator_settings(options.alloc_conf)
    model, subject = subject_of(options.model, options.size)
    low = train.TYPES.get(options.precision)
    model = model.to(dtype=low).to("cuda").eval()
    batch = [tensor.to("cuda", low if tensor.is_floating_point() else None) for tensor in subject.batch(options.batch)]
    for _ in range(options.calls):
        with torch.no_grad(), torch.autocast("cuda", train.TYPES.get(options.amp), enabled=options.amp is not None):
            model(batch[0])
        if options.empty_cache == "after-step":
            torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="snapshot", choices=("snapshot", *sorted(train.MODELS)))
    parser.add_argument("--size", choices=train.SIZES, default="small")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--calls", type=int, default=4)
    parser.add_argument("--amp", choices=sorted(train.TYPES))
    parser.add_argument("--precision", choices=sorted(train.TYPES))
    parser.add_argument("--alloc-conf", default="")
    parser.add_argument("--empty-cache", choices=("after-step",), default="")
    parser.add_argument("--variants", metavar="JSON", default="[]", help="a list of lists of switches: each runs in a process of its own, first")
    options = parser.parse_args()
    common = ["--model", options.model, "--size", options.size, "--batch", str(options.batch)]
    for switches in json.loads(options.variants):
        variant = parser.parse_args(common + switches)
        train.in_child(lambda variant=variant: run(variant))
    run(options)  # in the process that the recorder started, so that everything is recorded deep from the beginning
    print(train.counters())


if __name__ == "__main__":
    main()
