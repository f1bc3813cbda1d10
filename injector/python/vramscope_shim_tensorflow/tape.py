# SPDX-License-Identifier: Apache-2.0
"""Reports GradientTape.gradient: in eager mode it is the backward pass, and its results are gradients.

If it raises, the traceback shows one frame of ours: Python has no other way to see its result."""

from typing import Any, Callable, Iterator, Tuple

from vramscope_core import guard, native, patches

from . import buffers

HOOK = "python.tape"


class Tape:
    def __init__(self, name_of: Callable[[Any], str]) -> None:
        self._name_of = name_of
        self._range = native.Range(native.Kind.BACKWARD, "GradientTape.gradient")

    def install(self) -> None:
        from tensorflow.python.eager import backprop, context

        self._eager = context.executing_eagerly
        patches.wrap_method(backprop.GradientTape, "gradient", self._around)
        native.coverage(HOOK, native.State.HOOKED)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        begin, end, results = guard.hook(HOOK, self._begin), guard.hook(HOOK, self._end), guard.hook(HOOK, self._results)

        def gradient(tape: Any, target: Any, sources: Any, *args: Any, **named: Any) -> Any:
            eager = begin()
            try:
                found = original(tape, target, sources, *args, **named)
            finally:
                if eager:
                    end()
            if eager:
                results(found, sources)
            return found

        return gradient

    def _begin(self) -> bool:
        if not self._eager():
            return False
        native.proven(HOOK)
        self._range.begin()
        return True

    def _end(self) -> None:
        self._range.end()

    def _results(self, found: Any, sources: Any) -> None:
        for source, gradient in pairs(sources, found):
            tell_gradient(gradient, self._name_of(source) if hasattr(source, "name") else "", source)


def tell_gradient(gradient: Any, name: str, variable: Any) -> None:
    if not buffers.is_eager(gradient):
        gradient = getattr(gradient, "values", None)  # IndexedSlices of an embedding: its rows
    if gradient is None or not buffers.is_eager(gradient):
        return
    try:
        address, size = buffers.place_of_tensor(gradient)
    except Exception:  # a type that DLPack does not know
        return
    if address:
        native.label(native.Role.GRADIENT, native.Source.OPTIMIZER, address, size, native.intern(name), identity_of(variable))


def identity_of(variable: Any) -> int:
    """The identity of a tf.Variable, as in its own label; for a Keras variable, that of the tf.Variable that it holds."""
    return id(getattr(variable, "_value", variable))


def pairs(sources: Any, found: Any) -> Iterator[Tuple[Any, Any]]:
    """(source, gradient) in nested lists, tuples and dictionaries of the same form."""
    if isinstance(sources, dict) and isinstance(found, dict):
        for key in sources:
            yield from pairs(sources[key], found.get(key))
    elif isinstance(sources, (list, tuple)) and isinstance(found, (list, tuple)):
        for source, gradient in zip(sources, found):
            yield from pairs(source, gradient)
    elif found is not None:
        yield sources, found
