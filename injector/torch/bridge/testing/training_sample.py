# SPDX-License-Identifier: Apache-2.0
"""A small transformer to record: all steps of its training are alike."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 2, dim // 2).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(batch, length, dim)
        return x + self.mlp(x)


class Training:
    def __init__(self, recompute: bool = False, amp: bool = False, **optimizer: bool) -> None:
        torch.manual_seed(1)
        self.recompute, self.amp = recompute, amp
        self.model = nn.ModuleDict({"embed": nn.Embedding(50, 32), "a": Block(32), "b": Block(32), "head": nn.Linear(32, 50, bias=False)})
        self.model["head"].weight = self.model["embed"].weight  # tied: the engine adds two gradients
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, **optimizer)
        self.tokens = torch.randint(0, 50, (4, 8))
        for _ in range(3):
            self.step()

    def loss(self) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.amp):
            x = self.model["embed"](self.tokens)
            for name in ("a", "b"):
                x = checkpoint(self.model[name], x, use_reentrant=False) if self.recompute else self.model[name](x)
            logits = self.model["head"](x).float()
            return F.cross_entropy(logits.view(-1, 50), self.tokens.view(-1))

    def step(self) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())
