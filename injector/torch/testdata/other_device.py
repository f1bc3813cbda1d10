# SPDX-License-Identifier: Apache-2.0
"""Reports blocks of a CUDA device like the caching allocator; no device is needed."""

import ctypes

import recorder
import torch

CUDA_1 = 1 | 1 << 8  # c10::Device{type, index} in one register
report = ctypes.CDLL(None)._ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]

torch.ones(100)
recorder.mark(1)
report(0x7F0000000000, 1024, 1024, 2097152, CUDA_1)
report(0x7F0000000000, -1024, 0, 2097152, CUDA_1)
torch.ones(100)
recorder.mark(2)
