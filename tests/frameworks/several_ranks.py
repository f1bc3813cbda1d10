# SPDX-License-Identifier: Apache-2.0
"""Programs that torchrun starts: data, tensor, pipeline and expert parallel."""
import os
from typing import Any, Dict, List

import torch
from torch import nn

from catalog import BATCH, WIDTH, batches, layers, program, train
from witness import DEVICE, Witness, state_of


def distributed() -> int:
    """Joins the group; returns the rank."""
    import torch.distributed as dist

    if DEVICE == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if DEVICE == "cuda" else "gloo")
    torch.manual_seed(0)
    return dist.get_rank()


def leave() -> None:
    import torch.distributed as dist

    dist.destroy_process_group()


@program(ranks=2)
def ddp() -> None:
    distributed()
    # PyTorch reports rebuilt buckets one step late. Without biases, the sum of their blocks stays the same.
    model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2)]).to(DEVICE)
    model = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.01)
    train(model, torch.optim.AdamW(model.parameters()), lambda batch: model(batch).pow(2).mean(), communication=lambda: buckets(model))
    leave()


def buckets(model: nn.parallel.DistributedDataParallel) -> List[int]:
    """The bytes of each bucket, as the reducer reports them."""
    facts = model._get_ddp_logging_data()
    return [int(size) for size in (facts.get("rebuilt_bucket_sizes") or facts["bucket_sizes"]).split(",")]


@program(ranks=2)
def ddp_views() -> None:
    """The gradients lie in the buckets."""
    distributed()
    model = nn.parallel.DistributedDataParallel(layers().to(DEVICE), gradient_as_bucket_view=True)
    train(model, torch.optim.AdamW(model.parameters()), lambda batch: model(batch).pow(2).mean(), communication=list)
    leave()


def fully_sharded(model: nn.Module, **options: Any) -> nn.Module:
    from torch.distributed.fsdp import fully_shard

    for layer in model:
        fully_shard(layer, **options)
    fully_shard(model, **options)
    return model


def gathered(model: nn.Module) -> List[torch.Tensor]:
    """The parameters that FSDP2 keeps gathered at this moment."""
    from torch.distributed.fsdp import FSDPModule

    found = []
    for module in model.modules():
        if isinstance(module, FSDPModule):
            group = module._get_fsdp_state()._fsdp_param_group
            for parameter in group.fsdp_params if group is not None else ():
                found += [tensor for tensor in parameter.all_gather_outputs if tensor.untyped_storage().nbytes()]
    return found


@program(ranks=2)
def fsdp2() -> None:
    distributed()
    model = fully_sharded(layers().to(DEVICE))
    train(model, torch.optim.AdamW(model.parameters()), lambda batch: model(batch).pow(2).mean(), communication=lambda: gathered(model))
    leave()


def train_sharded(model: nn.Module) -> None:
    """Trains with an evaluation after each step, which leaves the parameters gathered, and with a point after that."""
    optimizer, witness = torch.optim.AdamW(model.parameters()), Witness()
    for batch in batches():
        model(batch).pow(2).mean().backward()
        optimizer.step()
        with torch.no_grad():
            model(batch)
        witness.point(model, state_of(optimizer), parameters=sharded_of(model), communication=gathered(model))
        for module in model.modules():
            if hasattr(module, "reshard"):
                module.reshard()
        optimizer.zero_grad()
    witness.tell()
    leave()


@program(ranks=2)
def fsdp2_kept() -> None:
    distributed()
    train_sharded(fully_sharded(layers().to(DEVICE), reshard_after_forward=False))


def sharded_of(model: nn.Module) -> List[torch.Tensor]:
    from torch.distributed.fsdp import FSDPModule

    groups = [module._get_fsdp_state()._fsdp_param_group for module in model.modules() if isinstance(module, FSDPModule)]
    return [parameter.sharded_param for group in groups if group is not None for parameter in group.fsdp_params]


def tensor_parallel(model: nn.Module, mesh: Any) -> None:
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    parallelize_module(model, mesh, {"0.0": ColwiseParallel(), "1.0": RowwiseParallel()})


def mesh_of(**sizes: int) -> Any:
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh(DEVICE, tuple(sizes.values()), mesh_dim_names=tuple(sizes))


@program(ranks=4)
def fsdp2_tp() -> None:
    distributed()
    mesh = mesh_of(dp=2, tp=2)
    model = layers().to(DEVICE)
    tensor_parallel(model, mesh["tp"])
    train_sharded(fully_sharded(model, mesh=mesh["dp"], reshard_after_forward=False))


def pipelined(stage: Any, model: nn.Module, first: bool, last: bool) -> None:
    from torch.distributed.pipelining import ScheduleGPipe

    run = ScheduleGPipe(stage, n_microbatches=2, loss_fn=lambda output, target: (output - target).pow(2).mean())
    optimizer, witness = torch.optim.AdamW(model.parameters()), Witness()
    for batch in batches():
        run.step(*[batch] if first else [], **{"target": batch} if last else {})
        optimizer.step()
        witness.point(model, state_of(optimizer))
        optimizer.zero_grad()
    witness.tell()
    leave()


