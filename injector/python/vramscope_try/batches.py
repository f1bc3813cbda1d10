# SPDX-License-Identifier: Apache-2.0
"""Changes the batch size of torch's DataLoader and BatchSampler, as if the program had passed another one.

A factor applies to each of them. A number applies to the first loader; the others keep their ratio to the first. So a
validation loader with twice the batch still has twice the batch."""

import functools
import inspect
import sys
from typing import Any, Callable, Dict, Optional, Tuple

from .notes import Notes, place


_instance: Optional["Batches"] = None


def install(wish: Optional[Dict[str, Any]], parts: int, notes: Notes) -> None:
    """wish: factor or size; None: only the division by `parts`, the micro-batches in a batch."""
    global _instance
    _instance = Batches(wish or {"factor": 1.0}, parts, "batch" if wish else "accumulate", notes)
    _instance.install()


def are_changed() -> bool:
    """True if there is a loader or sampler whose batch size we set."""
    return _instance is not None and bool(_instance.changed)


class Batches:
    def __init__(self, wish: Dict[str, Any], parts: int, lever: str, notes: Notes) -> None:
        self._factor: Optional[float] = wish.get("factor")
        self._size: Optional[int] = wish.get("size")
        self._parts = parts
        self._lever = lever
        self._notes = notes
        self._within = 0  # > 0 while a DataLoader creates its own BatchSampler, which gets the changed size already
        self.changed: Dict[Tuple[int, int], Any] = {}  # (id of the data, size that we gave): kept alive, so that the id stays its own

    def install(self) -> None:
        loader = sys.modules["torch.utils.data.dataloader"].DataLoader
        sampler = sys.modules["torch.utils.data.sampler"].BatchSampler
        loader.__init__ = self._loading(loader.__init__)
        sampler.__init__ = self._sampling(sampler.__init__)

    def _loading(self, original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        def change(*args: Any, **settings: Any) -> Any:
            try:
                given = signature.bind(*args, **settings)
            except TypeError:  # the original raises the same for the program
                return None
            arguments = given.arguments
            if arguments.get("batch_sampler") is not None:
                if not self.changed:
                    self._notes.refused(self._lever, f"{_kind(arguments['batch_sampler'])} makes the batches at {place(sys._getframe())}")
            elif arguments.get("batch_size", 1) is None:
                self._notes.refused(self._lever, f"the data set of the DataLoader at {place(sys._getframe())} makes batches itself")
            elif isinstance(arguments.get("batch_size", 1), int):
                arguments["batch_size"] = self._resized(arguments["dataset"], arguments.get("batch_size", 1), "DataLoader")
            return given

        changed = self._notes.guarded(self._lever, change)

        @functools.wraps(original)
        def __init__(*args: Any, **settings: Any) -> None:
            given = changed(*args, **settings)
            self._within += 1
            try:
                _make(original, given, args, settings)
            finally:
                self._within -= 1

        return __init__

    def _sampling(self, original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        def change(*args: Any, **settings: Any) -> Any:
            try:
                given = signature.bind(*args, **settings)
            except TypeError:
                return None
            arguments = given.arguments
            if not self._within and isinstance(arguments["batch_size"], int):
                arguments["batch_size"] = self._resized(arguments["sampler"], arguments["batch_size"], "BatchSampler")
            return given

        changed = self._notes.guarded(self._lever, change)

        @functools.wraps(original)
        def __init__(*args: Any, **settings: Any) -> None:
            _make(original, changed(*args, **settings), args, settings)

        return __init__

    def _resized(self, source: Any, size: int, kind: str) -> int:
        if (id(source), size) in self.changed:
            return size  # a loader that a library makes from one of the program's (Lightning, accelerate)
        if self._factor is None:
            self._factor = (self._size or size) / size
        changed = max(1, int(size * self._factor / self._parts + 0.5))
        self.changed[id(source), changed] = source
        self._notes.applied(self._lever, f"{size} -> {changed} in the {kind} at {place(sys._getframe())}")
        return changed


def _make(original: Callable[..., None], given: Any, args: Any, settings: Any) -> None:
    """given: the arguments that the original gets; None: the program's."""
    if given is None:
        original(*args, **settings)
    else:
        original(*given.args, **given.kwargs)


def _kind(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}"
