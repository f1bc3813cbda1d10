# SPDX-License-Identifier: Apache-2.0
"""Trains for some steps in one of several common ways, and writes down at quiet moments what CUDA and PyTorch report about the device.

    train.py WAY NOTES [STEPS]      WAY: eager, amp, expandable, graphs, compile, loader, nccl

NOTES gets a line of JSON for each moment: the clock, cudaMemGetInfo, NVML, the allocator's counters and its snapshot. Convolutions, attention and
matrix products, so that cuDNN, cuBLAS and PyTorch's own kernels all run. Needs nothing but PyTorch.
"""
import ctypes
import json
import os
import sys
import time
from typing import Any, Dict, Iterator, List, Optional, TextIO

import torch
from torch import nn
from torch.nn import functional

WAYS = ("eager", "amp", "expandable", "graphs", "compile", "loader", "nccl")
BATCH = 32


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 256, 3, 2, 1))
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True) for _ in range(4))
        self.head = nn.Linear(256, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.stem(images).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


class Nvml:
    """The library that nvidia-smi uses; its answers are None where it is missing."""

    def __init__(self) -> None:
        self.library: Optional[ctypes.CDLL] = None
        self.device = ctypes.c_void_p()
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            bus_id = torch.cuda.get_device_properties(0).pci_bus_id if hasattr(torch.cuda.get_device_properties(0), "pci_bus_id") else None
            found = library.nvmlInit_v2() == 0 and self.find(library, bus_id)
            self.library = library if found else None
        except (OSError, AttributeError):
            pass

    def find(self, library: ctypes.CDLL, bus: Optional[int]) -> bool:
        if bus is not None:
            properties = torch.cuda.get_device_properties(0)
            text = f"{properties.pci_domain_id:08x}:{bus:02x}:{properties.pci_device_id:02x}.0".encode()
            if library.nvmlDeviceGetHandleByPciBusId_v2(text, ctypes.byref(self.device)) == 0:
                return True
        return library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) == 0

    def used(self) -> Optional[int]:
        total_free_used = (ctypes.c_ulonglong * 3)()
        if self.library is None or self.library.nvmlDeviceGetMemoryInfo(self.device, ctypes.byref(total_free_used)) != 0:
            return None
        return int(total_free_used[2])


class Notes:
    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.nvml = Nvml()

    def add(self, what: str, loss: Optional[float] = None) -> None:
        torch.cuda.synchronize()
        time.sleep(0.002)  # what came before is earlier on any clock
        free, total = torch.cuda.mem_get_info()
        note: Dict[str, Any] = {
            "what": what, "monotonic_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC), "used": total - free, "total": total, "nvml_used": self.nvml.used(),
            "allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved(), "loss": loss, "blocks": blocks(),
        }
        print(json.dumps(note), file=self.file, flush=True)
        time.sleep(0.002)


def blocks() -> List[List[int]]:
    """[address, bytes] of what the allocator has handed out, from its own snapshot."""
    found = []
    for segment in torch.cuda.memory._snapshot()["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                found.append([block.get("address", address), block["size"]])
            address += block["size"]
    return sorted(found)


def batches(way: str, steps: int) -> Iterator[List[torch.Tensor]]:
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(BATCH * steps, 3, 64, 64, generator=generator)
    labels = torch.randint(0, 10, (BATCH * steps,), generator=generator)
    if way == "loader":
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), BATCH, num_workers=2, pin_memory=True)
        for batch in loader:
            yield [tensor.cuda(non_blocking=True) for tensor in batch]
        return
    for step in range(steps):
        part = slice(step * BATCH, (step + 1) * BATCH)
        yield [images[part].cuda(), labels[part].cuda()]


def step_of(net: nn.Module, optimizer: torch.optim.Optimizer, way: str, batch: List[torch.Tensor]) -> torch.Tensor:
    with torch.autocast("cuda", torch.bfloat16, enabled=way == "amp"):
        loss = functional.cross_entropy(net(batch[0]), batch[1])
    optimizer.zero_grad(set_to_none=way != "graphs")
    loss.backward()
    optimizer.step()
    return loss


def train_captured(net: nn.Module, optimizer: torch.optim.Optimizer, steps: int, notes: Notes) -> None:
    """As in PyTorch's documentation: some steps on a side stream, one captured, the rest replayed."""
    batch = next(batches("eager", 1))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step_of(net, optimizer, "graphs", batch)
    torch.cuda.current_stream().wait_stream(side)
    notes.add("before the capture")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step_of(net, optimizer, "graphs", batch)
    notes.add("captured")
    for step in range(steps):
        graph.replay()
        notes.add(f"step {step + 1}", loss.item())


def train(way: str, steps: int, notes: Notes) -> None:
    torch.manual_seed(0)
    net: nn.Module = Net().cuda()
    notes.add("the model")
    if way == "nccl":
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
        torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
        net = nn.parallel.DistributedDataParallel(net, device_ids=[0])
        notes.add("DDP")
    if way == "compile":
        net = torch.compile(net)  # type: ignore[assignment]
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, capturable=way == "graphs")
    if way == "graphs":
        return train_captured(net, optimizer, steps, notes)
    for step, batch in enumerate(batches(way, steps)):
        loss = step_of(net, optimizer, way, batch)
        notes.add(f"step {step + 1}", loss.item())
    if way == "nccl":
        torch.distributed.destroy_process_group()


def main(way: str, notes: str, steps: int = 5) -> None:
    if way not in WAYS:
        sys.exit(f"train.py: no way {way}; there are {', '.join(WAYS)}")
    if way == "expandable":
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"
    torch.cuda.init()
    with open(notes, "w", encoding="utf-8") as file:
        train(way, steps, Notes(file))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(word) for word in sys.argv[3:]))
