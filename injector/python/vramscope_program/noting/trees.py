# SPDX-License-Identifier: Apache-2.0
"""The program's module trees at the beginning of noting: names of parameters and buffers, paths of modules, and which modules PyTorch's own code can
run.

If a module and all modules in it have classes of PyTorch's own, it is noted as one call with its settings (opaque). The real class runs there again,
so that a change that looks for nn.Linear finds one. For any other module, the calls inside are noted. All are held weakly: a program may drop its
model in a noted step."""

import weakref
from typing import Any, Dict, List, Optional, Tuple

from . import switch
from .functions import look_up
from .values import Unnotable, Values


class HasTensor(Exception):
    pass


def _no_tensor(_tensor: Any) -> str:
    raise HasTensor


class Trees:
    def __init__(self, torch: Any, modules: List[Any], values: Values) -> None:
        self._torch = torch
        self._values = values
        self._settings_of = Values(torch, _no_tensor)
        self._internal = frozenset(vars(torch.nn.Module()))
        held = {id(child) for module in modules for child in module._modules.values() if child is not None}
        roots = [module for module in modules if id(module) not in held and any(True for _ in _tensors(module))]
        self._roots = [weakref.ref(root) for root in roots]
        self._places: Dict[int, Tuple[Any, int, str]] = {}  # id of a parameter or buffer -> reference to it, root, name
        self._paths: Dict[int, Tuple[Any, int, str]] = {}  # id of a module
        self._opaque: Dict[int, bool] = {}
        self._used: List[int] = []  # roots in the order of first use
        for number, root in enumerate(roots):
            for path, module in root.named_modules():
                self._paths.setdefault(id(module), (weakref.ref(module), number, path))
                for key, tensor in (*module._parameters.items(), *module._buffers.items()):
                    if tensor is not None:
                        self._places.setdefault(id(tensor), (weakref.ref(tensor), number, f"{path}.{key}" if path else key))

    def _named(self, root: int, path: str) -> str:
        if root not in self._used:
            self._used.append(root)
        index = self._used.index(root)
        return path if index == 0 else f"{index}:{path}"

    def name_of(self, tensor: Any) -> Optional[str]:
        place = self._places.get(id(tensor))
        if place is None:
            return None
        kept, root, name = place
        return "=" + self._named(root, name) if kept() is tensor else None

    def path_of(self, module: Any) -> Optional[str]:
        place = self._paths.get(id(module))
        return None if place is None or place[0]() is not module else self._named(place[1], place[2])

    def is_opaque(self, module: Any) -> bool:
        known = self._opaque.get(id(module))
        if known is None:
            known = self._opaque[id(module)] = all(map(self._is_plain, module.modules()))
        return known

    def _is_plain(self, module: Any) -> bool:
        kind = type(module)
        if not kind.__module__.startswith("torch.nn.") or look_up(kind.__module__, kind.__qualname__) is not kind or "forward" in vars(module):
            return False
        if any(getattr(module, name, None) for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")):
            return False
        try:
            self._settings(module)
        except Unnotable:
            return False
        return True

    def _settings(self, module: Any) -> Dict[str, Any]:
        """What a pickle of the module would contain, except tensors: the class itself finds these again (an LSTM's flat weights)."""
        kind = type(module)  # a parametrized module has a class made for it, and cannot be pickled
        has_own = look_up(kind.__module__, kind.__qualname__) is kind and kind.__module__.startswith("torch.nn.") and hasattr(module, "__getstate__")
        settings = {}
        for key, value in (module.__getstate__() if has_own else vars(module)).items():
            if key not in self._internal:
                try:
                    settings[key] = self._settings_of.encode(value)
                except HasTensor:
                    continue
        return settings

    # --- for the text

    def described(self) -> Dict[str, Any]:
        """kinds: each different module once, because most are alike; roots: [path, kind, in training mode, names of shared tensors] of each module."""
        kinds: List[Any] = []
        index: Dict[str, int] = {}
        roots = []
        for number in self._used:
            modules: List[Any] = []
            root = self._roots[number]()
            if root is None:
                raise Unnotable("a model that the program dropped in the recorded step")
            for path, module in root.named_modules():
                shared: Dict[str, str] = {}
                kind = self._kind(module, number, path, shared)
                key = repr(kind)
                if key not in index:
                    index[key] = len(kinds)
                    kinds.append(kind)
                modules.append([path, index[key], int(module.training), *([shared] if shared else [])])
            roots.append(modules)
        return {"kinds": kinds, "roots": roots}

    def switched(self) -> Dict[str, Any]:
        """What the models' own switch for checkpoints does (switch.py). Leaves are None if this is not known."""
        leaves: Dict[Any, None] = {}
        checkpointed: Dict[Any, None] = {}
        for number in self._used:
            root = self._roots[number]()
            found = switch.switched(self._torch, root) if root is not None else switch.Switched([], [])
            if found is None:
                return {"checkpoint_leaves": None, "checkpointed": []}
            leaves.update(dict.fromkeys(map(self.path_of, found.leaves)))
            checkpointed.update(dict.fromkeys(map(self.path_of, found.checkpointed)))
        return {"checkpoint_leaves": [path for path in leaves if path is not None], "checkpointed": [path for path in checkpointed if path is not None]}

    def _kind(self, module: Any, root: int, path: str, shared: Dict[str, str]) -> Dict[str, Any]:
        cls = type(module)
        base = next((each for each in cls.__mro__ if each.__module__.startswith("torch.nn.modules")
                     and look_up(each.__module__, each.__qualname__) is each), None)
        kind: Dict[str, Any] = {"class": f"{cls.__module__}:{cls.__qualname__}", "base": f"{base.__module__}:{base.__qualname__}" if base else None}
        if self.is_opaque(module):
            kind["opaque"] = 1
        try:
            kind["settings"] = self._settings(module) if base is not None and base is not self._torch.nn.Module else {}
        except Unnotable:
            pass
        for role, tensors in (("parameters", module._parameters), ("buffers", module._buffers)):
            found = kind[role] = {}
            for key, tensor in tensors.items():
                if tensor is None:
                    found[key] = None
                    continue
                name = f"{path}.{key}" if path else key
                _, first_root, first = self._places.get(id(tensor), (None, root, name))
                if (first_root, first) != (root, name):
                    shared[key] = self._named(first_root, first)
                found[key] = spec_of(tensor)
        return kind


def spec_of(tensor: Any) -> List[Any]:
    """[shape, type, device, requires_grad, strides unless they are contiguous]"""
    spec = [list(map(int, tensor.shape)), str(tensor.dtype)[6:], str(tensor.device), int(tensor.requires_grad)]
    if not tensor.is_contiguous():
        spec.append(list(map(int, tensor.stride())))
    return spec


def _tensors(root: Any) -> Any:
    for module in root.modules():
        yield from (tensor for tensor in (*module._parameters.values(), *module._buffers.values()) if tensor is not None)
