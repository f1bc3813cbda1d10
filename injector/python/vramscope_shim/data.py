# SPDX-License-Identifier: Apache-2.0
"""Batches from a DataLoader: which tensors they hold, under names like `batch[0]` and `batch.input_ids`."""

from collections.abc import Mapping
from typing import Any, Iterator, Tuple

from . import native, storage
from .modules import Registry

HOOK = "python.dataloader"
MAX_DEPTH = 8
MAX_TENSORS = 1024


class Batches:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._ready = native.moment(native.Mark.BATCH_READY, "batch")
        self._count = 0

    def ready(self, batch: Any) -> None:
        """A loader is about to return `batch`."""
        self._count += 1
        self._ready(self._count)
        native.proven(HOOK)
        with storage.untouched():
            for count, (name, tensor) in enumerate(tensors_in(batch, "batch")):
                if count == MAX_TENSORS:
                    break
                for suffix, part, address, size in storage.places(tensor):
                    name_id = native.intern(name + suffix)
                    native.label(native.Role.INPUT, native.Source.DATA_LOADER, address, size, name_id, part._cdata)
        if not self._registry.looks:
            self._registry.look()


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
