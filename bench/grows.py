# SPDX-License-Identifier: Apache-2.0
"""A training program that keeps 128 MiB of every step until memory runs out. The views of a failed run are measured with it.

    vramscope dryrun --gpu rtx-4090 --capacity 2GiB --steps all -o failed.vms -- python3 bench/grows.py
"""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x)
        return x


model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
while True:
    optimizer.zero_grad()
    model(torch.randn(1024, 512).cuda()).square().mean().backward()
    optimizer.step()
    kept.append(torch.zeros(32 << 20, device="cuda"))
