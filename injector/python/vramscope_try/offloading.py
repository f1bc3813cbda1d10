# SPDX-License-Identifier: Apache-2.0
"""What autograd keeps for backward, on the host: torch.autograd.graph.save_on_cpu() around forward and loss (region.py says from where to where).

Tensors that are kept while other hooks stand inside, as those of a checkpoint do, are left to these.
"""

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
            return None  # nothing is kept, or not for a step
        notes.applied("offload", f"what autograd keeps in calls of {blocks.name_of(module)}")
        return hooks()

    Region(torch, "offload", notes, around, hooks).install()
