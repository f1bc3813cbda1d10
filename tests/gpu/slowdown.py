# SPDX-License-Identifier: Apache-2.0
"""Prints the median milliseconds of a training step of a GPT of 85 million parameters, alone or watched by one of PyTorch's own tools.

    slowdown.py plain|profiler|history
"""
import contextlib
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "samples"))

from gpt import CONTEXT, VOCABULARY, Gpt  # noqa: E402

WARM, MEASURED, BATCH = 10, 40, 64  # steps 2 to 4 are recorded in depth; measured steps come later


def main(way: str) -> None:
    torch.manual_seed(0)
    net = Gpt(12, 768).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    tokens = torch.randint(0, VOCABULARY, (BATCH, CONTEXT), device="cuda")
    watch: contextlib.AbstractContextManager = contextlib.nullcontext()
    if way == "profiler":
        watch = torch.profiler.profile(profile_memory=True, record_shapes=True)
    elif way == "history":
        torch.cuda.memory._record_memory_history(max_entries=1_000_000)
    times = []
    with watch:
        for step in range(WARM + MEASURED):
            begin = time.perf_counter()
            with torch.autocast("cuda", torch.bfloat16):
                logits = net(tokens)
                loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), tokens.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()
            if step >= WARM:
                times.append(1000 * (time.perf_counter() - begin))
    print(f"{statistics.median(times):.4f}")


main(sys.argv[1])
