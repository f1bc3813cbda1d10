# SPDX-License-Identifier: Apache-2.0
"""Finds out what a model's own switch for checkpoints, gradient_checkpointing_enable(), does: which modules it checkpoints, and whose results require
gradients then.

Some models let the results of their embeddings require gradients, so that gradients reach the blocks if the embeddings are frozen. Some checkpoint only
a part of their blocks. This depends on the class, its release and the adapters in the model. So we call the switch itself, on a copy of the modules,
and look at the hooks that it adds and the attributes that it sets:

    model ── block ── weight         the program's modules are not changed
      copy ── copy ──────┘           a copy has its own hooks, submodules and configuration, and the same tensors
"""

import copy
import warnings
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple


class Switched(NamedTuple):
    leaves: List[Any]  # modules whose results require gradients
    checkpointed: List[Any]  # empty: not told by attributes


class NotKnown(Exception):
    pass


def switched(torch: Any, root: Any) -> Optional[Switched]:
    """None if the switch cannot be called or does something else. Empty lists if `root` has no switch."""
    model = next((each for each in root.modules() if getattr(each, "supports_gradient_checkpointing", False)), None)
    if model is None:
        return Switched([], [])
    try:
        copies: Dict[int, Any] = {}
        internal = set(vars(torch.nn.Module()))
        switch = _copy(torch, model, copies, internal).gradient_checkpointing_enable
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            switch(gradient_checkpointing_kwargs={"use_reentrant": False})
        leaves = [module for module in model.modules() if _requires_gradients(torch, module, copies[id(module)])]
        told = {id(module) for module in model.modules() if _told(module, copies[id(module)], internal)}
        return Switched(leaves, list(_checkpointed(torch, model, told - {id(model)}, False)))
    except Exception:
        return None


def _copy(torch: Any, module: Any, copies: Dict[int, Any], internal: Set[str]) -> Any:
    """Copies a module and all modules in it, each once. copies: id of a module -> its copy; internal: attributes that nn.Module itself has."""
    if id(module) in copies:
        return copies[id(module)]
    if isinstance(module, torch.jit.ScriptModule):
        raise NotKnown
    made = copies[id(module)] = object.__new__(type(module))  # __new__ of a class that fully_shard() made would create the unsharded module
    for key, value in vars(module).items():
        is_table = key in internal and isinstance(value, (dict, set))
        made.__dict__[key] = copy.copy(value) if is_table or key == "config" else value
    for key, child in module._modules.items():
        if child is not None:
            made._modules[key] = _copy(torch, child, copies, internal)
    return made


def _told(module: Any, switched: Any, internal: Set[str]) -> bool:
    """True if the switch has set an attribute of this module."""
    before = vars(module)
    return any(key not in internal and key != "config" and (key not in before or value is not before[key]) for key, value in vars(switched).items())


def _checkpointed(torch: Any, module: Any, told: Set[int], is_entry: bool) -> Iterator[Any]:
    """The outermost modules that are told to checkpoint themselves. A module around a list of blocks may be told to checkpoint these instead."""
    if id(module) in told and (is_entry or not any(id(each) in told for each in module.modules() if each is not module)):
        yield from ([] if is_entry else list(_entries(torch, module))) or [module]
        return
    for child in module.children():
        yield from _checkpointed(torch, child, told, isinstance(module, torch.nn.ModuleList))


def _entries(torch: Any, module: Any) -> Iterator[Any]:
    """What the outermost lists in `module` contain."""
    for child in module.children():
        if isinstance(module, torch.nn.ModuleList):
            yield child
        else:
            yield from _entries(torch, child)


def _requires_gradients(torch: Any, module: Any, switched: Any) -> bool:
    before, after = vars(module), vars(switched)
    if after.get("forward") is not before.get("forward") or after["_forward_pre_hooks"].keys() != before["_forward_pre_hooks"].keys():
        raise NotKnown
    added = [key for key in after["_forward_hooks"] if key not in before["_forward_hooks"]]
    result = torch.empty(0, device="cpu")
    for key in added:
        named: Tuple[Any, ...] = ({},) if key in after.get("_forward_hooks_with_kwargs", ()) else ()
        changed = after["_forward_hooks"][key](switched, (), *named, result)
        result = result if changed is None else changed
    if added and not result.requires_grad:
        raise NotKnown  # it does something else
    return bool(added)
