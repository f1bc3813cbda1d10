# SPDX-License-Identifier: Apache-2.0
"""Module ranges, in deep steps only: the hooks for them are the one expensive part (15 % of a 0.26 ms step).

While they are registered, torch takes its longer path through Module.__call__, so a traceback of those steps has those frames in it. With
torch.compile they would do harm: it recompiles when global hooks come or go (2.6), or warns about them (2.15). So after the first compiled function,
deep steps have no module ranges."""

import sys
import threading
from typing import Any, Dict, List, Tuple

from vramscope_core import guard, native, patches

from .modules import Registry

HOOK = "python.modules"

Call = Tuple[int, native.Range]  # a module's call that has not returned: id of the module, its range


class ModuleRanges:
    def __init__(self, torch: Any, registry: Registry) -> None:
        self._torch = torch
        self._registry = registry
        self._handles: List[Any] = []
        self._gave_up = False
        self._ranges: Dict[str, native.Range] = {}
        self._thread = threading.local()
        self._window = 0  # counts windows, so that a thread does not go on with ranges of an earlier one

    def install(self, torch: Any) -> None:
        patches.hide_module_hooks(torch)
        if native.deep():
            self.enter()

    def enter(self) -> None:
        """The step that begins now is deep."""
        if self._handles or self._gave_up:
            return
        self._window += 1
        module = self._torch.nn.modules.module
        register_before, register_after = module.register_module_forward_pre_hook, module.register_module_forward_hook
        self._handles.append(patches.register(self._torch, register_before, guard.hook(HOOK, self._before)))
        after = guard.hook(HOOK, self._after)
        try:
            self._handles.append(patches.register(self._torch, register_after, after, always_call=True))
        except TypeError:  # before 2.1: the range of a module that raises ends with that of the module around it
            self._handles.append(patches.register(self._torch, register_after, after))
        if self._window == 1:
            native.coverage(HOOK, native.State.HOOKED)

    def leave(self) -> None:
        while self._handles:
            self._handles.pop().remove()
        self._close(self._open_calls(), 0)

    def give_up(self) -> None:
        self._gave_up = True
        self.leave()
        native.coverage(HOOK, native.State.DISABLED, "torch.compile is in use and would compile again for the hooks")

    # --- the hooks; they need not check whether dynamo is tracing: they are removed before it begins

    def _before(self, module: Any, _arguments: Any) -> None:
        if _is_compiled(module):
            self.give_up()
            return
        calls = self._open_calls()
        if not calls:  # a root: its tree may have been built since
            self._registry.refresh()
        path = self._registry.path_of(module)
        found = self._ranges.get(path)
        if found is None:
            found = self._ranges[path] = native.Range(native.Kind.MODULE, path)
        calls.append((id(module), found))
        found.begin()

    def _after(self, module: Any, _arguments: Any, _result: Any) -> None:
        calls = self._open_calls()
        for depth in range(len(calls) - 1, -1, -1):
            if calls[depth][0] == id(module):
                self._close(calls, depth)
                return

    def _open_calls(self) -> List[Call]:
        thread = self._thread.__dict__
        if thread.get("window") != self._window:
            thread["window"], thread["calls"] = self._window, []
        return thread["calls"]

    @staticmethod
    def _close(calls: List[Call], depth: int) -> None:
        """Ends the ranges from `depth` on, innermost first. Includes those whose end was not reported, because a module raised."""
        while len(calls) > depth:
            calls.pop()[1].end()


def _is_compiled(module: Any) -> bool:
    """The module that torch.compile() created from a module."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    return dynamo is not None and issubclass(type(module), dynamo.OptimizedModule)
