# SPDX-License-Identifier: Apache-2.0
"""Trains from a data loader with workers; each may keep some of every sample that it makes.

    python pipeline.py WORKERS KEPT_BYTES SECONDS      from the first batch on
"""
import sys
import time
from typing import Iterator, List, Tuple

import torch

SHARED_BYTES = 8 << 20  # of each batch, passed through shared memory


class Samples(torch.utils.data.IterableDataset):
    def __init__(self, kept_bytes: int) -> None:
        self.kept_bytes = kept_bytes
        self.kept: List[bytearray] = []

    def __iter__(self) -> Iterator[torch.Tensor]:
        while True:
            # Not zeros, which would stay the kernel's one zero page.
            self.kept.append(bytearray(b"x") * self.kept_bytes)
            yield torch.ones(SHARED_BYTES // 4)


def main(workers: int, kept_bytes: int, seconds: float) -> None:
    loader = torch.utils.data.DataLoader(Samples(kept_bytes), batch_size=None, num_workers=workers)
    model = torch.nn.Linear(1024, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    end = 0.0  # the workers take their time to start
    for batch in loader:
        end = end or time.monotonic() + seconds
        model(batch.view(-1, 1024)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(0.05)
        if time.monotonic() > end:
            break


if __name__ == "__main__":
    arguments: Tuple[str, ...] = tuple(sys.argv[1:])
    main(int(arguments[0]), int(arguments[1]), float(arguments[2]))
