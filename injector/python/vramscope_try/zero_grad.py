# SPDX-License-Identifier: Apache-2.0
"""zero_grad() of optimizers and modules frees the gradients, or fills them with zeros, whatever the program passes."""

import importlib
import sys
from typing import Any, Callable

from vramscope_core import guard

from .notes import Notes


def install(to_none: bool, notes: Notes) -> None:
    def forced(original: Callable[..., Any]) -> Callable[..., Any]:
        def zero_grad(call: guard.Call, owner: Any, set_to_none: bool = to_none) -> Any:
            notes.applied("zero-grad-to-none", f"zero_grad(set_to_none={to_none})")
            return call(owner, set_to_none=to_none)

        return guard.instead("try.zero_grad", original, zero_grad)

    for kind in (importlib.import_module("torch.optim.optimizer").Optimizer, sys.modules["torch.nn"].Module):
        kind.zero_grad = forced(kind.zero_grad)
