# SPDX-License-Identifier: Apache-2.0
"""Attention as separate operators, forward and backward: the program of a published allocation history, reconstructed from its stack frames.

    attention.py OUTPUT      writes [[action, bytes], ...] in the order of PyTorch's own history
"""
import json
import sys

import torch
from torch import Tensor

BATCH, LENGTH, WIDTH = 8, 4096, 16


def softmax(x: Tensor) -> Tensor:
    largest = x.max(dim=-1, keepdim=True).values
    powers = torch.exp(x - largest)
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total


def attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    scores = torch.einsum("bqd,bkd->bqk", queries, keys)
    scores = scores / WIDTH**0.5
    weights = softmax(scores)
    return torch.einsum("bqk,bkd->bqd", weights, values)


def main(output: str) -> None:
    torch.cuda.memory._record_memory_history(max_entries=100000)
    queries = torch.randn(BATCH, LENGTH, WIDTH, device="cuda", requires_grad=True)
    keys = torch.randn(BATCH, LENGTH, WIDTH, device="cuda", requires_grad=True)
    values = torch.randn(BATCH, LENGTH, WIDTH, device="cuda", requires_grad=True)
    result = attention(queries, keys, values)
    loss = result.sum()
    loss.backward()
    history = torch.cuda.memory._snapshot()["device_traces"][0]
    with open(output, "w", encoding="utf-8") as file:
        json.dump([[event["action"], event["size"]] for event in history if event["action"] != "snapshot"], file)


if __name__ == "__main__":
    main(sys.argv[1])