def shapes(first: bool) -> Dict[str, torch.Tensor]:
    """The tensors that pass from stage to stage."""
    return {"input_args": torch.empty(BATCH // 2, WIDTH, device=DEVICE, requires_grad=not first),
            "output_args": torch.empty(BATCH // 2, WIDTH, device=DEVICE, requires_grad=True)}


@program(ranks=2)
def pipeline() -> None:
    from torch.distributed.pipelining import PipelineStage

    rank = distributed()
    model = layers().to(DEVICE)
    device = torch.device(DEVICE, torch.cuda.current_device()) if DEVICE == "cuda" else torch.device(DEVICE)
    pipelined(PipelineStage(model, rank, 2, device, **shapes(rank == 0)), model, rank == 0, rank == 1)


@program(ranks=8)
def fsdp2_pp_tp() -> None:
    from torch.distributed.pipelining import PipelineStage

    distributed()
    mesh = mesh_of(pp=2, dp=2, tp=2)
    model = layers().to(DEVICE)
    tensor_parallel(model, mesh["tp"])
    fully_sharded(model, mesh=mesh["dp"])
    stage = mesh["pp"].get_local_rank()
    device = torch.device(DEVICE, torch.cuda.current_device()) if DEVICE == "cuda" else torch.device(DEVICE)
    pipelined(PipelineStage(model, stage, 2, device, group=mesh["pp"].get_group(), **shapes(stage == 0)), model, stage == 0, stage == 1)


@program(ranks=2)
def moe() -> None:
    """Experts on all ranks: how many tokens go where depends on the data."""
    import torch.distributed as dist
    import torch.distributed.nn.functional as exchange

    distributed()
    world = dist.get_world_size()

    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate, self.expert = nn.Linear(WIDTH, world), nn.Linear(WIDTH, WIDTH)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            chosen = self.gate(tokens).argmax(-1)
            order = chosen.argsort()
            counts = torch.bincount(chosen, minlength=world)
            theirs = torch.empty_like(counts)
            dist.all_to_all_single(theirs, counts)
            sent, received = counts.tolist(), theirs.tolist()
            mine = exchange.all_to_all_single(tokens.new_empty(sum(received), WIDTH), tokens[order], received, sent)
            back = exchange.all_to_all_single(tokens.new_empty(sum(sent), WIDTH), self.expert(mine), sent, received)
            return tokens + back[order.argsort()]

    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), Experts(), nn.Linear(WIDTH, WIDTH)).to(DEVICE)
    train(model, torch.optim.AdamW(model.parameters()), lambda batch: model(batch).pow(2).mean())
    leave()


def deepspeed(stage: int, **options: Any) -> None:
    import deepspeed as ds

    distributed()
    ds.init_distributed("nccl" if DEVICE == "cuda" else "gloo")
    model, witness = layers(), Witness()
    engine, optimizer, *_ = ds.initialize(model=model, model_parameters=model.parameters(), config={
        "train_micro_batch_size_per_gpu": BATCH,
        "zero_optimization": {"stage": stage, "reduce_bucket_size": 8192, "allgather_bucket_size": 8192, **options},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}, "zero_force_ds_cpu_optimizer": False})
    for batch in batches():
        engine.backward(engine(batch).pow(2).mean())
        engine.step()
        # The part of the weights that this rank updates, and the weights, in ZeRO-3 this rank's shards of them. In ZeRO-3, gathered weights
        # count as communication, and the buckets that are reduced hold the gradients.
        updated = optimizer.fp32_partitioned_groups_flat if stage == 3 else optimizer.single_partition_of_fp32_groups
        weights = [getattr(parameter, "ds_tensor", parameter) for parameter in engine.module.parameters()]
        gradients = [bucket.buffer for bucket in optimizer.ipg_buckets.values()] if stage == 3 else None
        witness.point(engine.module, state_of(optimizer.optimizer), parameters=[*updated, *weights], gradients=gradients)
    witness.tell()
    leave()


@program("deepspeed", ranks=2, on_cpu=False)  # on the CPU it compiles extensions
def zero2() -> None:
    deepspeed(2)


@program("deepspeed", ranks=2, on_cpu=False)
def zero2_offload() -> None:
    deepspeed(2, offload_optimizer={"device": "cpu"})


@program("deepspeed", ranks=2, on_cpu=False, alone=True)  # one rank of two
def zero3() -> None:
    deepspeed(3)


@program("deepspeed", ranks=2, on_cpu=False)
def zero3_all_ranks() -> None:
    deepspeed(3)


@program(ranks=2)
def pipeline_inferred() -> None:
    """The stages send each other the shapes."""
    from torch.distributed.pipelining import PipelineStage

    rank = distributed()
    model = layers().to(DEVICE)
    device = torch.device(DEVICE, torch.cuda.current_device()) if DEVICE == "cuda" else torch.device(DEVICE)
    pipelined(PipelineStage(model, rank, 2, device), model, rank == 0, rank == 1)
