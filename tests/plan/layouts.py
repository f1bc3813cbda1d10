# SPDX-License-Identifier: Apache-2.0
"""Trains a small model as one rank of a job: layouts.py --tp N shards its layers over N ranks, and the rest of the job is data parallel."""
import argparse

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

WIDTH, STEPS = 1024, 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tp", type=int, default=1)
    options = parser.parse_args()
    torch.distributed.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (torch.distributed.get_world_size() // options.tp, options.tp), mesh_dim_names=("dp", "tp"))
    model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(4)]).cuda()
    if options.tp > 1:
        styles = [ColwiseParallel(), RowwiseParallel()]
        model = parallelize_module(model, mesh["tp"], {str(index): styles[index % 2] for index in range(len(model))})
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        model(torch.randn(8, WIDTH, device="cuda")).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
