# SPDX-License-Identifier: Apache-2.0
"""Reports torch.profiler.record_function scopes: the user's own, and those that torch opens around calls of the training loop.

    Optimizer.step#Adam.step             the interval comes from the optimizer hooks; shows when a step raised
    Optimizer.zero_grad#Adam.zero_grad   kZeroGrad
    enumerate(DataLoader)#....__next__   kDataLoader, and the batch it returns
    anything else                        kScope

These scopes are open while torch's own frame runs. So their __enter__ and __exit__ show us the call without a wrapper of ours around it, which would
appear in tracebacks. Arguments and results are that frame's local variables."""

import sys
from time import monotonic
from typing import Any, Callable, Dict, NamedTuple, Optional

from vramscope_core import guard, native, patches
from vramscope_core.pace import Pace

from . import data
from .optimizers import Optimizers

HOOK = "python.scopes"
MAX_NAMES = 4096  # names like "step 1234" never end, and each is kept

Action = Optional[Callable[[], None]]  # None: nothing to do


class Scope(NamedTuple):
    """What to do when a scope of one name is entered, left, and left by an exception. Mostly the injector's own functions: a step passes several
    scopes, and every Python function on the way costs time."""

    begin: Action
    end: Action
    failed: Action


def _caller() -> Any:
    """Called by an action: the frame that contains the scope."""
    return sys._getframe(4)  # skips this function, the action, its caller, and __enter__ or __exit__


def plain(kind: int, name: str) -> Scope:
    window = native.Range(kind, name)
    return Scope(window.begin, window.end, window.end)


def zero_grad(name: str) -> Scope:
    window = native.Range(native.Kind.ZERO_GRAD, name)
    zeroed = native.moment(native.Mark.ZERO_GRAD, name)
    pace = Pace()

    def end() -> None:
        """The mark is set only as often as tensors are examined: the argument hardly ever changes, and reading a frame's variables is expensive."""
        window.end()
        if monotonic() > pace.next_look:
            pace.start()
            zeroed(bool(_caller().f_locals.get("set_to_none")))
            pace.finish(changed=False)

    return Scope(window.begin, end, window.end)


def batch(name: str, batches: data.Batches) -> Scope:
    window = native.Range(native.Kind.DATA_LOADER, name)

    def end() -> None:
        window.end()
        frame = _caller()
        batches.ready(frame.f_locals.get("data"), frame)

    return Scope(window.begin, end, window.end)


def optimizer_step(optimizers: Optimizers) -> Scope:
    def optimizer(frame: Any) -> Any:
        local = frame.f_locals
        return local["self"] if "self" in local else local["obj"]  # 1.13 calls it obj

    def failed() -> None:
        optimizers.raised(optimizer(_caller()))

    if optimizers.hooked:
        return Scope(None, None, failed)
    return Scope(lambda: optimizers.before(optimizer(_caller())), lambda: optimizers.after(optimizer(_caller())), failed)


class Scopes:
    def __init__(self, optimizers: Optimizers, batches: data.Batches) -> None:
        self._optimizers = optimizers
        self._batches = batches
        self._scopes: Dict[str, Scope] = {}

    def install(self, torch: Any) -> None:
        record_function = torch.autograd.profiler.record_function
        patches.wrap_method(record_function, "__enter__", guard.after(HOOK, self._entered))
        patches.wrap_method(record_function, "__exit__", guard.before(HOOK, self._leaving))
        native.coverage(HOOK, native.State.HOOKED)

    def _entered(self, scope: Any) -> None:
        begin = (self._scopes.get(scope.name) or self._meet(scope.name)).begin
        if begin is not None:
            begin()

    def _leaving(self, scope: Any, exc_type: Any, *_: Any) -> None:
        found = self._scopes.get(scope.name) or self._meet(scope.name)
        end = found.end if exc_type is None else found.failed
        if end is not None:
            end()

    def _meet(self, name: str) -> Scope:
        kind, _, detail = name.partition("#")
        if kind == "Optimizer.step":
            scope = optimizer_step(self._optimizers)
        elif kind == "Optimizer.zero_grad":
            scope = zero_grad(detail.partition(".")[0])
        elif kind == "enumerate(DataLoader)":
            scope = batch(detail.partition(".")[0], self._batches)
        elif len(self._scopes) >= MAX_NAMES:
            return self._scopes.setdefault("", plain(native.Kind.SCOPE, "(one of many names)"))
        else:
            scope = plain(native.Kind.SCOPE, name)
        self._scopes[name] = scope
        return scope
