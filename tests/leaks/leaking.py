# SPDX-License-Identifier: Apache-2.0
"""A training loop that leaks in every usual way; each line that allocates what is kept ends in `# leak: NAME`.

    leaking.py [NAME...]      only those; default: all
"""
import sys
from typing import Any, Dict, List

import torch
from torch import Tensor, nn

STEPS = 16
DEVICE = "cuda"


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(64, 64)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).tanh()  # leak: hook


def main(names: List[str]) -> None:
    asked = set(names or ("loss_list", "graph", "cache", "hook", "pinned", "output"))
    first, hooked, side = nn.Linear(64, 64).to(DEVICE), Hooked().to(DEVICE), nn.Linear(64, 256).to(DEVICE)
    optimizer = torch.optim.AdamW([*first.parameters(), *hooked.parameters()])
    losses: List[Tensor] = []
    graphs: List[Tensor] = []
    outputs: List[Tensor] = []
    pinned: List[Tensor] = []
    seen: List[Tensor] = []
    cache: Dict[int, Tensor] = {}

    def remember(_module: Any, _inputs: Any, output: Tensor) -> None:
        seen.append(output.detach())

    if "hook" in asked:
        hooked.register_forward_hook(remember)
    for step in range(STEPS):
        x = torch.randn(48, 64, device=DEVICE)
        logits = hooked(first(x)) * 2  # leak: output
        loss = logits.pow(2).mean()  # leak: loss_list
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if "loss_list" in asked:
            losses.append(loss)
        if "output" in asked:
            outputs.append(logits.detach())
        if "graph" in asked:
            graphs.append(side(x).exp().sum())  # leak: graph
        if "cache" in asked:
            cache[step] = torch.ones(1000 + step, device=DEVICE)  # leak: cache
        if "pinned" in asked:
            pinned.append(torch.empty(100_000, pin_memory=True))  # leak: pinned


if __name__ == "__main__":
    main(sys.argv[1:])
