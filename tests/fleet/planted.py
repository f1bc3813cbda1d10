# SPDX-License-Identifier: Apache-2.0
"""One of several ranks that train side by side, each with the fault of its rank number: planted.py cuda|cpu none|out_of_memory|killed [FOLDER]

Ranks 0, 2, 4, 6 are stage 0 of a pipeline, the others are stage 1. The faults that end a rank end the whole job, so a run has at most one of them.
FOLDER: PyTorch's own snapshots are written there, rank3.pickle and so on, at the end or when a rank has run out of memory."""
import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

WIDTH, ROWS, STEPS = 128, 2048, 10
LONG_BATCH, LEAK, CONTEXT, LATE, FRAGMENTED = 1, 2, 3, 4, 5  # and the last rank but one fails
LONG_SINCE, FAILS_IN = 3, 7
LEAKED_FLOATS = 1 << 18


def fragment(device: torch.device) -> None:
    """Each request is larger than what those before it left, so each one reserves a segment of its own; never more than one is alive."""
    for mib in range(22, 42, 4):  # more than the 20 MiB of a usual segment
        torch.empty(mib << 20, dtype=torch.uint8, device=device)


def next_batch(rank: int, step: int, device: torch.device) -> torch.Tensor:
    rows = ROWS * 9 // 5 if rank == LONG_BATCH and step >= LONG_SINCE else ROWS
    return torch.ones(rows, WIDTH, device=device)


def fail(how: str, device: torch.device) -> None:
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    torch.empty(1 << 50, dtype=torch.uint8, device=device)


def write_snapshot(folder: str) -> None:
    torch.cuda.memory._dump_snapshot(str(Path(folder) / f"rank{os.environ['RANK']}.pickle"))


def fail_and_write(how: str, device: torch.device, fails: bool, together: dist.ProcessGroup, folder: str) -> None:
    try:
        if fails:
            fail(how, device)
    finally:
        write_snapshot(folder)
        dist.barrier(together)


def train(kind: str, ending: str, snapshots: str) -> None:
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if kind == "cuda" else torch.device("cpu")
    if kind == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    together = dist.new_group(backend="gloo")  # ranks on simulated GPUs do not wait for each other in NCCL
    dist.init_device_mesh(kind, (world // 2, 2), mesh_dim_names=("dp", "pp"))
    layers = 8 if rank % 2 == 0 else 12
    model = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(layers)]).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    kept = []
    if kind == "cuda" and rank == CONTEXT:
        torch.empty(1, device="cuda:0")
    took = 0.0
    for step in range(1, STEPS + 1):
        began = time.monotonic()
        model(next_batch(rank, step, device)).square().mean().backward()
        if rank == LEAK:
            kept.append(torch.empty(LEAKED_FLOATS, device=device))
        if kind == "cuda" and rank == FRAGMENTED and step == 2:
            fragment(device)
        if ending != "none" and step == FAILS_IN:
            if snapshots:
                fail_and_write(ending, device, rank == world - 2, together, snapshots)
            elif rank == world - 2:
                fail(ending, device)
        dist.barrier(together)
        if rank == LATE and step > 1:
            time.sleep(max(0.5, 2 * took))
        optimizer.step()
        optimizer.zero_grad()
        took = time.monotonic() - began if step == 1 else took
    dist.barrier(together)
    dist.destroy_process_group()


if __name__ == "__main__":
    snapshots = sys.argv[3] if len(sys.argv) > 3 else ""
    if snapshots:
        torch.cuda.memory._record_memory_history()
    train(sys.argv[1], sys.argv[2], snapshots)
    if snapshots:
        write_snapshot(snapshots)
