# SPDX-License-Identifier: Apache-2.0
"""Finds the modules whose results require gradients once a model's own switch for checkpoints, gradient_checkpointing_enable(), is used.

Some models do this with their embeddings, so that gradients reach the blocks if the embeddings are frozen. Which ones do depends on the class, its
release and the adapters in the model. So we call the switch itself, on a copy of the modules, and look at the hooks that it adds:

    model ── block ── weight         the program's modules are not changed
      copy ── copy ──────┘           a copy has its own hooks, submodules and configuration, and the same tensors
"""

import copy
import warnings
from typing import Any, Dict, List, Optional, Tuple


class NotKnown(Exception):
    pass


def leaves(torch: Any, root: Any) -> Optional[List[Any]]:
    """These modules of `root`, or None if the switch cannot be called or does something else."""
    model = next((each for each in root.modules() if getattr(each, "supports_gradient_checkpointing", False)), None)
    if model is None:
        return []
    try:
        copies: Dict[int, Any] = {}
        switch = _copy(torch, model, copies).gradient_checkpointing_enable
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            switch(gradient_checkpointing_kwargs={"use_reentrant": False})
        return [module for module in model.modules() if _requires_gradients(torch, module, copies[id(module)])]
    except Exception:
        return None


def _copy(torch: Any, module: Any, copies: Dict[int, Any]) -> Any:
    """Copies a module and all modules in it, each once. copies: id of a module -> its copy."""
    if id(module) in copies:
        return copies[id(module)]
    if isinstance(module, torch.jit.ScriptModule):
        raise NotKnown
    made = copies[id(module)] = object.__new__(type(module))  # __new__ of a class that fully_shard() made would create the unsharded module
    internal = vars(torch.nn.Module())
    for key, value in vars(module).items():
        is_table = key in internal and isinstance(value, (dict, set))
        made.__dict__[key] = copy.copy(value) if is_table or key == "config" else value
    for key, child in module._modules.items():
        if child is not None:
            made._modules[key] = _copy(torch, child, copies)
    return made


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
