# SPDX-License-Identifier: Apache-2.0
"""Keeps on the host what autograd saves for backward: torch.autograd.graph.save_on_cpu() around forward and loss (region.py defines where it begins
and ends).

Tensors saved under inner hooks, such as those of a checkpoint, are left to those hooks."""

import sys
from typing import Any, Optional

from . import blocks
from .notes import Notes
from .region import Region


def install(notes: Notes) -> None:
    torch = sys.modules["torch"]
    hooks = torch.autograd.graph.save_on_cpu  # since 1.10

    def around(module: Any) -> Optional[Any]:
        if not (module.training and torch.is_grad_enabled()):
            return None  # autograd keeps nothing, or not for a training step
        notes.applied("offload", f"what autograd keeps in calls of {blocks.name_of(module)}")
        return hooks()

    Region(torch, "offload", notes, around, hooks).install()
