# SPDX-License-Identifier: Apache-2.0
"""Trains 64 layers of one size, whose states can be counted by hand: float32, AdamW, no biases."""

import torch
from torch import Tensor, nn

LAYERS = 64
WIDTH = 512


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def main() -> None:
    model = Layers().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(4):
        model(torch.randn(8, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
