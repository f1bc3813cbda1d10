# SPDX-License-Identifier: Apache-2.0
"""Calls of Keras layers in eager mode, by path: `mlp/fc1`.

Layer.__call__ fetches the call context before it calls the layer, and resets it at the end, even after an exception. We wrap these two methods: no code
of the program runs inside them, so no frame of ours is in its tracebacks. In a traced function the names of the operators have the path instead."""

from typing import Any, Callable, Dict

from vramscope_core import guard, native, patches

HOOK = "python.modules"


class Layers:
    def __init__(self) -> None:
        self._ranges: Dict[str, native.Range] = {}

    def install(self) -> None:
        from keras.src.layers import layer
        from tensorflow.python.eager import context

        self._eager: Callable[[], bool] = context.executing_eagerly
        patches.wrap_method(layer.Layer, "_get_call_context", guard.after(HOOK, self._begin))
        patches.wrap_method(layer.Layer, "_maybe_reset_call_context", guard.after(HOOK, self._end))
        native.coverage(HOOK, native.State.HOOKED)

    def _begin(self, layer: Any) -> None:
        if self._eager():
            native.proven(HOOK)
            self._range_of(layer).begin()

    def _end(self, layer: Any) -> None:
        if self._eager():
            self._range_of(layer).end()

    def _range_of(self, layer: Any) -> native.Range:
        path = layer.path or layer.name
        found = self._ranges.get(path)
        if found is None:
            found = self._ranges[path] = native.Range(native.Kind.MODULE, path)
        return found
