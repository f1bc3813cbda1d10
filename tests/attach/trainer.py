# SPDX-License-Identifier: Apache-2.0
"""A threaded trainer for attach tests: trains until its standard input ends, and writes each loss exactly, bit for bit.

    trainer.py LOSSES WORKERS [STEPS]      prints "ready" after the first step, exits with 5

With STEPS it stops after so many. Losses depend on the seed alone. The last line of its output counts the Python objects of vramscope
that are left, where no full garbage collection has taken place.
"""
import gc
import os
import sys
import threading
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

EXIT = 5
PACE_SECONDS = 0.002  # between steps, so that the machine has time for the process that attaches


def ours() -> int:
    """The number of Python objects of vramscope, without the one finder that each process keeps."""
    kinds = [type(thing) for thing in gc.get_objects()]
    return sum(str(kind.__module__).startswith("vramscope") and kind.__name__ != "_Finder" for kind in kinds)


def main() -> int:
    gc.set_threshold(700, 10, 1_000_000)  # no full collections: reference cycles stay
    losses, workers, steps = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    torch.manual_seed(0)
    ended = threading.Event()
    if not steps:
        threading.Thread(target=lambda: (os.read(0, 1), ended.set()), daemon=True).start()
    counting = threading.Thread(target=lambda: [ended.wait(0.001) for _ in iter(ended.is_set, True)], daemon=True)
    counting.start()

    data = TensorDataset(torch.randn(512, 64), torch.randn(512, 1))
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(128, 1))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    done = 0
    with losses.open("w") as file:
        while not ended.is_set():
            for features, target in loader:
                loss = ((model(features) - target) ** 2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                file.write(loss.item().hex() + "\n")
                done += 1
                if done == 1:
                    print("ready", flush=True)
                if done == steps or (not steps and ended.wait(PACE_SECONDS)):
                    ended.set()
                    break
    print("left", ours(), flush=True)
    return EXIT


if __name__ == "__main__":
    sys.exit(main())
