#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a generative adversarial network to place points on a ring of eight clusters.

What is special for memory: two models, two optimizers, two backward passes in one training step, and the generator's pass leaves
gradients in the discriminator that nobody uses.

    python samples/gan.py --steps 300 --log-every 20
"""

import argparse
import math
from typing import List, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import training

NOISE = 16
CLUSTERS = 8
SPREAD = 0.05


class Stack(nn.Module):
    """Linear layers; the generator normalizes between them, the discriminator does not."""

    def __init__(self, widths: Sequence[int], normalize: bool, recompute: bool) -> None:
        super().__init__()
        self.recompute = recompute
        self.blocks = nn.ModuleList()
        for before, after in zip(widths, widths[1:-1]):
            norm: nn.Module = nn.BatchNorm1d(after) if normalize else nn.Identity()
            self.blocks.append(nn.Sequential(nn.Linear(before, after), norm, nn.LeakyReLU(0.2)))
        self.out = nn.Linear(widths[-2], widths[-1])

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = training.run_block(block, x, self.recompute)
        return self.out(x)


class Gan(nn.Module):
    def __init__(self, layers: int, dim: int, recompute: bool = False) -> None:
        super().__init__()
        self.generator = Stack([NOISE] + [dim] * layers + [2], True, recompute)
        self.discriminator = Stack([2] + [dim] * layers + [1], False, recompute)

    def generate(self, like: Tensor) -> Tensor:
        return self.generator(torch.randn(len(like), NOISE, device=like.device))


def cluster_centers() -> Tensor:
    angles = torch.arange(CLUSTERS) * (2 * math.pi / CLUSTERS)
    return torch.stack([torch.cos(angles), torch.sin(angles)], dim=1)


def ring(count: int) -> Sequence[Tensor]:
    """Points near the cluster centers, float32 [count, 2]."""
    centers = cluster_centers()[torch.randint(CLUSTERS, (count,))]
    return (centers + SPREAD * torch.randn(count, 2),)


def distance_to_ring(points: Tensor) -> float:
    """Mean distance of the points to the nearest center: the goal of the training. Unlike GAN losses, it is comparable between steps."""
    return torch.cdist(points.detach().float(), cluster_centers().to(points.device)).min(dim=1).values.mean().item()


def build(options: argparse.Namespace) -> training.Job:
    """Job.optimizers are those of the discriminator and of the generator; Job.loss is the discriminator's."""
    model = Gan(options.layers, options.dim, options.checkpoint).to(options.device)

    def discriminator_loss(real: Tensor, fake: Tensor) -> Tensor:
        return F.softplus(-model.discriminator(real)).mean() + F.softplus(model.discriminator(fake)).mean()

    settings = {"betas": (0.5, 0.9)} if options.optimizer in ("adam", "adamw") else {}
    return training.Job(
        model=model,
        optimizers=tuple(training.make_optimizer(part, options, **settings) for part in (model.discriminator, model.generator)),
        batches=training.endless_batches(ring(8192), options),
        loss=discriminator_loss,
        precision=training.Precision(options.device, options.amp),
    )


def train(job: training.Job, options: argparse.Namespace, observe: training.Observer = training.ignore) -> List[float]:
    """Points are observed once for each of the two halves of a step. Returns the distance to the ring at each step."""
    discriminator_optimizer, generator_optimizer = job.optimizers
    scaler = job.precision.scaler
    history = []
    for step in range(1, options.steps + 1):
        discriminator_optimizer.zero_grad()
        observe("zero_grad", step, ())
        for _ in range(options.accumulate):
            (real,) = next(job.batches)
            observe("batch", step, ())
            with job.precision.autocast():
                fake = job.model.generate(real)
                loss = job.loss(real, fake.detach()) / options.accumulate
            observe("forward", step, (loss, fake))
            scaler.scale(loss).backward()
            observe("backward", step, (loss, fake))
        scaler.step(discriminator_optimizer)
        observe("step", step, (loss, fake))

        generator_optimizer.zero_grad()
        observe("zero_grad", step, (loss, fake))
        for _ in range(options.accumulate):
            with job.precision.autocast():
                fake = job.model.generate(real)
                generator_loss = F.softplus(-job.model.discriminator(fake)).mean() / options.accumulate
            observe("forward", step, (loss, generator_loss))
            scaler.scale(generator_loss).backward()
            observe("backward", step, (loss, generator_loss))
        scaler.step(generator_optimizer)
        scaler.update()
        observe("step", step, (loss, generator_loss))

        distance = distance_to_ring(fake)
        training.report(step, distance, options,
                        f"  (discriminator {loss.item() * options.accumulate:.4f}, generator {generator_loss.item() * options.accumulate:.4f})")
        history.append(distance)
    return history


def arguments() -> argparse.ArgumentParser:
    return training.parser(__doc__, batch=256, layers=3, dim=64, steps=200, lr=2e-3, log_every=20)


def main(argv: Optional[Sequence[str]] = None) -> List[float]:
    options = training.start(arguments(), argv)
    return train(build(options), options)


if __name__ == "__main__":
    main()
