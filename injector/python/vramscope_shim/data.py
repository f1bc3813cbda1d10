# SPDX-License-Identifier: Apache-2.0
"""Batches from a DataLoader: which tensors they hold, under names like `batch[0]` and `batch.input_ids`.

Many libraries put an iterator of their own around the loader. It reads one batch ahead and returns the one before, on the device:

    for ahead in loader:                      here, while the loader makes the next batch, `batch` is what
        yield batch                           the program will get
        batch = move_to_device(ahead)

So we read the variables of the generators around a loader. A variable with the keys, shapes and types of the batch before is that batch."""

import sys
from collections.abc import Mapping
from itertools import islice
from typing import Any, Callable, Dict, Iterator, Tuple

from vramscope_core import native

from . import storage
from .modules import Registry

HOOK = "python.dataloader"
MAX_DEPTH = 8
MAX_TENSORS = 1024
MAX_ITERATORS = 8  # nested in one another
GENERATORS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
NOBODY_ELSE = 3  # references to a frame's dictionary: the frame's, a variable, the argument of getrefcount

Form = Dict[str, Tuple[Any, Any]]  # name in the batch -> shape and type


class Batches:
    def __init__(self, registry: Registry, read: Callable[[int], None]) -> None:
        """read(batches that were read before) is called before each batch that a loader returns."""
        self._registry = registry
        self._read = read
        self._ready = native.moment(native.Mark.BATCH_READY, "batch")
        self._count = 0
        self._before: Form = {}  # of the last batch
        self._kind_before = 0  # id of its class

    def ready(self, batch: Any, frame: Any) -> None:
        """A loader is about to return `batch`, from that frame."""
        self._read(self._count)
        self._count += 1
        self._ready(self._count)
        native.proven(HOOK)
        with storage.untouched():
            tensors = _first_tensors_in(batch)
            self._tell(tensors)
            if self._before:
                self._tell_held_around(frame.f_back)
            self._before, self._kind_before = _form_of(tensors), id(type(batch))
        if not self._registry.looks:
            self._registry.look()

    def _tell_held_around(self, frame: Any) -> None:
        """Labels the batch before if a generator that calls the loader holds it in a variable. Up to Python 3.12, a frame keeps the dictionary of
        variables that we read, with references of its own. So that it keeps nothing alive, we empty it, unless the program has it too, from locals()."""
        for _ in range(MAX_ITERATORS):
            if frame is None or not frame.f_code.co_flags & GENERATORS:
                return
            variables = frame.f_locals
            try:
                for value in variables.values():
                    tensors = _first_tensors_in(value) if id(type(value)) == self._kind_before else {}
                    if tensors and _form_of(tensors) == self._before:
                        self._tell(tensors)
            finally:
                if type(variables) is dict and sys.getrefcount(variables) == NOBODY_ELSE:
                    variables.clear()
            frame = frame.f_back

    @staticmethod
    def _tell(tensors: Dict[str, Any]) -> None:
        for name, tensor in tensors.items():
            for suffix, part, address, size in storage.places(tensor):
                native.label(native.Role.INPUT, native.Source.DATA_LOADER, address, size, native.intern(name + suffix), part._cdata)


def _first_tensors_in(batch: Any) -> Dict[str, Any]:
    return dict(islice(tensors_in(batch, "batch"), MAX_TENSORS))


def _form_of(tensors: Dict[str, Any]) -> Form:
    return {name: (_shape_of(tensor), tensor.dtype) for name, tensor in tensors.items()}


def _shape_of(tensor: Any) -> Any:
    try:
        return tuple(tensor.shape)
    except RuntimeError:  # a nested tensor has no shape
        return None


def tensors_in(value: Any, path: str, depth: int = 0) -> Iterator[Tuple[str, Any]]:
    """(name, tensor) for the tensors in nested sequences, named tuples, mappings (BatchEncoding is one) and dataclasses."""
    if storage.is_tensor(value):
        yield path, value
    elif depth == MAX_DEPTH:
        return
    elif isinstance(value, Mapping):
        for key in list(value):
            yield from tensors_in(value[key], f"{path}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        fields = getattr(value, "_fields", None)
        for index, inner in enumerate(value):
            name = f"{path}.{fields[index]}" if fields else f"{path}[{index}]"
            yield from tensors_in(inner, name, depth + 1)
    elif hasattr(type(value), "__dataclass_fields__") and not isinstance(value, type):
        for key in type(value).__dataclass_fields__:
            yield from tensors_in(getattr(value, key, None), f"{path}.{key}", depth + 1)
