# SPDX-License-Identifier: Apache-2.0
"""Trains a tiny model with one of the usual frameworks: programs.py NAME. On the GPU if there is one, else on the CPU.

Models come from configurations; nothing is downloaded. Each program asks the framework's own objects what it holds (witness.py).
"""
import sys

import one_process  # noqa: F401
import several_ranks  # noqa: F401
import torch
import variants  # noqa: F401
from catalog import PROGRAMS

if __name__ == "__main__":
    torch.manual_seed(0)
    PROGRAMS[sys.argv[1]].train()
