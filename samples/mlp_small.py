#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a three-layer perceptron so small that a step takes about 0.3 ms.

The worst case for any profiler: hundreds of allocations in a step and almost no arithmetic between them. Used to measure what
recording costs.

    python samples/mlp_small.py --steps 2000 --log-every 200
"""

import argparse
from typing import List, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import training

INPUTS = 16


class Perceptron(nn.Module):
    def __init__(self, layers: int, dim: int, recompute: bool = False) -> None:
        super().__init__()
        self.recompute = recompute
        widths = [INPUTS] + [dim] * (layers - 1)
        self.hidden = nn.ModuleList(nn.Sequential(nn.Linear(before, after), nn.ReLU()) for before, after in zip(widths, widths[1:]))
        self.out = nn.Linear(widths[-1], 1)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.hidden:
            x = training.run_block(layer, x, self.recompute)
        return self.out(x)


def waves(count: int) -> Sequence[Tensor]:
    """Points and the value of a sine of their sum: float32 [count, INPUTS] and [count, 1]."""
    points = torch.randn(count, INPUTS)
    return points, torch.sin(points.sum(dim=1, keepdim=True) / 2)


def build(options: argparse.Namespace) -> training.Job:
    model = Perceptron(options.layers, options.dim, options.checkpoint).to(options.device)
    return training.Job(
        model=model,
        optimizers=(training.make_optimizer(model, options),),
        batches=training.endless_batches(waves(1024), options),
        loss=lambda points, values: F.mse_loss(model(points), values),
        precision=training.Precision(options.device, options.amp),
    )


def arguments() -> argparse.ArgumentParser:
    return training.parser(__doc__, batch=32, layers=3, dim=64, steps=400, lr=3e-3, log_every=50)


def main(argv: Optional[Sequence[str]] = None) -> List[float]:
    options = training.start(arguments(), argv)
    return training.train(build(options), options)


if __name__ == "__main__":
    main()
