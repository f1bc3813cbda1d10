# SPDX-License-Identifier: Apache-2.0
"""Trains a small model for many steps, of which one has a batch that is larger: long_run.py STEPS LARGE_STEP"""
import sys

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(4)])
optimizer = torch.optim.AdamW(model.parameters())
for step in range(1, int(sys.argv[1]) + 1):
    model(torch.randn(512 if step == int(sys.argv[2]) else 64, 64)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
