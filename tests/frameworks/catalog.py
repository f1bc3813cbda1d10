# SPDX-License-Identifier: Apache-2.0
"""The list of the test programs, and what they have in common."""
from typing import Any, Callable, Dict, Iterator, List, NamedTuple

import torch
from torch import nn

from witness import DEVICE, Witness, state_of

STEPS, BATCH, LENGTH, WORDS, WIDTH = 5, 4, 16, 256, 64


class Program(NamedTuple):
    train: Callable[[], None]
    packages: List[str]  # beyond PyTorch
    ranks: int  # processes of torchrun; 0: the program runs as it is
    gpus: int
    on_cpu: bool
    alone: bool  # on the simulated device rank 0 runs without the others


PROGRAMS: Dict[str, Program] = {}


def program(*packages: str, ranks: int = 0, gpus: int = 1, on_cpu: bool = True,
            alone: bool = False) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(function: Callable[[], None]) -> Callable[[], None]:
        PROGRAMS[function.__name__] = Program(function, list(packages), ranks, max(ranks, gpus), on_cpu, alone)
        return function

    return keep


def layers(count: int = 2) -> nn.Sequential:
    return nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(count)])


def batches() -> Iterator[torch.Tensor]:
    for _ in range(STEPS):
        yield torch.randn(BATCH, WIDTH).to(DEVICE)


def train(model: nn.Module, optimizer: Any, loss_of: Callable[[torch.Tensor], torch.Tensor], **known: Any) -> None:
    witness = Witness()
    loss = torch.zeros(())
    for batch in batches():
        loss = loss_of(batch)
        loss.backward()
        optimizer.step()
        witness.point(model, state_of(optimizer), **{key: value() for key, value in known.items()})
        optimizer.zero_grad()
    witness.tell(loss=loss.item())
