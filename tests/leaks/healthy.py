# SPDX-License-Identifier: Apache-2.0
"""A training loop that leaks nothing, although its memory changes in every way that looks like a leak: lazy optimizer state and layers, sentences
of various lengths, gradient accumulation, an evaluation inside, DataLoader workers, a cache that fills, averages that are kept.
"""
from typing import Dict, List

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

STEPS = 18
ACCUMULATE = 2
DEVICE = "cuda"


def positions(length: int, cache: Dict[int, Tensor]) -> Tensor:
    """Made once for each of a few lengths."""
    if length not in cache:
        cache[length] = torch.arange(length, device=DEVICE).float()
    return cache[length]


def main() -> None:
    model = nn.Sequential(nn.LazyLinear(64), nn.ReLU(), nn.Linear(64, 8)).to(DEVICE)
    data = TensorDataset(torch.randn(2 * ACCUMULATE * STEPS * 4, 32, 16))
    batches = iter(DataLoader(data, batch_size=4, num_workers=1, pin_memory=True))
    average: List[Tensor] = []
    history: List[float] = []
    cache: Dict[int, Tensor] = {}
    optimizer = None
    for step in range(STEPS):
        total = torch.zeros((), device=DEVICE)
        for _ in range(ACCUMULATE):
            (batch,) = next(batches)
            length = 8 + 8 * (step % 3)
            x = batch.to(DEVICE, non_blocking=True)[:, :length]
            loss = (model(x).mean(-1) + positions(length, cache)).pow(2).mean()
            loss.backward()
            total += loss.detach()
        if optimizer is None:  # after the lazy layer has its size
            optimizer = torch.optim.AdamW(model.parameters())
        optimizer.step()
        optimizer.zero_grad()
        history.append(total.item())
        average = [parameter.detach().clone() for parameter in model.parameters()]
        if step % 4 == 3:
            model.eval()
            with torch.no_grad():
                outputs = [model(torch.randn(16, 32, 16, device=DEVICE)) for _ in range(2)]
                history.append(torch.cat(outputs).mean().item())
            del outputs
            model.train()
    assert average and history


if __name__ == "__main__":
    main()
