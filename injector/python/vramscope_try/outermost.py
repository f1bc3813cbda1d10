# SPDX-License-Identifier: Apache-2.0
"""Tells when a whole model is called: a module that is not called by another module.

Global hooks of torch.nn.Module, so DistributedDataParallel and other wrappers count as the whole. Not told: calls in a backward pass (a
checkpoint's recomputation), and calls that torch.compile traces.
"""

import sys
import threading
import warnings
from typing import Any, Callable, List, Optional

from vramscope_shim import compiler, patches

from .backward import Backward
from .notes import Notes

Entered = Callable[[Any], None]  # the module
Left = Callable[[bool], None]  # whether it raised

_instance: Optional["Outermost"] = None


def watch(torch: Any, lever: str, notes: Notes, entered: Entered, left: Optional[Left] = None) -> None:
    """What goes wrong in `entered` and `left` is noted as a refusal of that lever, and the program goes on."""
    global _instance
    if _instance is None:
        _instance = Outermost(torch)
    _instance.entered.append(notes.guarded(lever, entered))
    if left is not None:
        _instance.left.append(notes.guarded(lever, left))


class Outermost:
    def __init__(self, torch: Any) -> None:
        self._thread = threading.local()
        self.entered: List[Entered] = []
        self.left: List[Left] = []
        self._backward = Backward.of(torch)
        module = torch.nn.modules.module
        if hasattr(torch, "compiler") and hasattr(torch.compiler, "is_compiling"):
            compiler.is_compiling = torch.compiler.is_compiling
        # torch.compile says that hooks like ours are called once more for what it makes: which is a whole model, as we want it.
        warnings.filterwarnings("ignore", message="Using `torch.compile.module.` when there are global hooks")
        patches.register(torch, module.register_module_forward_pre_hook, self._before)
        patches.register(torch, module.register_module_forward_hook, self._after, always_call=True)

    def _before(self, module: Any, _inputs: Any) -> None:
        if compiler.is_compiling():
            return
        thread = self._thread.__dict__
        depth = thread.get("depth", 0)
        thread["depth"] = depth + 1
        if depth == 0 and not self._backward.running:
            for tell in self.entered:
                tell(module)

    def _after(self, _module: Any, _inputs: Any, _result: Any) -> None:
        if compiler.is_compiling():
            return
        thread = self._thread.__dict__
        thread["depth"] = max(thread.get("depth", 0) - 1, 0)  # 0: it was entered before we came
        if thread["depth"] == 0 and not self._backward.running:
            for tell in self.left:
                tell(sys.exc_info()[0] is not None)
