# SPDX-License-Identifier: Apache-2.0
"""Trains a small model on CUDA whose modules and parameters have names that are markup, escapes and a megabyte long."""
import torch
from torch import nn

OWNED = "</script><script>owned=1</script><img src=x onerror=owned=1>"


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.add_module(OWNED, nn.Linear(512, 512))
        self.add_module("'\"\n\x1b[31mred", nn.Linear(512, 512))
        self.register_parameter("long" * 250_000, nn.Parameter(torch.ones(512)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for module in self.children():
            x = torch.relu(module(x))
        return x * next(self.parameters(recurse=False))


model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(5):
    optimizer.zero_grad()
    model(torch.rand(1024, 512, device="cuda")).sum().backward()
    optimizer.step()
