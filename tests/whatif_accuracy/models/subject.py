# SPDX-License-Identifier: Apache-2.0
"""What a training loop must know of a model, and what many of them have in common."""

from types import SimpleNamespace
from typing import Callable, NamedTuple, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

SIZES = ("small", "medium", "large")
LENGTH = SimpleNamespace(factor=1.0)  # of sequences, in parts of what the model is made for
Batch = Tuple[Tensor, ...]


class Subject(NamedTuple):
    """A model, how to make a batch of it, and its loss."""

    model: nn.Module
    batch: Callable[[int], Batch]
    loss: Callable[..., Tensor]
    # Networks that are trained in turns, each with an optimizer of its own: path and loss. Empty: the whole model.
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
    """One of images that hands out logits alone."""
    return Subject(model, images(pixels, 100), lambda module, given, labels: F.cross_entropy(module(given), labels))
