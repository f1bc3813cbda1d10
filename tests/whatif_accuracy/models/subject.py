# SPDX-License-Identifier: Apache-2.0
"""What a training loop must know about a model, and what many models share."""

from types import SimpleNamespace
from typing import Callable, NamedTuple, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

SIZES = ("small", "medium", "large")
LENGTH = SimpleNamespace(factor=1.0)  # length of sequences, relative to the model's own
Batch = Tuple[Tensor, ...]


class Subject(NamedTuple):
    """A model, how to make a batch of it, and its loss."""

    model: nn.Module
    batch: Callable[[int], Batch]
    loss: Callable[..., Tensor]
    # Networks that are trained in turns, each with its own optimizer: path and loss. Empty: the whole model is trained.
    turns: Tuple[Tuple[str, Callable[..., Tensor]], ...] = ()


def scaled(size: str, small: int, medium: int, large: int) -> int:
    return dict(zip(SIZES, (small, medium, large)))[size]


def tokens(vocabulary: int, length: int) -> Callable[[int], Batch]:
    return lambda count: (torch.randint(vocabulary, (count, int(length * LENGTH.factor))),)


def images(pixels: int, classes: int) -> Callable[[int], Batch]:
    return lambda count: (torch.randn(count, 3, pixels, pixels), torch.randint(classes, (count,)))


def causal(model: nn.Module, ids: Tensor) -> Tensor:
    return model(input_ids=ids, labels=ids).loss


def classified(model: nn.Module, pixels: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(model(pixel_values=pixels).logits, labels)


def labeled(model: nn.Module, pixels: int) -> Subject:
    """A model for images whose forward returns only logits."""
    return Subject(model, images(pixels, 100), lambda module, given, labels: F.cross_entropy(module(given), labels))
