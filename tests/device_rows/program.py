# SPDX-License-Identifier: Apache-2.0
"""Trains on the simulated device and writes down the device's own ledger at quiet moments.

    python program.py NOTES.jsonl
"""
import ctypes
import json
import sys
import time
from typing import Any, Dict, TextIO

import torch

USER_BYTES = 3 << 20

driver = ctypes.CDLL("libcuda.so.1")


def ledger() -> Dict[str, Any]:
    capacity = 1 << 16
    text = ctypes.create_string_buffer(capacity)
    driver.vramscope_simulated_ledger(text, ctypes.c_size_t(capacity))
    return json.loads(text.value)


def note(moment: str, notes: TextIO) -> None:
    torch.cuda.synchronize()
    facts = {
        "moment": moment,
        "monotonic_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC),
        "ledger": ledger()["devices"][0],
        "allocated": torch.cuda.memory_allocated(),
        "reserved": torch.cuda.memory_reserved(),
    }
    print(json.dumps(facts), file=notes)
    time.sleep(0.002)  # what comes next is later on any clock


def train(notes: TextIO) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    note("the model", notes)
    for step in range(3):
        batch = torch.randn(4096, 512).pin_memory().cuda(non_blocking=True)
        loss = model(batch).square().mean()
        note(f"forward of step {step}", notes)
        loss.backward()
        note(f"backward of step {step}", notes)
        optimizer.step()
        optimizer.zero_grad()
        note(f"end of step {step}", notes)


def take_and_give_back(notes: TextIO) -> None:
    large = torch.empty(300 << 20, dtype=torch.uint8, device="cuda")
    note("a large tensor", notes)
    del large
    note("the large tensor is cached", notes)
    torch.cuda.empty_cache()
    note("the cache is empty", notes)
    pointer = ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(USER_BYTES)) == 0
    note("memory of the user's own", notes)
    assert driver.cuMemFree_v2(pointer) == 0
    try:
        torch.empty(900 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        note("after an allocation that failed", notes)


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        train(file)
        take_and_give_back(file)
