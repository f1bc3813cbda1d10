# SPDX-License-Identifier: Apache-2.0
"""Runs out of memory for a reason in the program itself.

    runs_out.py growth    128 MiB of every step are kept, in a loop that also fragments
    runs_out.py state     Adam's state does not fit: the first step of the optimizer fails in the middle of making it
    runs_out.py failures  caught errors are kept in a list, and with them the tensors of the failed steps
"""
import sys
from typing import List

import torch
from torch import Tensor, nn

DEVICE = "cuda"


def growth() -> None:
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept: List[Tensor] = []
    for step in range(100):
        x = torch.randn(1024 + 512 * (step % 3), 2048, device=DEVICE)
        model(x).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(torch.empty(128 << 20, dtype=torch.uint8, device=DEVICE))  # kept


def state() -> None:
    model = nn.ModuleList([nn.Linear(2048, 2048, bias=False) for _ in range(8)]).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    x = torch.randn(64, 2048, device=DEVICE)
    for layer in model:
        x = layer(x)
    x.pow(2).mean().backward()
    del x
    try:
        optimizer.step()
    finally:
        made = [tensor for state in optimizer.state.values() for tensor in state.values() if torch.is_tensor(tensor) and tensor.is_cuda]
        print("made", sum(tensor.numel() * tensor.element_size() for tensor in made))


def failures() -> None:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(8)]).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    errors: List[BaseException] = []
    for samples in (1024, 1024, 1024, 64 * 1024, 8192, 1024, 1024):
        try:
            model(torch.randn(samples, 1024, device=DEVICE)).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        except torch.OutOfMemoryError as error:
            errors.append(error)


if __name__ == "__main__":
    {"growth": growth, "state": state, "failures": failures}[sys.argv[1]]()
