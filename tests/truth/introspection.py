# SPDX-License-Identifier: Apache-2.0
"""What PyTorch itself reports about the memory of the running process: which storage is a parameter, a gradient, kept for backward, ...

Why not the recorder's own ways: this is the oracle that judges the recorder, so it uses nothing of the recorder. It reads Python
objects (modules, optimizers, tensors found by the garbage collector) and the autograd graph (grad_fn, next_functions, _saved_*), and
never changes what it looks at: it creates no tensor, runs no hook that recomputes, and keeps no reference after the call.

A storage is (address, bytes): untyped_storage().data_ptr() and nbytes(). Views share one. Only storages on `device` count, not what a
program keeps on the CPU or on another GPU.
"""
import functools
import gc
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

import torch

Storage = Tuple[int, int]
Names = Dict[Storage, Set[str]]

device = torch.device("cpu")  # the device whose memory is examined

# True while the graph is walked: reading `_saved_x` of a node unpacks it, and an unpack hook may compute (a checkpoint recomputes its
# whole segment). guard_unpack_hooks() makes such hooks refuse while this is set.
_walking = False


class _NotUnpacked(Exception):
    """A saved tensor has an unpack hook; nothing is stored in the node itself."""


def guard_unpack_hooks() -> None:
    """Makes every unpack hook installed from now on refuse to run during a walk. Call before the program starts."""
    hooks = torch.autograd.graph.saved_tensors_hooks
    original = hooks.__init__

    def init(self: Any, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        def guarded(packed: Any) -> Any:
            if _walking:
                raise _NotUnpacked()
            return unpack_hook(packed)

        original(self, pack_hook, guarded)

    hooks.__init__ = init


def storage_of(tensor: torch.Tensor) -> Optional[Storage]:
    """The storage under a tensor, or None where there is none (meta, sparse, fake, functorch, empty), or on another device."""
    if tensor.device != device:
        return None
    try:
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError):
        return None
    return (address, size) if address and size else None


def cuda_blocks() -> List[Tuple[int, int, int]]:
    """[(address, bytes, requested bytes)] of all blocks that the caching allocator of `device` has handed out, from its own snapshot."""
    blocks = []
    for segment in filter(lambda segment: segment["device"] == device.index, torch.cuda.memory_snapshot()):
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                blocks.append((address, block["size"], block["requested_size"]))
            address += block["size"]
    return sorted(blocks)


def storages_of(tensors: Iterable[torch.Tensor]) -> Set[Storage]:
    return {storage for storage in map(storage_of, tensors) if storage}


def tensors_in(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors inside nested lists, tuples and dicts, as batches and optimizer states are."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 8 and isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item, depth + 1)
    elif depth < 8 and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth + 1)


class Live:
    """The Python objects of interest that are alive now. Drop it before the program goes on: it keeps tensors alive."""

    def __init__(self) -> None:
        self.tensors: List[torch.Tensor] = []
        self.modules: List[torch.nn.Module] = []
        self.optimizers: List[torch.optim.Optimizer] = []
        self.checkpoint_frames: List[Any] = []
        bin_of_type: Dict[type, Optional[List[Any]]] = {}
        for thing in gc.get_objects():
            kind = type(thing)  # not isinstance: lazy module objects compute their __class__
            if kind not in bin_of_type:
                bin_of_type[kind] = self._bin(kind)
            found = bin_of_type[kind]
            if found is not None:
                found.append(thing)

    def _bin(self, kind: type) -> Optional[List[Any]]:
        if issubclass(kind, torch.Tensor):
            return self.tensors
        if issubclass(kind, torch.nn.Module):
            return self.modules
        if issubclass(kind, torch.optim.Optimizer):
            return self.optimizers
        if kind.__name__ == "_CheckpointFrame":
            return self.checkpoint_frames
        return None

    def root_modules(self) -> List[torch.nn.Module]:
        """Modules that no other module holds."""
        inner = {id(child) for module in self.modules for child in module._modules.values()}
        return [module for module in self.modules if id(module) not in inner]


def _add(names: Names, tensor: Optional[torch.Tensor], name: str) -> None:
    storage = storage_of(tensor) if tensor is not None else None
    if storage:
        names.setdefault(storage, set()).add(name)


