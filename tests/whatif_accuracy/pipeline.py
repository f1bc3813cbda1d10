# SPDX-License-Identifier: Apache-2.0
"""The first stage of a pipeline, run alone: the layers before the blocks and its share of the blocks, with made-up gradients of its output."""

from collections import deque
from typing import Callable, Deque, List

import torch
from torch import Tensor, nn

from heads import STAGES

# The list of blocks, and what comes after it.


def replace(model: nn.Module, path: str, module: nn.Module) -> None:
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, module)


class Sent(Exception):
    """Carries the output of the stage past everything that the model would do after it, such as scaling logits that this stage does not compute."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__()
        self.tensor = tensor


class Boundary(nn.Module):
    def forward(self, tensor: Tensor) -> None:
        raise Sent(tensor)


def keep_first_stage(model: nn.Module, name: str, stages: int) -> None:
    path, behind = STAGES[name]
    blocks = model.get_submodule(path)
    replace(model, path, nn.ModuleList(list(blocks)[: -(-len(blocks) // stages)]))
    for other in behind:
        replace(model, other, Boundary())


def run_parts(model: nn.Module, batch: Callable[[], List[Tensor]], stages: int, parts: int) -> None:
    """One batch in the order 1F1B: as many parts wait for their gradients as there are stages."""
    waiting: Deque[Tensor] = deque()

    def backward() -> None:
        sent = waiting.popleft()
        sent.backward(torch.ones_like(sent))

    for _ in range(parts):
        try:
            model(*batch())
        except Sent as boundary:
            waiting.append(boundary.tensor)
        if len(waiting) == min(stages, parts):
            backward()
    while waiting:
        backward()
