# SPDX-License-Identifier: Apache-2.0
"""Calls of traced functions. One in which an optimizer updates variables is a training step: Model.fit's, or the program's own @tf.function.

With Model.compile(steps_per_execution=N) one call makes N steps; it counts as one."""

import ctypes
import weakref
from typing import Any, Callable, Dict, Optional, Tuple

from vramscope_core import guard, native, patches

HOOK = "python.functions"


class Step:
    """The steps of one optimizer, in all traced functions that call it."""

    __slots__ = ("scope", "count", "done")

    def __init__(self, optimizer: Any) -> None:
        self.scope = str(getattr(optimizer, "name", "")).encode()
        self.count = 0
        self.done = native.moment(native.Mark.OPTIMIZER_STEP_DONE, type(optimizer).__name__, id(optimizer))


class Functions:
    def __init__(self, stepped: Callable[[], None]) -> None:
        self._stepped = stepped
        self._steps: Dict[int, Tuple[Any, Step]] = {}  # id of a graph -> weak reference to it, the optimizer in it
        self._optimizers: Dict[int, Step] = {}
        self._step_begins = native.function("tensorflow_step_begin", None, [ctypes.c_char_p])
        self._step_ends = native.function("tensorflow_step_end", None, [])

    def install(self) -> None:
        from tensorflow.python.eager import context
        from tensorflow.python.eager.polymorphic_function import concrete_function

        self._eager: Callable[[], bool] = context.executing_eagerly
        patches.wrap_method(concrete_function.ConcreteFunction, "_call_flat", self._around)
        native.coverage(HOOK, native.State.HOOKED)

    def traced(self, graph: Any, optimizer: Any) -> None:
        step = self._optimizers.get(id(optimizer))
        if step is None:
            step = self._optimizers[id(optimizer)] = Step(optimizer)
        self._steps[id(graph)] = (weakref.ref(graph), step)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        begin, done, raised = guard.hook(HOOK, self._begin), guard.hook(HOOK, self._done), guard.hook(HOOK, self._raised)

        def _call_flat(function: Any, *args: Any, **named: Any) -> Any:
            step = begin(function)
            if step is None:
                return original(function, *args, **named)
            try:
                result = original(function, *args, **named)
            except BaseException:
                raised()
                raise
            done(step)
            return result

        return _call_flat

    def _begin(self, function: Any) -> Optional[Step]:
        """The optimizer that steps in this call; None if the call is no step."""
        if not self._steps:
            return None
        reference, step = self._steps.get(id(function.graph), (None, None))
        if reference is None or reference() is not function.graph or not self._eager():
            return None
        if self._step_begins is not None and step is not None:
            self._step_begins(step.scope)
        return step

    def _raised(self) -> None:
        if self._step_ends is not None:
            self._step_ends()

    def _done(self, step: Step) -> None:
        self._raised()
        step.count += 1
        step.done(step.count)
        native.proven(HOOK)
        self._stepped()
