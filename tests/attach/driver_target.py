# SPDX-License-Identifier: Apache-2.0
"""Holds device memory, waits until it is being recorded, then allocates and frees more. Writes the device's ledger at each moment.

    driver_target.py OUTPUT      prints "ready" when it waits
"""
import ctypes
import json
import random
import sys
import time
from typing import Any, List

import torch
import torch.distributed
from attached_oracle import LIMIT_SECONDS, recorded

driver = ctypes.CDLL("libcuda.so.1")
ledgers: List[Any] = []


def keep_ledger() -> None:
    buffer = ctypes.create_string_buffer(1 << 16)
    driver.vramscope_simulated_ledger(buffer, ctypes.c_size_t(len(buffer)))
    ledgers.append(json.loads(buffer.value.decode()))


def moment(recorder: Any) -> None:
    """Keeps the ledger, and sets a mark with its number in the trace."""
    keep_ledger()
    recorder.vramscope_mark(9, ctypes.c_uint64(len(ledgers)), 0, ctypes.c_uint64(0))


def churn(held: List[Any], recorder: Any, moments: int) -> None:
    for _ in range(moments):
        if held and random.random() < 0.45:
            held.pop(random.randrange(len(held)))
        else:
            held.append(torch.empty(int(2 ** random.uniform(9, 27)), dtype=torch.uint8, device="cuda"))
        if random.random() < 0.1:
            torch.cuda.empty_cache()
        moment(recorder)


def collectives(recorder: Any) -> None:
    """Uses NCCL, a library that looks up the driver's functions only now."""
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("nccl", store=store, rank=0, world_size=1, device_id=torch.device("cuda:0"))
    torch.distributed.all_reduce(torch.ones(1 << 20, device="cuda"))
    moment(recorder)
    torch.distributed.destroy_process_group()
    moment(recorder)


def main() -> None:
    random.seed(1)
    held = [torch.empty(int(2 ** random.uniform(9, 27)), dtype=torch.uint8, device="cuda") for _ in range(12)]
    del held[::3]
    keep_ledger()
    print("ready", flush=True)
    end = time.monotonic() + LIMIT_SECONDS
    while not recorded() and time.monotonic() < end:
        bytearray(100_000)  # from malloc, not from Python's own pools
        time.sleep(0.001)
    path = next(line.split(None, 5)[5].strip() for line in open("/proc/self/maps", encoding="utf-8") if "libvramscope_injector" in line)
    recorder = ctypes.CDLL(path)
    churn(held, recorder, 40)
    collectives(recorder)
    held.clear()
    torch.cuda.empty_cache()
    moment(recorder)
    with open(sys.argv[1], "w", encoding="utf-8") as output:
        json.dump(ledgers, output)


if __name__ == "__main__":
    main()
