# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing of chosen modules: their forward becomes checkpoint(forward, ..., use_reentrant=False).

Modules are chosen when the whole model is first called, because it is not complete before that."""

import functools
import importlib
import sys
import weakref
from typing import Any, Callable, Dict, List, Sequence, Tuple

from vramscope_core import guard

from . import blocks, forwards, outermost
from .notes import Notes

_FAMILIES = {  # the same as in `vramscope whatif`
    "matmul": ("mm", "addmm", "bmm", "baddbmm", "_addmm_activation"),
    "attention": ("_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention"),
    "convolution": ("convolution",),
}
_MARK = "_vramscope_checkpointed"
_LEAF = "_vramscope_result_requires_grad"
# Arguments of checkpoint() itself, which a forward may have too.
_OWN_NAMES = frozenset(("function", "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"))


def install(wishes: List[str], notes: Notes) -> None:
    torch = sys.modules["torch"]
    modules = [wish for wish in wishes if not wish.startswith("ops:")]
    kept = [name for wish in wishes if wish.startswith("ops:") for name in wish[4:].split("+")]
    Checkpointing(torch, modules or ["all"], _settings(torch, kept), notes).install()


def _settings(torch: Any, kept: Sequence[str]) -> Dict[str, Any]:
    """Arguments of checkpoint(): if operators are named, their results are kept."""
    settings: Dict[str, Any] = {"use_reentrant": False}
    if kept:
        names = [name for family in kept for name in _FAMILIES.get(family, (family,))]
        # A family may contain operators that this PyTorch does not have; an operator that is named by itself must exist.
        operators = [getattr(torch.ops.aten, name).default for name in names if name in kept or hasattr(torch.ops.aten, name)]
        contexts = importlib.import_module("torch.utils.checkpoint").create_selective_checkpoint_contexts
        settings["context_fn"] = functools.partial(contexts, operators)
    return settings


class Checkpointing:
    def __init__(self, torch: Any, wishes: Sequence[str], settings: Dict[str, Any], notes: Notes) -> None:
        self._torch = torch
        self._wishes = wishes
        self._settings = settings
        self._notes = notes
        self._seen: Dict[int, Any] = {}

    def install(self) -> None:
        outermost.watch(self._torch, "checkpoint", self._notes, self._model_called)

    def _model_called(self, module: Any) -> None:
        key = id(module)
        if key in self._seen:
            return
        self._seen[key] = weakref.ref(module, functools.partial(self._seen.pop, key))
        switch = _own_switch(module) if self._wishes == ["all"] else None
        if switch is not None:
            switch(gradient_checkpointing_kwargs=self._settings)
            self._notes.applied("checkpoint", f"{blocks.name_of(module)}.gradient_checkpointing_enable()")
            return
        _leave_out_cache(module)
        if self._wishes == ["all"] and getattr(module, "vramscope_checkpoint_unknown", False):  # of a recorded program
            self._notes.refused("checkpoint", "the model's own gradient_checkpointing_enable() may change more than its checkpoints; name modules, not all")
            return
        if self._wishes == ["all"]:
            for each in module.modules():
                if getattr(each, "vramscope_checkpoint_leaf", False):  # of a recorded program, whose model has a switch of its own
                    forwards.replace(each, _LEAF, lambda _, call, forward, args, named: forward(*args, **named).requires_grad_(True))
        taken = [path for path, block in self._chosen(module) if self._checkpoint(path, block)]
        if taken:
            listed = taken[0] if len(taken) == 1 else f"{taken[0]} to {taken[-1]}, {len(taken)} modules"
            self._notes.applied("checkpoint", f"{listed} of {blocks.name_of(module)}")
            return
        there = [path for path, _ in blocks.chosen(module, ["all"])]
        which = f"the blocks {there[0]} to {there[-1]}" if there else "no blocks that repeat"
        self._notes.unmatched("checkpoint", f"{blocks.name_of(module)} has no module {', '.join(self._wishes)}; it has {which}")

    def _chosen(self, module: Any) -> List[Tuple[str, Any]]:
        if self._wishes == ["all"]:
            switched = [(path, each) for path, each in blocks.named_modules(module) if getattr(each, "vramscope_checkpointed", False)]
            if switched:  # of a recorded program, by the model's own switch
                return switched
        return blocks.chosen(module, self._wishes)

    def _checkpoint(self, path: str, module: Any) -> bool:
        if isinstance(module, self._torch.jit.ScriptModule):
            self._notes.refused("checkpoint", f"{path} is compiled by TorchScript")
            return False
        if not module._parameters and not module._modules:
            return False  # an activation function: it would save nothing
        if getattr(module, _MARK, False):
            return True
        forwards.replace(module, _MARK, lambda _, call, forward, args, named: guard.of_program(call, _checkpointed, forward, args, named, self._settings))
        return True


def _checkpointed(function: Callable[..., Any], args: Tuple[Any, ...], named: Dict[str, Any], settings: Dict[str, Any]) -> Any:
    from torch.utils.checkpoint import checkpoint

    if not _OWN_NAMES.isdisjoint(named):
        function, named = functools.partial(function, **named), {}
    return checkpoint(function, *args, **settings, **named)


def _leave_out_cache(module: Any) -> None:
    """Turns the cache of keys and values off, as gradient_checkpointing_enable() does: a recomputed layer must not add to it twice."""
    if hasattr(module, "gradient_checkpointing_enable") and getattr(getattr(module, "config", None), "use_cache", False):
        module.config.use_cache = False


def _own_switch(module: Any) -> Any:
    """Transformers models checkpoint their own blocks, and know what must not be recomputed (the cache of keys and values)."""
    while not hasattr(module, "gradient_checkpointing_enable") and len(module._modules) == 1:
        (module,) = module._modules.values()  # DistributedDataParallel and the like
    return module.gradient_checkpointing_enable if getattr(module, "supports_gradient_checkpointing", False) else None
