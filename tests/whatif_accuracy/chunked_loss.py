# SPDX-License-Identifier: Apache-2.0
"""Cross-entropy of a linear layer in chunks of rows, as in `vramscope whatif --cross-entropy`: the full logits are never materialized."""

from typing import Any, Callable, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heads import HEADS

IGNORED = -100
# The last linear layer, and whether labels are those of the next token.


class ChunkedLoss(torch.autograd.Function):
    """Gradients are computed with the loss, chunk by chunk."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Optional[Tensor], labels: Tensor, rows: int) -> Tensor:
        of_hidden, of_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        of_bias = None if bias is None else torch.zeros_like(bias)
        total = torch.zeros((), device=hidden.device)
        for part, target, out in zip(hidden.split(rows), labels.split(rows), of_hidden.split(rows)):
            logits = F.linear(part, weight, bias)
            gradient = torch.softmax(logits, -1, dtype=torch.float32)
            chosen, used = target.clamp(min=0)[:, None], (target != IGNORED)[:, None]
            total -= (gradient.gather(1, chosen).log() * used).sum()
            gradient.scatter_add_(1, chosen, torch.full_like(chosen, -1, dtype=torch.float32)).mul_(used)
            gradient = gradient.to(hidden.dtype)
            torch.mm(gradient, weight, out=out)
            of_weight.addmm_(gradient.t(), part)
            if of_bias is not None:
                of_bias += gradient.sum(0)
            del logits, gradient
        count = (labels != IGNORED).sum()
        for each in (of_hidden, of_weight, of_bias):
            if each is not None:
                each /= count
        ctx.save_for_backward(of_hidden, of_weight, of_bias)
        return total / count

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> Tuple[Optional[Tensor], ...]:
        return tuple(None if each is None else each.mul_(given.to(each.dtype)) for each in ctx.saved_tensors) + (None, None)


def rows_of(kind: str, tokens: int, vocabulary: int, width: int) -> int:
    """The rows of a chunk. "chunked:K": K chunks. "fused": vocabulary / width chunks, with the rows rounded to a power of two, as Liger does."""
    if kind != "fused":
        return -(-tokens // int(kind.split(":")[1]))
    return 1 << (-(-tokens // -(-vocabulary // width)) - 1).bit_length()


def without_logits(model: nn.Module, name: str, kind: str) -> Callable[..., Tensor]:
    """The loss of the model on token ids. From now on its last layer returns its input; it keeps its parameters, so their order stays."""
    path, shifted = HEADS[name]
    head = model.get_submodule(path)
    head.forward = lambda hidden: hidden

    def loss(module: nn.Module, ids: Tensor) -> Tensor:
        hidden = module(ids)
        hidden = (hidden if isinstance(hidden, Tensor) else hidden.logits).flatten(0, -2)
        labels = F.pad(ids, (0, 1), value=IGNORED)[:, 1:].contiguous() if shifted else ids
        return ChunkedLoss.apply(hidden, head.weight, head.bias, labels.flatten(), rows_of(kind, len(hidden), *head.weight.shape))

    return loss