def parameters(live: Live) -> Names:
    names: Names = {}
    for root in live.root_modules():
        for name, parameter in root.named_parameters(remove_duplicate=False):
            _add(names, parameter, name)
    return names


def buffers(live: Live) -> Names:
    names: Names = {}
    for root in live.root_modules():
        for name, buffer in root.named_buffers(remove_duplicate=False):
            _add(names, buffer, name)
    return names


def gradients(live: Live) -> Names:
    names: Names = {}
    for root in live.root_modules():
        for name, parameter in root.named_parameters(remove_duplicate=False):
            _add(names, parameter.grad, name)
    return names


def optimizer_state(live: Live) -> Names:
    """'exp_avg of layer.weight': the key in optimizer.state[parameter], and the parameter's name."""
    name_of = {id(parameter): name for root in live.root_modules() for name, parameter in root.named_parameters()}
    names: Names = {}
    for optimizer in live.optimizers:
        for parameter, state in optimizer.state.items():
            for key, value in state.items():
                for tensor in tensors_in(value):
                    _add(names, tensor, f"{key} of {name_of.get(id(parameter), '?')}")
    return names


@functools.lru_cache(maxsize=None)
def _saved_attributes(node_type: type) -> List[str]:
    return [name for name in dir(node_type) if name.startswith("_saved_") or name == "saved_tensors"]


def _saved_in(node: Any) -> Iterator[torch.Tensor]:
    for attribute in _saved_attributes(type(node)):
        try:
            value = getattr(node, attribute)
        except (_NotUnpacked, RuntimeError):  # it has a hook, or is released: the node has run
            continue
        yield from tensors_in(value)


def _in_checkpoint(frame: Any) -> Iterator[torch.Tensor]:
    """What torch.utils.checkpoint (use_reentrant=False) keeps: the arguments of the segment and, in backward, what it recomputed."""
    for saved in getattr(frame, "saved_args", None) or ():  # 2.15: SavedTensor objects; earlier: a node of the graph
        data = getattr(saved, "data", None)
        if isinstance(data, torch.Tensor):
            yield data
    for recomputed in frame.recomputed.values():
        yield from tensors_in(list(recomputed.values()))


def _nodes(roots: Iterable[Any]) -> Iterator[Any]:
    seen: Dict[int, Any] = {}  # the wrappers stay alive here, so that their ids stay theirs
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen[id(node)] = node
        yield node
        waiting.extend(following for following, _ in node.next_functions)


def saved_for_backward(live: Live) -> Set[Storage]:
    """The storages that the autograd graphs of all living tensors hold, parameters and inputs among them."""
    global _walking
    _walking = True
    try:
        saved: Set[Storage] = set()
        for node in _nodes(tensor.grad_fn for tensor in live.tensors if not tensor.is_leaf):
            saved |= storages_of(_saved_in(node))
            saver = getattr(node, "input_saver", None)
            if isinstance(saver, torch.Tensor):
                saved |= storages_of(_saved_in(saver.grad_fn))
        for frame in live.checkpoint_frames:
            saved |= storages_of(_in_checkpoint(frame))
        return saved
    finally:
        _walking = False


def leaves_in_backward_order(tensors: Iterable[torch.Tensor]) -> List[torch.Tensor]:
    """The leaves that a backward from `tensors` accumulates into, first to last: the engine runs the youngest node first."""
    youngest_user: Dict[int, Tuple[int, torch.Tensor]] = {}
    for node in _nodes(tensor.grad_fn for tensor in tensors):
        for following, _ in node.next_functions:
            if type(following).__name__ == "AccumulateGrad":
                leaf = following.variable
                age = max(node._sequence_nr(), youngest_user.get(id(leaf), (0, leaf))[0])
                youngest_user[id(leaf)] = (age, leaf)
    return [leaf for _, leaf in sorted(youngest_user.values(), key=lambda found: -found[0])]


def handed_in(arguments: Any, live: Live) -> List[torch.Tensor]:
    """Those tensors on `device` among a model's arguments that no autograd graph has computed, not even before a detach()."""
    computed = storages_of(tensor for tensor in live.tensors if tensor.grad_fn is not None)
    mine = [tensor for tensor in tensors_in(arguments) if tensor.device == device]
    return [tensor for tensor in mine if not tensor.requires_grad and storage_of(tensor) not in computed]
