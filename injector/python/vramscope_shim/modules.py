# SPDX-License-Identifier: Apache-2.0
"""The program's module trees: names of parameters and buffers, paths of modules.

Trees come from torch's global registration hooks (1 us per registration, nothing per step), plus one search through the garbage collector's objects,
because copy.deepcopy, pickle and torch.load build modules without registering anything. A module that no other module holds is a root; names are
those of root.named_parameters(). Roots are ordered by creation, and a shared tensor has its first name. If a later root has names that are taken (a
GAN's two networks, an EMA copy), all its names are prefixed with its class: `Discriminator.net.0.weight`."""

import weakref
from functools import partial
from time import monotonic
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from vramscope_core import guard, living, native, patches
from vramscope_core.pace import Pace

from . import storage
from .told import Told

HOOK = "python.names"


class Slot(NamedTuple):
    """A place in a module that holds a parameter or buffer; the program may replace the tensor."""

    owner: Any  # weak reference to the module
    key: str
    name: str
    role: int

    def tensor(self) -> Optional[Any]:
        module = self.owner()
        if module is None:
            return None
        return (module._parameters if self.role == native.Role.PARAMETER else module._buffers).get(self.key)


class Registry:
    def __init__(self, torch: Any) -> None:
        self._module_type = torch.nn.Module
        self._optimizer_type = torch.optim.Optimizer
        self._known: Dict[int, Any] = {}  # id -> weak reference, in the order of creation
        self._stale = True
        self._searched = False
        self._pace = Pace()
        self._slots: List[Slot] = []
        self._slot_of: Dict[int, Slot] = {}  # id of the tensor -> where it was found
        self._slot_at: Dict[Tuple[int, str], Slot] = {}  # (id of the module, key)
        self._paths: Dict[int, Tuple[Any, str]] = {}  # id of the module -> (weak reference, path)
        self._told = Told(native.Source.MODULE_REGISTRY)
        self._renamed = False  # since the last look
        self.looks = 0

    def install(self, torch: Any) -> None:
        module = torch.nn.modules.module
        kinds = ("parameter", "buffer", "module")
        registrars: List[Any] = [getattr(module, f"register_module_{kind}_registration_hook", None) for kind in kinds]
        if None in registrars:
            native.coverage(HOOK, native.State.HOOKED, "no registration hooks in this torch: modules are searched for")
            return
        for registrar, hook in zip(registrars, (self._registered, self._buffer_registered, self._registered)):
            patches.register(torch, registrar, guard.hook(HOOK, hook))
        native.coverage(HOOK, native.State.HOOKED)

    def forget(self) -> None:
        self._known.clear()

    # --- the registration hooks of torch.nn.Module; called before the value is stored

    def _registered(self, module: Any, key: str, value: Any) -> None:
        if value is not None:
            self._stale = True
            self._remember(module)

    def _buffer_registered(self, module: Any, key: str, value: Any) -> None:
        """Also called when a buffer is assigned again (`self.mean = ...` in a forward): its new storage is then reported at once."""
        if value is None:
            return
        slot = self._slot_at.get((id(module), key))
        if slot is None or slot.owner() is not module:
            self._registered(module, key, value)
            return
        with storage.untouched():
            self._told.tell(slot.role, slot.name, value, slot.name)

    def _remember(self, module: Any) -> None:
        key = id(module)
        if key not in self._known:
            self._known[key] = weakref.ref(module, partial(self._known.pop, key))

    # --- for other parts of the shim

    def name_of(self, parameter: Any) -> Optional[str]:
        slot = self._slot_of.get(id(parameter))
        return slot.name if slot is not None and slot.tensor() is parameter else None

    def modules(self) -> List[Any]:
        """All living modules, in the order of their creation."""
        return [module for module in (reference() for reference in list(self._known.values())) if module is not None]

    def parameters(self) -> List[Tuple[str, Any]]:
        """(name, tensor), as of the last look."""
        found = ((slot.name, slot.tensor()) for slot in self._slots if slot.role == native.Role.PARAMETER)
        return [(name, tensor) for name, tensor in found if tensor is not None]

    def is_known(self, tensor: Any) -> bool:
        """True if it is a parameter or a buffer of a module."""
        return id(tensor) in self._slot_of

    def path_of(self, module: Any) -> str:
        """The dotted path below the root; the class name for a root and for a module in no known tree."""
        reference, path = self._paths.get(id(module), (None, ""))
        return path if path and reference() is module else type(module).__name__

    def refresh(self) -> None:
        """Updates names and paths if modules were created since the last call."""
        if self._stale:
            self._stale = False
            self._name_everything()

    def search(self) -> List[Any]:
        """Searches for modules that were never registered. Returns the optimizers found on the way; 50 ms, so only if something is missing."""
        optimizers = []
        for thing in living.instances((self._module_type, self._optimizer_type)):
            if issubclass(type(thing), self._module_type):
                self._remember(thing)
            else:
                optimizers.append(thing)
        self._searched = self._stale = True
        return optimizers

    # --- telling the recorder

    def look(self, only_if_due: bool = True) -> None:
        """Labels parameters and buffers that are new or have moved."""
        if only_if_due and monotonic() < self._pace.next_look:
            return
        self._pace.start()
        if not self._searched:
            self.search()
        self.refresh()
        # A new model may lie where a freed one lay, under the same names (each fold of a cross-validation): then everything is reported again.
        self._told.start(everything_is_news=self._renamed)
        self._renamed = False
        with storage.untouched():
            for slot in self._slots:
                tensor = slot.tensor()
                if tensor is not None:
                    self._told.tell(slot.role, slot.name, tensor, slot.name)
                    shard = vars(tensor).get("ds_tensor")  # DeepSpeed: the shard that this rank keeps; the parameter is empty until gathered
                    if shard is not None:
                        self._told.tell(slot.role, (slot.name, "shard"), shard, slot.name)
        self._told.finish()
        self.looks += 1
        self._pace.finish(changed=False)

    # --- naming

    def _name_everything(self) -> None:
        self._renamed = True
        modules = self.modules()
        held = {id(child) for module in modules for _, child in _children(module)}
        self._slots, self._slot_of, self._slot_at, self._paths = [], {}, {}, {}
        taken: Set[str] = set()
        for root in modules:
            if id(root) in held or "compile_subgraph_reason" in vars(root):
                continue  # a graph of torch.compile holds its operands as buffers, even optimizer state
            slots = self._slots_below(root)
            if any(slot.name in taken for slot in slots):
                prefix = _free_prefix(type(root).__name__, taken)
                slots = [slot._replace(name=prefix + "." + slot.name) for slot in slots]
            for slot in slots:
                taken.add(slot.name)
                taken.add(slot.name.split(".", 1)[0] + ".")
                self._slots.append(slot)
                self._slot_of[id(slot.tensor())] = slot
                self._slot_at[id(slot.owner()), slot.key] = slot

    def _slots_below(self, root: Any) -> List[Slot]:
        slots: List[Slot] = []
        met = set(self._slot_of)
        for path, module in _walk(root):
            if id(module) in self._paths:
                continue
            owner = weakref.ref(module)
            self._paths[id(module)] = (owner, path)
            for role, tensors in ((native.Role.PARAMETER, module._parameters), (native.Role.BUFFER, module._buffers)):
                for key, tensor in list(tensors.items()):
                    if tensor is not None and id(tensor) not in met:
                        met.add(id(tensor))
                        slots.append(Slot(owner, key, path + "." + key if path else key, role))
        return slots


def _children(module: Any) -> List[Tuple[str, Any]]:
    try:
        return [(key, child) for key, child in module._modules.items() if child is not None]
    except Exception:  # half-built, or a user's class that uses _modules for something else
        return []


def _walk(root: Any) -> Iterator[Tuple[str, Any]]:
    """(path, module) in the order of named_modules(), each module once."""
    met = set()
    waiting = [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) not in met:
            met.add(id(module))
            yield path, module
            waiting.extend((path + "." + key if path else key, child) for key, child in reversed(_children(module)))


def _free_prefix(name: str, taken: Set[str]) -> str:
    prefix, count = name, 1
    while prefix + "." in taken:
        count += 1
        prefix = f"{name}#{count}"
    return prefix
