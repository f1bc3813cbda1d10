# SPDX-License-Identifier: Apache-2.0
"""Random weights are not drawn on the CPU: for a model of billions of parameters that takes minutes, and the simulated device would drop them.

A skipped tensor stays as torch.empty() made it: untouched pages, which take no host memory either. Small tensors, and tensors on the device (where a
kernel costs nothing, but may allocate), are initialized as usual."""

import sys
from typing import Any, Callable

from vramscope_core import guard

LARGE_BYTES = 64 << 10


def install() -> None:
    torch = sys.modules["torch"]
    init = sys.modules["torch.nn.init"]
    for name in dir(init):
        if name.endswith("_") and not name.startswith("_") and callable(getattr(init, name)):
            setattr(init, name, _unless_large(torch, getattr(init, name)))
    for name in ("normal_", "uniform_"):
        setattr(torch.Tensor, name, _unless_large(torch, getattr(torch.Tensor, name)))


def _unless_large(torch: Any, fill: Callable[..., Any]) -> Callable[..., Any]:
    def skip(call: guard.Call, *args: Any, **kwargs: Any) -> Any:
        tensor = args[0] if args else kwargs.get("tensor")
        if type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.device.type == "cpu" and tensor.nbytes >= LARGE_BYTES:
            return tensor
        return call(*args, **kwargs)

    return guard.instead("dryrun.weights", fill, skip)
