# SPDX-License-Identifier: Apache-2.0
"""Allocates tensors of growing size until it is killed, and counts them in a file that outlives it.

    torch_target.py COUNTERS              this process allocates
    torch_target.py COUNTERS KILLS SEED   KILLS children one after another, each killed with SIGKILL at a random moment

COUNTERS holds two uint64 per allocating process, begun and done; block k of a process has FIRST_BYTES + k bytes.
"""
import mmap
import os
import random
import signal
import struct
import sys
import time

import torch

FIRST_BYTES = 1 << 20  # nothing else that the program allocates is as large
ROW = struct.Struct("<QQ")


def allocate(counters: mmap.mmap, index: int) -> None:
    numbers = memoryview(counters).cast("Q")  # written whole; struct.pack_into writes zeros first
    k = 0
    while True:
        k += 1
        numbers[2 * index] = k
        tensor = torch.empty(FIRST_BYTES + k, dtype=torch.uint8)
        numbers[2 * index + 1] = k
        del tensor


def kill_children(counters: mmap.mmap, kills: int, seed: int) -> None:
    moments = random.Random(seed)
    for index in range(kills):
        child = os.fork()
        if child == 0:
            allocate(counters, index)
        while not ROW.unpack_from(counters, index * ROW.size)[1]:
            time.sleep(0.0005)
        time.sleep(moments.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(child, flush=True)


def main() -> None:
    with open(sys.argv[1], "r+b") as file:
        counters = mmap.mmap(file.fileno(), 0)
    if len(sys.argv) == 2:
        allocate(counters, 0)
    kill_children(counters, int(sys.argv[2]), int(sys.argv[3]))


if __name__ == "__main__":
    main()
