# SPDX-License-Identifier: Apache-2.0
"""Trains a small model as one rank of a job, in one of the ways to divide memory among ranks: ranks.py ddp|fsdp1|fsdp2|zero1|tensor_parallel"""
import os
import sys
from typing import Any, Tuple

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.optim import ZeroRedundancyOptimizer

WIDTH, LAYERS, STEPS = 1024, 4, 3


def make(kind: str, model: nn.Sequential, world: int) -> Tuple[nn.Module, torch.optim.Optimizer]:
    if kind == "fsdp2":
        from torch.distributed.fsdp import fully_shard

        for layer in model:
            fully_shard(layer)
        fully_shard(model)
    elif kind == "fsdp1":
        from torch.distributed.fsdp import FullyShardedDataParallel

        model = FullyShardedDataParallel(model.cuda())
    elif kind == "tensor_parallel":
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

        plan = {str(index): ColwiseParallel() if index % 2 == 0 else RowwiseParallel() for index in range(LAYERS)}
        model = parallelize_module(model, init_device_mesh("cuda", (world,)), plan)
    else:
        model = nn.parallel.DistributedDataParallel(model)
    if kind == "zero1":
        return model, ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW)
    return model, torch.optim.AdamW(model.parameters())


def main(kind: str) -> None:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    world = dist.get_world_size()
    facts: Any = [None] * world
    dist.all_gather_object(facts, {"rank": dist.get_rank()})
    assert all(fact is not None for fact in facts), facts
    chosen = [f"rank {dist.get_rank()}"]
    dist.broadcast_object_list(chosen, src=0)
    model, optimizer = make(kind, nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]).cuda(), world)
    for _ in range(STEPS):
        loss = model(torch.randn(8, WIDTH).cuda()).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
