# SPDX-License-Identifier: Apache-2.0
"""Prints, as JSON, how much memory this GPU needs in addition to tensors. check.py runs it in a new process for each measurement.

    facts.py context      right after the context was made
    facts.py kernels      after a convolution, a matrix product and a reduction, with and without half precision
"""
import ctypes
import json
import os
import sys
from typing import Any, Dict

import torch


def driver_version(nvml: Any) -> str:
    text = ctypes.create_string_buffer(96)
    return text.value.decode() if nvml.nvmlSystemGetDriverVersion(text, len(text)) == 0 else "?"


def used_by_others_and_us() -> int:
    free, total = torch.cuda.mem_get_info()
    return total - free


def run_kernels() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        images = torch.randn(4, 8, 32, 32, device="cuda", dtype=dtype)
        torch.nn.functional.conv2d(images, torch.randn(8, 8, 3, 3, device="cuda", dtype=dtype)).sum()
        matrix = torch.randn(256, 256, device="cuda", dtype=dtype)
        torch.nn.functional.softmax(matrix @ matrix, dim=0).mean()
    torch.cuda.synchronize()


def main(what: str) -> None:
    torch.cuda.init()
    if what == "kernels":
        run_kernels()
    torch.cuda.empty_cache()
    properties = torch.cuda.get_device_properties(0)
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    nvml.nvmlInit_v2()
    facts: Dict[str, Any] = {
        "pid": os.getpid(), "gpu": properties.name, "capacity_bytes": torch.cuda.mem_get_info()[1], "driver": driver_version(nvml),
        "multiprocessors": properties.multi_processor_count, "torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
        "used_bytes": used_by_others_and_us() - torch.cuda.memory_reserved(),
    }
    print(json.dumps(facts))


main(sys.argv[1])
