# SPDX-License-Identifier: Apache-2.0
"""Reports what an attached program already holds: blocks, their roles, and what autograd keeps for backward.

    GPU   every block, and the segments that contain them, from the caching allocator's own snapshot
    CPU   the storages under all tensors that Python knows, and under what their graphs keep (_raw_saved_...)
    both  labels of parameters, buffers, gradients and optimizer state, as in a step

On the CPU, blocks that only C++ code knows are missing. Blocks that get no name here are called "before attach". Nothing is unpacked, computed, changed
or kept: a saved tensor with an unpack hook (checkpoint, offloading) is left alone.

No other thread runs Python meanwhile: a tensor that C++ code releases must not have a reference of ours (living.py)."""

import gc
import sys
from typing import Any, Callable, Dict, Iterator, List, Set, Tuple

from vramscope_core import native

from . import storage

HOOK = "python.held"
CUDA = 1  # c10::DeviceType
ALONE_SECONDS = 60.0

SMALL_PART, LARGE_PART = 2 << 20, 20 << 20  # sizes of the parts in which expandable segments are mapped (c10/cuda/CUDACachingAllocator.cpp)

Block = Tuple[int, int, int, int, int]  # device, address, size, stream, requested size
Segment = Tuple[int, int, int, int, int]  # device, address, size, stream, bytes of the parts it is mapped in


def tell(torch: Any, registry: Any, optimizers: Any) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(ALONE_SECONDS)
    try:
        with storage.untouched():
            on_gpu = _tell_gpu_blocks(torch)
            _tell_tensors(torch)
            for optimizer in registry.search():
                optimizers.tell_held(optimizer)
            registry.look(only_if_due=False)
        native.coverage(HOOK, native.State.PROVEN, "" if on_gpu else "blocks of the CPU that Python does not know are missing")
    finally:
        sys.setswitchinterval(interval)


def _tell_gpu_blocks(torch: Any) -> bool:
    if not torch.cuda.is_initialized():
        return False
    if native.driver_seen():
        _tell_all(_segments, torch, native.held_segment, lambda device, address, size, _, part: native.held_segment_gone(device, address, size, part))
        native.held_driver_total()
    return _tell_all(_gpu_blocks, torch, native.held_block, lambda device, address, *_: native.held_gone(device, address))


def _tell_all(of: Callable[[Any], Iterator[Any]], torch: Any, tell_one: Callable[..., None], gone: Callable[..., None]) -> bool:
    found = list(of(torch))
    for each in found:
        tell_one(*each)
    # Another thread may have freed one between the snapshot and our report of it.
    still = {each[:3] for each in of(torch)}
    for each in found:
        if each[:3] not in still:
            gone(*each)
    return bool(found)


def _segments(torch: Any) -> Iterator[Segment]:
    """What the allocator has from the driver. Other memory of the driver, used by contexts and libraries, is known only as a sum."""
    if getattr(torch.cuda, "get_allocator_backend", lambda: "native")() != "native":
        return
    for segment in torch.cuda.memory_snapshot():
        size, part = segment["total_size"], 0
        if segment.get("is_expandable"):
            part = LARGE_PART if segment["segment_type"] == "large" and size % LARGE_PART == 0 else SMALL_PART
        yield CUDA << 8 | segment["device"], segment["address"], size, segment["stream"], part


def _gpu_blocks(torch: Any) -> Iterator[Block]:
    for segment in torch.cuda.memory_snapshot():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                yield CUDA << 8 | segment["device"], address, block["size"], segment["stream"], block.get("requested_size", 0)
            address += block["size"]


def _tell_tensors(torch: Any) -> None:
    told: Set[int] = set()
    nodes: List[Any] = []
    tensors = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor)]
    for tensor in tensors:
        _tell_tensor(tensor, told)
        try:
            if tensor.is_leaf:
                if tensor.grad is not None:
                    _tell_tensor(tensor.grad, told)
            elif tensor.grad_fn is not None:
                nodes.append(tensor.grad_fn)
        except Exception:  # a user's tensor class without these attributes
            continue
    tensors.clear()
    _tell_graph(nodes)


def _tell_tensor(tensor: Any, told: Set[int]) -> None:
    for _, part, address, size in storage.places(tensor):
        if address not in told:
            told.add(address)
            native.held_tensor(part._cdata, address, size)


def _tell_graph(waiting: List[Any]) -> None:
    saved_names: Dict[type, List[str]] = {}
    met: Set[Any] = set()
    while waiting:
        node = waiting.pop()
        if node in met:
            continue
        met.add(node)
        kind = type(node)
        if kind not in saved_names:
            saved_names[kind] = [name for name in dir(kind) if name.startswith("_raw_saved_")]
        if kind.__name__ == "AccumulateGrad":
            native.held_leaf(id(node), node.variable._cdata)
        for name in saved_names[kind]:
            try:
                saved = getattr(node, name)
            except RuntimeError:  # backward has run through this graph: it keeps nothing any more
                continue
            for each in saved if isinstance(saved, (list, tuple)) else (saved,):
                if type(each).__name__ == "SavedTensor":
                    native.held_saved(id(each))
        waiting.extend(next_node for next_node, _ in node.next_functions if next_node is not None)
