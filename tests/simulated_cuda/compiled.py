# SPDX-License-Identifier: Apache-2.0
"""Compiles a function, trains a compiled model with CUDA graphs, and writes down what PyTorch reports about memory: compiled.py OUTPUT"""
import json
import os
import sys
from typing import Any, Callable, Dict

import torch
import torch._dynamo
import torch._inductor.utils
from torch import nn

WIDTH, WORDS = 64, 100


def chain(x: torch.Tensor) -> torch.Tensor:
    """Four operators. If they are one kernel, only the last allocates a tensor. The constant is computed while compiling."""
    constant = torch.full((1, 1), 4.0, device="cuda").sqrt() + 1
    return ((x * constant).sin() + 1).relu()


def peak(work: Callable[[], Any]) -> int:
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = work()
    del result
    return torch.cuda.max_memory_allocated() - before


def inference() -> Dict[str, Any]:
    x = torch.ones(1024, 1024, device="cuda")
    compiled = torch.compile(chain)
    _, code = torch._inductor.utils.run_and_get_code(compiled, x)
    return {"bytes": x.nbytes, "eager": peak(lambda: chain(x)), "compiled": peak(lambda: compiled(x)), "constant": "3.0" in code[0]}


def training() -> Dict[str, Any]:
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WORDS)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    compiled = torch.compile(model, mode="reduce-overhead")
    tokens = torch.randint(0, WORDS, (8, 64)).cuda()
    for _ in range(4):
        loss = nn.functional.cross_entropy(compiled(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    pools = {tuple(segment["segment_pool_id"]) for segment in torch.cuda.memory_snapshot()}
    return {"private_pools": len(pools - {(0, 0)}), "graphs_broken": len(torch._dynamo.utils.counters["graph_break"])}


def without_compiler() -> str:
    from triton.runtime import build

    os.environ["CC"] = "/nowhere/cc"
    build._find_compiler.cache_clear()
    try:
        build.compile_module_from_src("int x;", "launcher")
    except RuntimeError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    facts: Dict[str, Any] = {"chain": inference(), "training": training()}
    torch.special.erfcx(torch.ones(4, device="cuda"))  # PyTorch has NVRTC compile this one, and would keep it in the user's home
    facts["without_compiler"] = without_compiler()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(facts, file)
