#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a residual network on images of gratings: the class is the direction of the stripes.

    python samples/resnet.py --steps 20
    python samples/resnet.py --amp bf16 --workers 2 --optimizer momentum
"""

import argparse
import math
from typing import List, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import training

CLASSES = 8
SIZE = 32  # pixels on a side
STAGES = 3


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut; the first halves the resolution when the width grows."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Sequential(nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x), inplace=True)


class ResNet(nn.Module):
    """`layers` blocks in each of three stages of width dim, 2 dim, 4 dim."""

    def __init__(self, layers: int, dim: int, recompute: bool = False) -> None:
        super().__init__()
        self.recompute = recompute
        self.stem = nn.Sequential(nn.Conv2d(3, dim, 3, padding=1, bias=False), nn.BatchNorm2d(dim), nn.ReLU(inplace=True))
        self.blocks = nn.ModuleList()
        channels = dim
        for stage in range(STAGES):
            for index in range(layers):
                stride = 2 if stage > 0 and index == 0 else 1
                self.blocks.append(ResidualBlock(channels, dim << stage, stride))
                channels = dim << stage
        self.head = nn.Linear(channels, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        x = self.stem(images)
        for block in self.blocks:
            x = training.run_block(block, x, self.recompute)
        return self.head(x.mean(dim=(2, 3)))


def gratings(count: int) -> Sequence[Tensor]:
    """Noisy stripes, float32 [count, 3, SIZE, SIZE], and their direction, int64 [count]."""
    labels = torch.randint(CLASSES, (count,))
    angle = labels.view(-1, 1, 1) * (math.pi / CLASSES)
    rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    phase = torch.rand(count, 1, 1) * 2 * math.pi
    stripes = torch.sin((columns * torch.cos(angle) + rows * torch.sin(angle)) * 0.8 + phase)
    return stripes.unsqueeze(1) + 0.3 * torch.randn(count, 3, SIZE, SIZE), labels


def build(options: argparse.Namespace) -> training.Job:
    model = ResNet(options.layers, options.dim, options.checkpoint).to(options.device)
    return training.Job(
        model=model,
        optimizers=(training.make_optimizer(model, options),),
        batches=training.endless_batches(gratings(1024), options),
        loss=lambda images, labels: F.cross_entropy(model(images), labels),
        precision=training.Precision(options.device, options.amp),
    )


def arguments() -> argparse.ArgumentParser:
    return training.parser(__doc__, batch=32, layers=2, dim=16, steps=20, lr=3e-3)


def main(argv: Optional[Sequence[str]] = None) -> List[float]:
    options = training.start(arguments(), argv)
    return training.train(build(options), options)


if __name__ == "__main__":
    main()
