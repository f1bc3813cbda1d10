# SPDX-License-Identifier: Apache-2.0
"""Reports the steps of Keras' optimizers.

    eager     BaseOptimizer.apply runs in each step: its interval, its gradients, the end of the step
    traced    it runs once, while the function is traced. From then on each call of that function is a step, and the operators that compute its
              gradients are known by their names"""

import ctypes
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional

from vramscope_core import guard, native, patches

from . import buffers
from .tape import identity_of, tell_gradient
from .variables import Variables

HOOK = "python.optimizer"
ALIASES = ("Identity", "Reshape", "Squeeze", "ExpandDims")  # the result shares the memory of the operand
MOST_ALIASES = 16


class Track:
    """One optimizer."""

    __slots__ = ("window", "depth", "count")

    def __init__(self, optimizer: Any) -> None:
        self.window = native.StepRange(type(optimizer).__name__, id(optimizer))
        self.depth = 0
        self.count = 0


class Optimizers:
    def __init__(self, variables: Variables, traced: Callable[[Any, Any], None], stepped: Callable[[], None]) -> None:
        """traced(graph, optimizer) is called when a function that makes a step is traced to this graph. stepped() is called after a step in eager mode."""
        self._stepped = stepped
        self._variables = variables
        self._traced = traced
        self._tracks: Dict[int, Track] = {}
        self._gradient_op = native.function("tensorflow_gradient", None, [ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64])
        self._policy_told = False
        self.calls_in_a_step = 1

    def install(self) -> None:
        from keras.src.optimizers import base_optimizer, loss_scale_optimizer
        from tensorflow.python.eager import context
        from tensorflow.python.framework import ops

        self._eager: Callable[[], bool] = context.executing_eagerly
        self._graph: Callable[[], Any] = ops.get_default_graph
        patches.wrap_method(base_optimizer.BaseOptimizer, "apply", self._around)
        patches.wrap_method(loss_scale_optimizer.LossScaleOptimizer, "apply", guard.before(HOOK, self._scaled))
        native.coverage(HOOK, native.State.HOOKED)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        begin, done, raised = guard.hook(HOOK, self._begin), guard.hook(HOOK, self._done), guard.hook(HOOK, self._raised)

        def apply(optimizer: Any, grads: Any, *args: Any, **named: Any) -> Any:
            track = begin(optimizer, grads, args, named)
            if track is None:
                return original(optimizer, grads, *args, **named)
            try:
                result = original(optimizer, grads, *args, **named)
            except BaseException:
                raised(track)
                raise
            done(track)
            return result

        return apply

    def _begin(self, optimizer: Any, grads: Any, args: Any, named: Any) -> Optional[Track]:
        """The optimizer's track; None while the call is traced, or if it contains no step."""
        variables = args[0] if args else named.get("trainable_variables")
        targets = list(variables if variables is not None else getattr(optimizer, "_trainable_variables", ()))
        self._variables.add_optimizer(optimizer)
        self.calls_in_a_step = max(self.calls_in_a_step, getattr(optimizer, "gradient_accumulation_steps", None) or 1)
        if not self._policy_told:
            self._policy_told = True
            _tell_policy()
        if not isinstance(grads, (list, tuple)):
            return None
        if not self._eager():
            self._trace(optimizer, grads, targets)
            return None
        native.proven(HOOK)
        self._tell(grads, targets)
        track = self._tracks.get(id(optimizer))
        if track is None:
            track = self._tracks[id(optimizer)] = Track(optimizer)
            weakref.finalize(optimizer, self._tracks.pop, id(optimizer), None).atexit = False
        track.depth += 1
        if track.depth == 1:
            track.window.begin()
        return track

    def _done(self, track: Track) -> None:
        track.depth -= 1
        if track.depth == 0:
            track.count += 1
            track.window.done(track.count)
            self._stepped()

    def _raised(self, track: Track) -> None:
        track.depth -= 1
        if track.depth == 0:
            track.window.end()

    def _tell(self, grads: Any, targets: List[Any]) -> None:
        for gradient, target in zip(grads, targets):
            name = self._variables.name_of(target)
            held = getattr(gradient, "_value", gradient)
            if buffers.is_variable(held):
                self._variables.add_gradient(held, name)
            else:
                tell_gradient(gradient, name, target)

    def _trace(self, optimizer: Any, grads: Any, targets: List[Any]) -> None:
        graph = self._graph()
        while graph is not None:
            self._traced(graph, optimizer)
            graph = getattr(graph, "outer_graph", None)
        self._tell_operators(grads, targets)

    def _scaled(self, optimizer: Any, grads: Any, trainable_variables: Any = None) -> None:
        """Mixed precision: reports the gradients that come from the tape. The inner optimizer gets them divided by the loss scale."""
        if not self._eager() and isinstance(grads, (list, tuple)):
            self._tell_operators(grads, list(trainable_variables or getattr(optimizer, "_trainable_variables", ())))

    def _tell_operators(self, grads: Any, targets: List[Any]) -> None:
        for gradient, target in zip(grads, targets):
            held = getattr(gradient, "_value", gradient)
            name = self._variables.name_of(target)
            if buffers.is_variable(held):
                self._variables.add_gradient(held, name)
            elif gradient is not None and self._gradient_op is not None:
                for operator in _operators_of(gradient):
                    self._gradient_op(operator.encode(), native.intern(name), identity_of(target))


def _operators_of(gradient: Any) -> Iterator[str]:
    """The operators that may have allocated the memory of a traced gradient."""
    tensor = getattr(gradient, "values", gradient)
    for _ in range(MOST_ALIASES):
        operator = getattr(tensor, "op", None)
        if operator is None:
            return
        yield operator.name
        if operator.type not in ALIASES or not len(operator.inputs):
            return
        tensor = operator.inputs[0]


def _tell_policy() -> None:
    from keras.src.dtype_policies import dtype_policy

    native.fact("keras.dtype_policy", dtype_policy.dtype_policy().name)
