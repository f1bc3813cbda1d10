# SPDX-License-Identifier: Apache-2.0
"""torch.profiler.record_function scopes: the user's own, and those in which torch wraps its training loop calls.

    Optimizer.step#Adam.step             the window is the optimizer hooks'; tells us when a step raised
    Optimizer.zero_grad#Adam.zero_grad   kZeroGrad
    enumerate(DataLoader)#....__next__   kDataLoader, and the batch it returns
    anything else                        kScope

These scopes are open while torch's own frame runs, so their __enter__ and __exit__ tell us about the call without a wrapper of ours
around it, which would show in tracebacks; arguments and results are that frame's local variables.
"""

import sys
from typing import Any, Callable, Dict

from . import data, native, patches
from .optimizers import Optimizers

HOOK = "python.scopes"
MAX_NAMES = 4096  # names like "step 1234" never end, and each is kept


class Scope:
    """What happens when a scope of one name is entered and left; `frame` is the caller's."""

    def __init__(self, kind: int, name: str) -> None:
        window = native.Range(kind, name)
        self.begin: Callable[[], None] = window.begin
        self.end: Callable[[], None] = window.end

    def entered(self, frame: Any) -> None:
        self.begin()

    def left(self, frame: Any, failed: bool) -> None:
        self.end()


class ZeroGradScope(Scope):
    def __init__(self, name: str) -> None:
        super().__init__(native.Kind.ZERO_GRAD, name)
        self._moment = native.Moment(native.Mark.ZERO_GRAD, name)

    def left(self, frame: Any, failed: bool) -> None:
        self.end()
        if not failed:
            self._moment.value.value = bool(frame.f_locals.get("set_to_none"))
            self._moment.say()


class BatchScope(Scope):
    def __init__(self, name: str, batches: data.Batches) -> None:
        super().__init__(native.Kind.DATA_LOADER, name)
        self._batches = batches

    def left(self, frame: Any, failed: bool) -> None:
        self.end()
        if not failed:
            self._batches.ready(frame.f_locals.get("data"))


class StepScope(Scope):
    def __init__(self, name: str, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def entered(self, frame: Any) -> None:
        if not self._optimizers.hooked:
            self._optimizers.before(self._optimizer(frame))

    def left(self, frame: Any, failed: bool) -> None:
        if failed:
            self._optimizers.raised(self._optimizer(frame))
        elif not self._optimizers.hooked:
            self._optimizers.after(self._optimizer(frame))

    @staticmethod
    def _optimizer(frame: Any) -> Any:
        local = frame.f_locals
        return local["self"] if "self" in local else local["obj"]  # 1.13 calls it obj


class Scopes:
    def __init__(self, optimizers: Optimizers, batches: data.Batches) -> None:
        self._optimizers = optimizers
        self._batches = batches
        self._scopes: Dict[str, Scope] = {}

    def install(self, torch: Any) -> None:
        record_function = torch.autograd.profiler.record_function
        scopes, meet = self._scopes, self._meet

        def entering(original: Callable[..., Any]) -> Callable[..., Any]:
            def __enter__(self: Any) -> Any:
                result = original(self)
                try:
                    (scopes.get(self.name) or meet(self.name)).entered(sys._getframe(1))
                except Exception as error:
                    native.trouble(HOOK, error)
                return result

            return __enter__

        def leaving(original: Callable[..., Any]) -> Callable[..., Any]:
            def __exit__(self: Any, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
                try:
                    (scopes.get(self.name) or meet(self.name)).left(sys._getframe(1), exc_type is not None)
                except Exception as error:
                    native.trouble(HOOK, error)
                return original(self, exc_type, exc_value, traceback)

            return __exit__

        patches.wrap_method(record_function, "__enter__", entering)
        patches.wrap_method(record_function, "__exit__", leaving)
        native.coverage(HOOK, native.State.HOOKED)

    def _meet(self, name: str) -> Scope:
        kind, _, detail = name.partition("#")
        scope: Scope
        if kind == "Optimizer.step":
            scope = StepScope(name, self._optimizers)
        elif kind == "Optimizer.zero_grad":
            scope = ZeroGradScope(detail.partition(".")[0])
        elif kind == "enumerate(DataLoader)":
            scope = BatchScope(detail.partition(".")[0], self._batches)
        elif len(self._scopes) >= MAX_NAMES:
            return self._scopes.setdefault("", Scope(native.Kind.SCOPE, "(one of many names)"))
        else:
            scope = Scope(native.Kind.SCOPE, name)
        self._scopes[name] = scope
        return scope
