# SPDX-License-Identifier: Apache-2.0
"""Batches from tf.data in a loop of the program: `for x, y in dataset`. Model.fit reads its batches inside the traced function."""

from typing import Any, Callable, Iterator, Tuple

from vramscope_core import guard, native, patches

from . import buffers

HOOK = "python.dataloader"
MAX_DEPTH = 8


class Batches:
    def __init__(self) -> None:
        self._range = native.Range(native.Kind.DATA_LOADER, "tf.data")
        self._ready = native.moment(native.Mark.BATCH_READY, "batch")
        self._count = 0

    def install(self) -> None:
        from tensorflow.python.data.ops import iterator_ops

        patches.wrap_method(iterator_ops.OwnedIterator, "__next__", self._around)
        native.coverage(HOOK, native.State.HOOKED)

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        begin, end, ready = guard.hook(HOOK, self._range.begin), guard.hook(HOOK, self._range.end), guard.hook(HOOK, self._tell)

        def next_batch(iterator: Any) -> Any:
            begin()
            try:
                batch = original(iterator)
            finally:
                end()
            ready(batch)
            return batch

        return next_batch

    def _tell(self, batch: Any) -> None:
        self._count += 1
        self._ready(self._count)
        native.proven(HOOK)
        for name, tensor in tensors_in(batch, "batch", 0):
            try:
                address, size = buffers.place_of_tensor(tensor)
            except Exception:  # strings
                continue
            if address:
                native.label(native.Role.INPUT, native.Source.DATA_LOADER, address, size, native.intern(name), id(tensor))


def tensors_in(value: Any, path: str, depth: int) -> Iterator[Tuple[str, Any]]:
    if buffers.is_eager(value):
        yield path, value
    elif depth < MAX_DEPTH and isinstance(value, dict):
        for key in value:
            yield from tensors_in(value[key], f"{path}.{key}", depth + 1)
    elif depth < MAX_DEPTH and isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from tensors_in(inner, f"{path}[{index}]", depth + 1)
