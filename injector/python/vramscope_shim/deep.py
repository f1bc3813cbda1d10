# SPDX-License-Identifier: Apache-2.0
"""Module ranges, in deep steps only: the hooks that give them are the one expensive part (15 % of a 0.26 ms step).

While they are registered, torch takes its longer way through Module.__call__, so a traceback of those steps has its frames in it. With
torch.compile they would do harm: it compiles again when global hooks come or go (2.6), or warns about them (2.15). So from the first
function that is compiled on, deep steps have no module ranges.
"""

import sys
import threading
from typing import Any, Dict, List, Optional

from . import guard, native, patches
from .callers import Callers
from .kept_results import KeptResults
from .lasting import Lasting
from .modules import Registry
from .sliding_windows import SlidingWindows
from .sources import Sources
from .type_branches import Passing, TypeBranches
from .variables import Variables

HOOK = "python.modules"


class Call:
    """Of a module, that has not returned."""

    __slots__ = ("module", "range", "passing")

    def __init__(self, module: int, of: native.Range, passing: Optional[Passing]) -> None:
        self.module = module
        self.range = of
        self.passing = passing  # of a forward that asks for types


class ModuleRanges:
    def __init__(self, torch: Any, registry: Registry) -> None:
        self._torch = torch
        self._registry = registry
        self._callers = Callers(torch)
        lasting = Lasting()
        self._variables = Variables(torch, lasting)
        self._kept_results = KeptResults(lasting)
        self._type_branches = TypeBranches(torch)
        self._sources = Sources(torch)
        self._sliding_windows = SlidingWindows()
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
        self._sources.begin()
        self._sliding_windows.begin()
        module = self._torch.nn.modules.module
        register_before, register_after = module.register_module_forward_pre_hook, module.register_module_forward_hook
        self._handles.append(patches.register(self._torch, register_before, guard.hook(HOOK, self._before)))
        after = guard.hook(HOOK, self._after)
        try:
            self._handles.append(patches.register(self._torch, register_after, after, always_call=True))
        except TypeError:  # before 2.1: a module that raises is closed with the one around it
            self._handles.append(patches.register(self._torch, register_after, after))
        if self._window == 1:
            native.coverage(HOOK, native.State.HOOKED)

    def leave(self) -> None:
        if not self._handles:
            return
        while self._handles:
            self._handles.pop().remove()
        self._close(self._open_calls(), 0)

    def give_up(self) -> None:
        self._gave_up = True
        self.leave()
        native.coverage(HOOK, native.State.DISABLED, "torch.compile is in use and would compile again for the hooks")

    # --- the hooks; they need not ask whether dynamo is tracing: they are gone before it begins

    def _before(self, module: Any, arguments: Any) -> None:
        if _is_compiled(module):
            self.give_up()
            return
        calls = self._open_calls()
        around = calls[-1] if calls else None
        if around is None:  # a root: its tree may have been built since
            self._registry.refresh()
            self._sources.tell_callers(sys._getframe())
        elif around.passing is not None:
            around.passing.before_call(sys._getframe())
        self._sources.tell(module)
        self._sliding_windows.tell(module)
        path = self._registry.path_of(module)
        found = self._ranges.get(path)
        if found is None:
            found = self._ranges[path] = native.Range(native.Kind.MODULE, path)
        calls.append(Call(id(module), found, self._type_branches.of(module, arguments)))
        found.begin()
        if around is not None:
            frames = self._callers.frames(sys._getframe())
            self._callers.tell(frames)
            self._variables.tell(frames)

    def _after(self, module: Any, _args: Any, result: Any) -> None:
        calls = self._open_calls()
        for depth in range(len(calls) - 1, -1, -1):
            call = calls[depth]
            if call.module == id(module):
                if call.passing is not None:
                    call.passing.returned(result)
                self._close(calls, depth + 1)
                if depth and KeptResults.may_be(result):
                    self._kept_results.tell(result, self._callers.frames(sys._getframe()))
                if not depth:
                    self._sources.tell_result(result, self._callers.caller(sys._getframe()))
                self._close(calls, depth)
                return

    def _open_calls(self) -> List[Call]:
        thread = self._thread.__dict__
        if thread.get("window") != self._window:
            thread["window"], thread["calls"] = self._window, []
        return thread["calls"]

    @staticmethod
    def _close(calls: List[Call], depth: int) -> None:
        """Ends the ranges from `depth` on, innermost first: also those whose end nobody told us, because a module raised."""
        while len(calls) > depth:
            calls.pop().range.end()


def _is_compiled(module: Any) -> bool:
    """What torch.compile() made of a module."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    return dynamo is not None and issubclass(type(module), dynamo.OptimizedModule)
