# SPDX-License-Identifier: Apache-2.0
"""Detects when a model is complete, while it can still be decided which of its parameters are trained: an optimizer is about to take them, or
DistributedDataParallel is about to wrap the model, whichever comes first.

A model is a module that no other module holds, with a parameter among those passed to the optimizer. Each is reported once. Searching for them takes
50 ms per optimizer."""

import functools
import importlib
import sys
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

from vramscope_core import guard, living

from . import blocks
from .notes import Notes

HOOK = "try.complete"
Change = Callable[[Any], None]  # of a model

_instance: Optional["Complete"] = None


def watch(torch: Any, lever: str, notes: Notes, change: Change) -> None:
    """A failure in `change` is noted as a refusal of that lever, and the program goes on."""
    _of(torch).changes.append(notes.guarded(lever, change))


def train_beside(torch: Any, layer: Any, given: Any, keys: Tuple[str, ...]) -> None:
    """From now on, an optimizer that gets the tensor `given` of the layer also gets the weights of the modules `keys` in it, unless it has them."""
    beside, weight = _of(torch).beside, id(given)
    beside[weight] = (weakref.ref(layer, functools.partial(beside.pop, weight)), keys)


def is_sharded(model: Any) -> bool:
    """True if its parameters are shards of larger ones (FSDP, tensor parallelism)."""
    return any(type(parameter).__name__ == "DTensor" for parameter in model.parameters())


def _of(torch: Any) -> "Complete":
    global _instance
    if _instance is None:
        _instance = Complete(torch)
    return _instance


class Complete:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.changes: List[Change] = []
        self.beside: Dict[int, Tuple[Any, Tuple[str, ...]]] = {}  # by id of the weight: a weak reference to its layer, names of modules in it
        self._seen: Dict[int, Any] = {}
        optimizer = importlib.import_module("torch.optim.optimizer").Optimizer
        optimizer.__init__ = self._taking(optimizer.__init__)
        parallel = torch.nn.parallel.DistributedDataParallel
        parallel.__init__ = self._wrapping(parallel.__init__)

    def _taking(self, original: Callable[..., None]) -> Callable[..., None]:
        completed = guard.hook(HOOK, self._tell_and_complete)

        @functools.wraps(original)
        def __init__(optimizer: Any, params: Any, *args: Any, **settings: Any) -> None:
            if hasattr(params, "__iter__") and not isinstance(params, (self._torch.Tensor, dict)):
                params = list(params)  # a generator gives its parameters once
                params = completed(params) or params
            original(optimizer, params, *args, **settings)

        return __init__

    def _tell_and_complete(self, params: List[Any]) -> List[Any]:
        self._tell(_models_of(set(map(id, _parameters_in(params)))))
        return self._completed(params)

    def _wrapping(self, original: Callable[..., None]) -> Callable[..., None]:
        def wraps(_wrapper: Any, module: Any, *_: Any, **__: Any) -> None:
            self._tell([module])

        return functools.wraps(original)(guard.before(HOOK, wraps)(original))

    def _tell(self, models: Iterable[Any]) -> None:
        for model in models:
            model = blocks.unwrapped(model)
            key = id(model)
            if key not in self._seen:
                self._seen[key] = weakref.ref(model, functools.partial(self._seen.pop, key))
                for change in self.changes:
                    change(model)

    def _completed(self, entries: List[Any]) -> List[Any]:
        if not self.beside:
            return entries
        given = set(map(id, _parameters_in(entries)))
        completed: List[Any] = []
        for entry in entries:
            if isinstance(entry, dict):
                several = entry["params"]
                several = [several] if isinstance(several, self._torch.Tensor) else list(several)
                completed.append({**entry, "params": self._with_beside(several, given)})
            else:
                completed += self._with_beside([entry], given)
        return completed

    def _with_beside(self, entries: List[Any], given: Set[int]) -> List[Any]:
        result = []
        for entry in entries:
            result.append(entry)
            name, parameter = entry if isinstance(entry, tuple) else ("", entry)
            reference, keys = self.beside.get(id(parameter), (None, ()))
            for key in keys:
                new = getattr(reference(), key).weight
                if id(new) not in given:
                    result.append((f"{name.rpartition('.')[0]}.{key}.weight", new) if isinstance(entry, tuple) else new)
        return result


def _parameters_in(entries: Iterable[Any]) -> Iterable[Any]:
    """The parameters in an optimizer's argument, which has parameters, (name, parameter), or groups of either."""
    for entry in entries:
        if isinstance(entry, dict):
            several = entry["params"] = entry["params"] if hasattr(entry["params"], "shape") else list(entry["params"])
            yield from _parameters_in([several] if hasattr(several, "shape") else several)
        else:
            yield entry[1] if isinstance(entry, tuple) else entry


def _models_of(wanted: Set[int]) -> List[Any]:
    modules = living.instances((sys.modules["torch.nn"].Module,))
    held = {id(child) for module in modules for child in module._modules.values()}
    return [module for module in modules if id(module) not in held and any(id(parameter) in wanted for parameter in module.parameters())]
