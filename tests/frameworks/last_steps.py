# SPDX-License-Identifier: Apache-2.0
"""Trains with the watch of `VramscopeCallback(on_oom="trace")` until memory runs out. Usage, under `vramscope dryrun`: last_steps.py FOLDER

A dry run records the program, so the watch would not record it too. Therefore the training is a second process, which only has the simulated GPU."""
import os
import subprocess
import sys

STEPS = 5


def without_recorder() -> "dict[str, str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VRAMSCOPE") or name == "VRAMSCOPE_BIN"}
    kept["LD_PRELOAD"] = ":".join(path for path in kept["LD_PRELOAD"].split(":") if "libvramscope_injector" not in path)
    return kept


def train(folder: str) -> None:
    import torch

    from vramscope.integrations.memory import watch_for

    model = torch.nn.Linear(256, 256).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch = watch_for("trace", folder)
    watch.begin()
    for _ in range(STEPS):
        model(torch.ones(8, 256, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    try:
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        print("out of memory")
    watch.end()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(subprocess.run([sys.executable, __file__, "train", sys.argv[1]], env=without_recorder()).returncode)
    train(sys.argv[2])
