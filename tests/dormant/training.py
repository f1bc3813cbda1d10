# SPDX-License-Identifier: Apache-2.0
"""Trains a small model. Each line of input is a number of steps; after these steps, prints the loss."""
import sys

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
optimizer = torch.optim.AdamW(model.parameters())
print("ready", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        loss = model(torch.randn(32, 64)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"{loss.item():.9f}", flush=True)
