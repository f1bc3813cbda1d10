# SPDX-License-Identifier: Apache-2.0
"""Requests more memory than there is."""

import torch

try:
    torch.empty(1 << 50, dtype=torch.uint8)
except RuntimeError:
    print("refused")
