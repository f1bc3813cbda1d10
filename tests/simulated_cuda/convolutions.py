# SPDX-License-Identifier: Apache-2.0
"""Runs convolutions, each twice, and writes the workspaces that PyTorch allocated for each: convolutions.py OUTPUT CASE...

A case is "channels", then any of ":half", ":last" (channels), ":fp32" (no TF32), ":benchmark", ":backward"."""
import json
import sys
from typing import Any, Dict, List

import torch


def events() -> List[Dict[str, Any]]:
    return torch.cuda.memory._snapshot()["device_traces"][0]


def workspaces(case: str) -> List[int]:
    """The sizes of allocations that are not for tensors."""
    channels, *options = case.split(":")
    torch.backends.cudnn.benchmark = "benchmark" in options
    torch.backends.cudnn.allow_tf32 = "fp32" not in options
    kind = {"dtype": torch.half if "half" in options else torch.float, "device": "cuda"}
    layout = torch.channels_last if "last" in options else torch.contiguous_format
    before = len(events())
    layer = torch.nn.Conv2d(int(channels), 64, 3, padding=1, bias=False, **kind).to(memory_format=layout)
    x = torch.empty(8, int(channels), 32, 32, requires_grad=True, **kind).to(memory_format=layout)
    for _ in range(2):
        y = layer(x)
        if "backward" in options:
            y.backward(torch.empty_like(y))
    tensors = {tensor.numel() * tensor.element_size() for tensor in (x, layer.weight, y)}
    return [event["size"] for event in events()[before:] if event["action"] == "alloc" and event["size"] not in tensors]


if __name__ == "__main__":
    torch.cuda.memory._record_memory_history(max_entries=10000)
    found = {case: workspaces(case) for case in sys.argv[2:]}
    with open(sys.argv[1], "w", encoding="utf-8") as output:
        json.dump(found, output)
