# SPDX-License-Identifier: Apache-2.0
"""Trains on sentences of many lengths, packed without padding: the peak depends on which sentences meet in a batch.

    packed.py sampler|seed [--same-length]
"""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

SENTENCES, WIDTH, BATCH = 64, 256, 8


def main(ordered_by: str, same_length: bool) -> None:
    torch.manual_seed(1)
    lengths = [32 if same_length else 16 + index * index // 8 for index in range(SENTENCES)]
    sentences = [torch.zeros(length, WIDTH) for length in lengths]
    if ordered_by == "sampler":  # from a generator of its own
        order = DataLoader(range(SENTENCES), batch_size=BATCH, shuffle=True, generator=torch.Generator().manual_seed(3))
    else:
        order = torch.randperm(SENTENCES).split(BATCH)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in order:
        packed = torch.cat([sentences[index] for index in batch])
        model(packed.cuda()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


main(sys.argv[1], "--same-length" in sys.argv)
