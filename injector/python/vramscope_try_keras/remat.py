# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing of chosen layers: the mode that keras.RematScope(mode="list_of_layers") gives to layers with these names.

Layers are chosen when a model is first called, because it is not complete before that. "all" means the layers that repeat and contain layers: blocks. A
model without such layers is checkpointed layer by layer. The model itself is never wrapped: it would be recomputed as a whole, which saves nothing.

In a traced function, TensorFlow's recompute_grad accepts no keyword arguments, and Keras passes `training` to call() as one. So a layer whose call() has
`training`, such as Dense, fails there, also under a RematScope of the program's own. The change is refused then."""

import fnmatch
import importlib
import sys
import weakref
from collections import Counter
from typing import Any, List

from vramscope_core import guard, patches
from vramscope_try.notes import Notes

HOOK = "try.checkpoint"


def install(wishes: List[str], notes: Notes) -> None:
    if any(wish.startswith("ops:") for wish in wishes):
        notes.refused("checkpoint", "TensorFlow's recompute_grad keeps no results of single operators; leave out ops:")
        return
    try:
        mode = importlib.import_module("keras.src.backend.common.remat").RematMode("full", 1024, [])
    except (ImportError, AttributeError):
        notes.refused("checkpoint", f"Keras {sys.modules['keras'].__version__} has no RematScope; Keras 3.9 or newer has one")
        return
    notes.expected("checkpoint", "no keras.Model was called")
    layer = importlib.import_module("keras.src.layers.layer").Layer
    called = notes.guarded("checkpoint", Rematerialization(wishes, mode, notes).called)
    patches.wrap_method(layer, "__call__", guard.before(HOOK, called))


class Rematerialization:
    def __init__(self, wishes: List[str], mode: Any, notes: Notes) -> None:
        self._wishes = wishes
        self._mode = mode
        self._notes = notes
        self._model = importlib.import_module("keras.src.models.model").Model
        self._symbolic = importlib.import_module("keras.src.backend.common.keras_tensor").any_symbolic_tensors
        self._seen: weakref.WeakKeyDictionary[Any, List[Any]] = weakref.WeakKeyDictionary()  # models, with the layers chosen in each

    def called(self, layer: Any, *args: Any, **named: Any) -> None:
        if not isinstance(layer, self._model) or not layer._layers or self._symbolic(args, named):
            return
        traced = not sys.modules["tensorflow"].executing_eagerly()
        if layer not in self._seen:
            inside = layer._flatten_layers(include_self=True)
            self._seen.update((each, []) for each in inside if isinstance(each, self._model))
            self._seen[layer] = self._chosen(layer)
            self._begin(layer, self._seen[layer], traced)
        elif traced:  # perhaps called eagerly before
            self._leave_out(self._seen[layer])

    def _begin(self, model: Any, chosen: List[Any], traced: bool) -> None:
        if traced and self._leave_out(chosen):
            return
        for each in chosen:
            each._remat_mode = self._mode
        if chosen:
            names = chosen[0].name if len(chosen) == 1 else f"{chosen[0].name} to {chosen[-1].name}, {len(chosen)} layers"
            self._notes.applied("checkpoint", f"rematerialization of {names} of {model.name}")
        else:
            self._notes.unmatched("checkpoint", f"{model.name} has no layer {', '.join(self._wishes)}; it has {_listed(model)}")

    def _leave_out(self, chosen: List[Any]) -> bool:
        """True if some of these layers would fail in a traced function: then none is recomputed."""
        failing = [each for each in chosen if each._call_has_training_arg]
        if not failing:
            return False
        for each in chosen:
            each._remat_mode = None if each._remat_mode is self._mode else each._remat_mode
        names = ", ".join(f"{each.name} ({type(each).__name__})" for each in failing[:3]) + (", ..." if len(failing) > 3 else "")
        self._notes.refused("checkpoint", f"Keras cannot recompute {names} in a traced function: "
                            "TensorFlow's recompute_grad accepts no keyword arguments, and call() gets training as one")
        return True

    def _chosen(self, model: Any) -> List[Any]:
        wish = self._wishes[0]
        if wish != "all" and not wish.startswith("every:"):
            return _matching(model, self._wishes)
        blocks = _blocks(model) or [layer for layer in _own(model) if type(layer).__name__ != "InputLayer"]
        return blocks[:: int(wish[6:])] if wish.startswith("every:") else blocks


def _own(layer: Any) -> List[Any]:
    return list(layer._flatten_layers(include_self=False, recursive=False))


def _blocks(layer: Any) -> List[Any]:
    """The outermost layers that contain layers with weights, and are of one class with another one at the same place."""
    inside = _own(layer)
    kinds = Counter(type(each) for each in inside if _own(each) and each.weights)
    blocks = []
    for each in inside:
        if kinds[type(each)] > 1:
            blocks.append(each)
        elif kinds[type(each)]:
            blocks += _blocks(each)
    return blocks


def _matching(layer: Any, patterns: List[str]) -> List[Any]:
    """By name or path; of nested layers that match, the outermost."""
    found = []
    for each in _own(layer):
        if any(fnmatch.fnmatchcase(name, pattern) for name in (each.name, each.path or each.name) for pattern in patterns):
            found.append(each)
        else:
            found += _matching(each, patterns)
    return found


def _listed(model: Any) -> str:
    names = [layer.name for layer in _own(model) if type(layer).__name__ != "InputLayer"]
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
