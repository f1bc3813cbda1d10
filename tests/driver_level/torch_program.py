# SPDX-License-Identifier: Apache-2.0
"""Allocates device memory in all the ways that PyTorch and its libraries have, and writes the device's ledger at many moments.

    torch_program.py OUTPUT SEED
"""
import ctypes
import json
import os
import random
import sys

import torch
import torch.distributed

program = ctypes.CDLL(None)
driver = ctypes.CDLL("libcuda.so.1")
ledgers = []


def moment(what: str) -> None:
    """Keeps the ledger, and sets a mark with its number in the trace."""
    buffer = ctypes.create_string_buffer(1 << 16)
    driver.vramscope_simulated_ledger(buffer, ctypes.c_size_t(len(buffer)))
    ledgers.append({"what": what, "ledger": json.loads(buffer.value.decode())})
    program.vramscope_mark(9, ctypes.c_uint64(len(ledgers)), 0, ctypes.c_uint64(0))


def churn(steps: int) -> None:
    held = []
    for step in range(steps):
        if held and random.random() < 0.45:
            held.pop(random.randrange(len(held)))
        else:
            held.append(torch.empty(int(2 ** random.uniform(9, 27)), dtype=torch.uint8, device="cuda"))
        if random.random() < 0.1:
            torch.cuda.empty_cache()
        moment(f"churn {step}")
    del held
    torch.cuda.empty_cache()
    moment("all given back")


def collectives() -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("nccl", store=store, rank=0, world_size=1, device_id=torch.device("cuda:0"))
    torch.distributed.all_reduce(torch.ones(1 << 20, device="cuda"))
    moment("NCCL")
    torch.distributed.destroy_process_group()
    moment("NCCL has ended")


def libraries() -> None:
    if torch.cuda.get_allocator_backend() == "native":  # PyTorch's process group of NCCL works with no other
        collectives()
    layer = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.Flatten(), torch.nn.LazyLinear(10)).cuda()
    layer(torch.rand(8, 3, 32, 32, device="cuda")).sum().backward()
    moment("cuDNN and cuBLAS")
    pinned = torch.empty(1 << 20, pin_memory=True)
    moment("pinned")
    del pinned, layer
    torch.cuda.empty_cache()


def out_of_memory() -> None:
    try:
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        moment("out of memory")


random.seed(int(sys.argv[2]))
torch.cuda.init()
moment("start")
churn(60)
libraries()
out_of_memory()
churn(10)
with open(sys.argv[1], "w", encoding="utf-8") as output:
    json.dump(ledgers, output)
