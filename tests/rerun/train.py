# SPDX-License-Identifier: Apache-2.0
"""A small model with attention, trained from a DataLoader: what `vramscope whatif` answers by running its noted program again."""
import sys

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (part.unsqueeze(1) for part in self.mix(self.norm(x)).chunk(3, dim=-1))
        return x + self.out(F.scaled_dot_product_attention(q, k, v).squeeze(1))


class Model(nn.Module):
    def __init__(self, words: int = 512, width: int = 128) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(3))
        self.head = nn.Linear(width, words)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main() -> None:
    in_16_bits = "--bf16" in sys.argv
    model = Model().to("cuda")
    if in_16_bits:
        model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.arange(64 * 32 * 10).reshape(-1, 64) % 512
    for batch, in DataLoader(TensorDataset(tokens), batch_size=32):
        batch = batch.to("cuda")
        logits = model(batch)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
