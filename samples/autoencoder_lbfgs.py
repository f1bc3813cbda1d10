#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains an autoencoder with L-BFGS, whose step() calls forward and backward several times itself.

What is special for memory: the optimizer keeps a history of whole-model vectors, and backward runs inside the optimizer step.

    python samples/autoencoder_lbfgs.py --steps 5
"""

import argparse
from typing import List, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import training

INPUTS = 64
CODE = 4


class Autoencoder(nn.Module):
    """INPUTS -> `layers` hidden layers -> CODE -> the same backwards."""

    def __init__(self, layers: int, dim: int, recompute: bool = False) -> None:
        super().__init__()
        self.recompute = recompute
        widths = [INPUTS] + [dim] * layers
        self.encoder = self._stack(widths + [CODE])
        self.decoder = self._stack([CODE] + widths[::-1])

    @staticmethod
    def _stack(widths: Sequence[int]) -> nn.ModuleList:
        layers = [nn.Sequential(nn.Linear(before, after), nn.Tanh()) for before, after in zip(widths, widths[1:-1])]
        return nn.ModuleList(layers + [nn.Linear(widths[-2], widths[-1])])

    def forward(self, x: Tensor) -> Tensor:
        for layer in (*self.encoder, *self.decoder):
            x = training.run_block(layer, x, self.recompute)
        return x


def curves(count: int) -> Sequence[Tensor]:
    """Smooth curves with CODE degrees of freedom, float32 [count, INPUTS], so that a code of that length exists."""
    x = torch.linspace(0, 1, INPUTS)
    waves = torch.stack([torch.sin((k + 1) * torch.pi * x) for k in range(CODE)])
    return (torch.randn(count, CODE) @ waves,)


def build(options: argparse.Namespace) -> training.Job:
    model = Autoencoder(options.layers, options.dim, options.checkpoint).to(options.device)
    return training.Job(
        model=model,
        optimizers=(torch.optim.LBFGS(model.parameters(), lr=options.lr, max_iter=4, history_size=5, line_search_fn="strong_wolfe"),),
        batches=training.endless_batches(curves(512), options),
        loss=lambda curve: F.mse_loss(model(curve), curve),
        precision=training.Precision(options.device, options.amp),
    )


def train(job: training.Job, options: argparse.Namespace, observe: training.Observer = training.ignore) -> List[float]:
    """Like training.train, but forward and backward are in the closure. L-BFGS needs a fixed function, so all steps see the same batches."""
    (optimizer,) = job.optimizers
    batches = [next(job.batches) for _ in range(options.accumulate)]
    history = []
    for step in range(1, options.steps + 1):
        observe("batch", step, ())

        def closure(at_step: int = step) -> Tensor:
            optimizer.zero_grad()
            total = torch.zeros((), device=options.device)
            for batch in batches:
                with job.precision.autocast():
                    loss = job.loss(*batch) / options.accumulate
                observe("forward", at_step, (loss,))
                loss.backward()
                observe("backward", at_step, (loss,))
                total += loss.detach()
            return total

        loss = optimizer.step(closure).item()
        observe("step", step, ())
        optimizer.zero_grad()
        observe("zero_grad", step, ())
        training.report(step, loss, options)
        history.append(loss)
    return history


def arguments() -> argparse.ArgumentParser:
    # Loss scaling cannot check gradients between the evaluations of a closure, hence no fp16.
    return training.parser(__doc__, optimizers=("lbfgs",), amp=("none", "bf16"), batch=256, layers=2, dim=64, steps=10, lr=1.0)


def main(argv: Optional[Sequence[str]] = None) -> List[float]:
    options = training.start(arguments(), argv)
    return train(build(options), options)


if __name__ == "__main__":
    main()
