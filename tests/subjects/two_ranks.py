# SPDX-License-Identifier: Apache-2.0
"""Two processes with a rank each, on a GPU each. Rank 0 uses more memory. Rank 1 keeps 65,536 floats of every step, and its last request fails."""
import os
import subprocess
import sys

STEPS = 8
KEPT_FLOATS = 65536


def launch() -> int:
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}) for rank in (0, 1)]
    return max(rank.wait() for rank in ranks)


def train(rank: int) -> None:
    import torch

    device = torch.device("cuda", rank)
    model = torch.nn.Linear(256, 256).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    batch = 4096 if rank == 0 else 64
    kept = []
    for _ in range(STEPS):
        model(torch.randn(batch, 256, device=device)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 1:
            kept.append(torch.empty(KEPT_FLOATS, device=device))
    if rank == 1:
        torch.empty(1 << 40, dtype=torch.uint8, device=device)


if __name__ == "__main__":
    if "RANK" in os.environ:
        train(int(os.environ["RANK"]))
    else:
        sys.exit(launch())
