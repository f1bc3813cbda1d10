# SPDX-License-Identifier: Apache-2.0
"""Trains a small model for 12 steps. `fail`: raises afterwards. `wait`: prints a line afterwards and waits for a line of input."""
import sys

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
optimizer = torch.optim.AdamW(model.parameters())
for step in range(12):
    loss = model(torch.randn(32 + step, 64)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
if sys.argv[1:] == ["fail"]:
    kept = model(torch.randn(4096, 64))  # noqa: F841  more than any step had
    raise RuntimeError("the run ends here")
if sys.argv[1:] == ["wait"]:
    print("trained", flush=True)
    sys.stdin.readline()
