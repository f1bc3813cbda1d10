# SPDX-License-Identifier: Apache-2.0
"""Trains for two steps, runs out of memory, and lets PyTorch write its own snapshot: agreement_program.py OUT

Ends without freeing anything, so that the trace ends with the memory that the snapshot has."""
import os
import sys

import torch

torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    model(torch.randn(64, 1024).cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
kept = [torch.empty(300 * 1024, device="cuda") for _ in range(5)]
try:
    torch.empty(200 << 30, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
torch.cuda.memory._dump_snapshot(sys.argv[1])
os._exit(0)
