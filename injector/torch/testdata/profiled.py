# SPDX-License-Identifier: Apache-2.0
"""The same training under torch.profiler; prints what the profiler saw of memory."""

import recorder
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(10))
batch = torch.randn(4, 3, 12, 12)
model(batch)
optimizer = torch.optim.Adam(model.parameters())


def step() -> None:
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()


step()
with torch.profiler.profile(profile_memory=True) as profiler:
    recorder.mark(1)
    for _ in range(3):
        step()
    torch.empty(1000).share_memory_()
    recorder.mark(2)
for event in profiler.profiler.kineto_results.events():
    if event.name() == "[memory]":
        recorder.fact("memory", event.nbytes())
