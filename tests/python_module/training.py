# SPDX-License-Identifier: Apache-2.0
"""Trains a small model for six steps on cuda, or on the device that is named. Memory grows by 4 KiB a step, and on cuda a request fails."""
import sys

import torch
from torch import nn

device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
kept = []
for step in range(6):
    loss = model(torch.randn(32, 64).to(device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(torch.zeros(1024, device=device))
    if step == 4 and device == "cuda":
        try:
            torch.empty(1 << 40, device="cuda")
        except torch.OutOfMemoryError:
            pass
