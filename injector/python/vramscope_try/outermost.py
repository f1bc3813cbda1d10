# SPDX-License-Identifier: Apache-2.0
"""Detects when a whole model is called: a module that is not called by another module.

Uses global hooks of torch.nn.Module, so DistributedDataParallel and other wrappers count as the whole model. Not reported: calls in a backward pass (a
checkpoint's recomputation), and calls that torch.compile traces."""

import sys
import threading
from typing import Any, Callable, List, Optional

from vramscope_core import guard, patches

from .backward import Backward
from .notes import Notes

Entered = Callable[[Any], None]  # the module
Left = Callable[[bool], None]  # whether it raised

_instance: Optional["Outermost"] = None


def watch(torch: Any, lever: str, notes: Notes, entered: Entered, left: Optional[Left] = None, undo: Callable[[], None] = lambda: None) -> None:
    """A failure in `entered` or `left` is noted as a refusal of that lever, after undo(), and the program goes on."""
    global _instance
    if _instance is None:
        _instance = Outermost(torch)
    _instance.entered.append(notes.guarded(lever, entered, undo=undo))
    _instance.undo.append(undo)
    if left is not None:
        _instance.left.append(notes.guarded(lever, left, undo=undo))


class Outermost:
    def __init__(self, torch: Any) -> None:
        self._thread = threading.local()
        self.entered: List[Entered] = []
        self.left: List[Left] = []
        self.undo: List[Callable[[], None]] = []
        self._backward = Backward.of(torch)
        module = torch.nn.modules.module
        if hasattr(torch, "compiler") and hasattr(torch.compiler, "is_compiling"):
            guard.is_compiling, guard.compiler_used = torch.compiler.is_compiling, True
        # Global hooks are also called for the module that torch.compile() creates, which counts as the whole model.
        patches.hide_module_hooks(torch)
        patches.register(torch, module.register_module_forward_pre_hook, guard.hook("try.outermost", self._before, self._failed))
        patches.register(torch, module.register_module_forward_hook, guard.hook("try.outermost", self._after, self._failed), always_call=True)

    def _failed(self, _error: Exception) -> None:
        """The nesting of calls is no longer known."""
        self._thread.__dict__["depth"] = 0
        for undo in self.undo:
            undo()

    def _before(self, module: Any, _inputs: Any) -> None:
        thread = self._thread.__dict__
        depth = thread.get("depth", 0)
        thread["depth"] = depth + 1
        if depth == 0 and not self._backward.running:
            for tell in self.entered:
                tell(module)

    def _after(self, _module: Any, _inputs: Any, _result: Any) -> None:
        thread = self._thread.__dict__
        thread["depth"] = max(thread.get("depth", 0) - 1, 0)  # 0: it was entered before our hooks were there
        if thread["depth"] == 0 and not self._backward.running:
            for tell in self.left:
                tell(sys.exc_info()[0] is not None)
