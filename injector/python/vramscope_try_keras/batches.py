# SPDX-License-Identifier: Apache-2.0
"""Another batch size, where a program names it:

    fit, evaluate, predict on arrays                     ArrayDataAdapter(batch_size=...), which Keras creates for each of them
    tf.data: batch, padded_batch, ragged_batch           its first argument
    keras.utils.image_dataset_from_directory and others  they call Dataset.batch

A factor applies to each of them. A number applies to the first one; the others keep their ratio to it. Batches that the program itself makes
(train_on_batch, PyDataset, generators) are left as they are."""

import importlib
import inspect
import math
import sys
from typing import Any, Callable, Dict, List, Optional

from vramscope_core import guard, import_hook
from vramscope_try.notes import Notes, place

HOOK = "try.batch"
DEFAULT = 32  # Keras' own
_METHODS = ("batch", "padded_batch", "ragged_batch")


def install(wish: Optional[Dict[str, Any]], parts: int, changes: List[str], notes: Notes) -> None:
    """wish: factor or size; None: only the division by `parts`, the micro-batches in a batch, which accumulation.py reports. changes: gets what was
    changed, in words."""
    batches = Batches(wish or {"factor": 1.0}, parts, changes, "batch" if wish else "accumulate", notes)
    if wish:
        notes.expected("batch", "the program itself makes its batches: nothing was given to fit() as arrays, and Dataset.batch() was not called")
    data_set = importlib.import_module("tensorflow.python.data.ops.dataset_ops").DatasetV2
    for name in _METHODS:
        setattr(data_set, name, batches.batching(getattr(data_set, name), name))
    import_hook.when_imported("keras", notes.guarded(batches.lever, batches.install_keras, "this Keras release does not support the change"))


class Batches:
    def __init__(self, wish: Dict[str, Any], parts: int, changes: List[str], lever: str, notes: Notes) -> None:
        self._factor: Optional[float] = wish.get("factor")
        self._size: Optional[int] = wish.get("size")
        self._parts = parts
        self._changes = changes
        self.lever = lever
        self._notes = notes

    def install_keras(self) -> None:
        if sys.modules["keras"].backend.backend() != "tensorflow":
            return
        adapter = importlib.import_module("keras.src.trainers.data_adapters.array_data_adapter").ArrayDataAdapter
        adapter.__init__ = self._adapting(adapter.__init__)

    def batching(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        def batch(call: guard.Call, data_set: Any, batch_size: Any, *args: Any, **settings: Any) -> Any:
            number = _number(batch_size)
            if number is None or _is_internal(sys._getframe(2).f_code.co_filename):
                return call(data_set, batch_size, *args, **settings)
            return call(data_set, self._resized(number, f"Dataset.{name}()"), *args, **settings)

        return guard.instead(HOOK, original, batch)

    def _adapting(self, original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        def adapt(call: guard.Call, *args: Any, **settings: Any) -> None:
            given = signature.bind(*args, **settings)
            size, steps = given.arguments.get("batch_size"), given.arguments.get("steps")
            if not size:  # as Keras would choose it
                rows = len(importlib.import_module("keras.src.tree").flatten(given.arguments["x"])[0])
                size = math.ceil(rows / steps) if steps else DEFAULT
            given.arguments["batch_size"] = self._resized(int(size), "the arrays")
            call(*given.args, **given.kwargs)

        return guard.instead(HOOK, original, adapt)

    def _resized(self, size: int, where: str) -> int:
        if self._factor is None:
            self._factor = (self._size or size) / size
        changed = max(1, int(size * self._factor / self._parts + 0.5))
        change = f"{size} -> {changed} in {where} at {place(sys._getframe())}"
        if change not in self._changes:
            self._changes.append(change)
        if self.lever == "batch":
            self._notes.applied("batch", change)
        return changed


def _number(value: Any) -> Optional[int]:
    """None for -1, a tensor in a traced function, and what the program will be told is wrong."""
    number = value if isinstance(value, int) else getattr(value, "item", lambda: None)()
    return number if isinstance(number, int) and number > 0 else None


def _is_internal(file: str) -> bool:
    """TensorFlow, or a layer of Keras that looks through data on its own, calls the method."""
    return "/tensorflow/python/" in file or "/keras/src/layers/" in file
