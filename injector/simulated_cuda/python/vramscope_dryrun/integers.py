# SPDX-License-Identifier: Apache-2.0
"""Integers and booleans on the device are computed, by PyTorch on the CPU: counts, indices and masks decide how large other tensors are.

The memory of the simulated device is host memory, so every operator on integers runs twice: on the device, where it takes its memory, and on CPU
tensors in the same bytes, where it computes. Floats on the device stay unknown. Where a float becomes an integer, an assumption replaces the value:

    routing=balanced   argmax, topk, multinomial: the rows take the classes in turn, so each expert of a
                       mixture gets the same number of tokens
    routing=worst      the first classes every time: one expert, and the rank that has it, gets all
    masks=0.25         comparisons of floats hold for this share of the elements, spread evenly; 0 none, 1 all

Only runs that need it use this (`vramscope dryrun`): every operator costs some microseconds of Python."""

import ctypes
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

MOST_ELEMENTS = 1 << 26  # larger tensors stay zeros: the CPU would take seconds for each operator
_ROUTES = {"argmax", "argmin", "topk", "multinomial", "max", "min", "mode", "kthvalue", "median"}
_ORDERS = {"sort", "msort"}
_COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}
_FROM_FLOATS = {"_to_copy", "copy_", "isnan", "isinf", "isfinite"}  # computed from what lies there: zeros, or what was uploaded
_SELECTIONS = {"nonzero": 0, "masked_select": 1, "index": 1}  # which argument is, or lists, the mask
_DISTINCT = {"_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"}


def install(routing: str, masks: float) -> None:
    """torch has been imported. The mode is left only for backward passes; otherwise it stays to the program's end."""
    torch = sys.modules["torch"]
    mode = _make_mode(torch, _Computer(torch, routing, masks))
    mode.__enter__()
    _leave_for_backward(torch, mode)


def _leave_for_backward(torch: Any, mode: Any) -> None:
    """Autograd accumulates gradients in place only if no mode is active. A checkpoint's recomputation there needs the mode."""
    from torch.utils import checkpoint
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    run, hook, function = (getattr(place, name, None) for place, name in (
        (torch.autograd.graph, "_engine_run_backward"), (checkpoint, "_recomputation_hook"), (checkpoint, "CheckpointFunction")))
    if run is None or hook is None or function is None:
        return

    def run_without(*args: Any, **kwargs: Any) -> Any:
        if _get_current_dispatch_mode() is not mode:  # the program has entered another one, or this is a backward pass in one
            return run(*args, **kwargs)
        mode.__exit__(None, None, None)
        try:
            return run(*args, **kwargs)
        finally:
            mode.__enter__()

    def within(compute: Any) -> Any:
        def computed(*args: Any, **kwargs: Any) -> Any:
            with mode:
                return compute(*args, **kwargs)

        return computed

    for module in (torch.autograd.graph, torch.autograd):
        module._engine_run_backward = run_without
    enter, leave = hook.__enter__, hook.__exit__
    hook.__enter__ = lambda self: (mode.__enter__(), enter(self))[1]
    hook.__exit__ = lambda self, *error: (leave(self, *error), mode.__exit__(*error))[0]
    function.backward = staticmethod(within(function.backward))


def _make_mode(torch: Any, computer: "_Computer") -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Integers(TorchDispatchMode):
        @classmethod
        def is_infra_mode(cls) -> bool:
            return True  # torch.compile ignores this mode

        def __torch_dispatch__(self, func: Any, types: Any, args: Tuple[Any, ...] = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
            return computer.call(func, args, kwargs or {})

    return Integers()


class _Computer:
    def __init__(self, torch: Any, routing: str, masks: float) -> None:
        from torch.utils._pytree import tree_leaves, tree_map

        self._torch, self._leaves, self._map = torch, tree_leaves, tree_map
        self._balanced, self._masks = routing != "worst", masks
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._plain = (torch.Tensor, torch.nn.Parameter)
        self._generator = torch.Generator()

    def call(self, func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if func.namespace != "aten":
            return func(*args, **kwargs)
        name = func._schema.name[len("aten::"):]
        count = self._selected(name, args)
        if count is not None:
            self._driver.vramscope_simulated_count(ctypes.c_int64(count))
        try:
            result = func(*args, **kwargs)
        finally:
            if count is not None:
                self._driver.vramscope_simulated_count(ctypes.c_int64(-1))
        made = [tensor for tensor in self._leaves(result) if self._is_integer(tensor)]
        if not made or name.startswith(("empty", "new_empty")):
            return result
        try:
            return self._filled(name, func, args, kwargs, result, made)
        except Exception:  # no operator fails because its values are not known
            return result

    # ---- which tensors

    def _on_device(self, thing: Any) -> bool:
        return type(thing) in self._plain and thing.device.type == "cuda" and thing.layout == self._torch.strided

    def _is_integer(self, thing: Any) -> bool:
        return self._on_device(thing) and not thing.is_floating_point() and not thing.is_complex() and thing.numel() <= MOST_ELEMENTS

    def _in_memory(self, tensor: Any) -> Any:
        """A CPU tensor in the same bytes."""
        torch, storage = self._torch, tensor.untyped_storage()
        count = storage.nbytes() // tensor.element_size()
        if count == 0 or storage.data_ptr() == 0:
            return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
        held = torch.frombuffer((ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr()), dtype=tensor.dtype, count=count)
        return held.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

    def _write(self, tensor: Any, values: Any) -> None:
        storage = tensor.untyped_storage()
        self._driver.vramscope_simulated_written(ctypes.c_void_p(storage.data_ptr()), ctypes.c_size_t(storage.nbytes()))
        self._in_memory(tensor).copy_(values)

    # ---- sizes that the device asks for while the operator runs

    def _selected(self, name: str, args: Tuple[Any, ...]) -> Optional[int]:
        """How many elements the operator will find; None if the question does not apply or the answer is unknown."""
        if name in _DISTINCT:
            return len(self._in_memory(args[0]).unique()) if self._is_integer(args[0]) else None
        if name not in _SELECTIONS:
            return None
        masks = self._leaves(args[_SELECTIONS[name]])
        if name == "index":
            masks = [mask for mask in masks if self._on_device(mask) and mask.dtype in (self._torch.bool, self._torch.uint8)]
        if len(masks) != 1 or not self._is_integer(masks[0]):
            return round(self._masks * masks[0].numel()) if name == "nonzero" and self._on_device(masks[0]) else None
        count = int(self._in_memory(masks[0]).count_nonzero())
        if name == "masked_select":  # the mask is expanded to the tensor
            whole = self._torch.broadcast_shapes(args[0].shape, masks[0].shape).numel()
            count = count * whole // max(1, masks[0].numel())
        return count

    # ---- values

    def _filled(self, name: str, func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], result: Any, made: List[Any]) -> Any:
        given = [thing for thing in self._leaves((args, kwargs)) if isinstance(thing, self._torch.Tensor)]
        if any(thing.device.type == "cuda" and not self._on_device(thing) for thing in given):
            return result
        storages = {thing.untyped_storage().data_ptr() for thing in given if self._on_device(thing)}
        changes = func._schema.is_mutable
        if not changes and all(tensor.untyped_storage().data_ptr() in storages for tensor in made):
            return result  # views
        if any(thing.device.type == "cuda" and (thing.is_floating_point() or thing.is_complex()) for thing in given) and name not in _FROM_FLOATS:
            assumed = self._assumption(name)
            if assumed is not None:
                for tensor in made:
                    if tensor.numel() > 1:  # the device itself compares single values
                        self._write(tensor, assumed(tensor, args))
            return result
        return self._computed(func, args, kwargs, result, made)

    def _computed(self, func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], result: Any, made: List[Any]) -> Any:
        torch = self._torch
        if any(self._on_device(thing) and thing.numel() > MOST_ELEMENTS for thing in self._leaves((args, kwargs))):
            return result
        for tensor in made:
            storage = tensor.untyped_storage()
            self._driver.vramscope_simulated_written(ctypes.c_void_p(storage.data_ptr()), ctypes.c_size_t(storage.nbytes()))
        args, kwargs = self._map(self._on_host, (args, kwargs))
        random = torch.Tag.nondeterministic_seeded in func.tags
        state = torch.get_rng_state() if random else None
        try:
            values = func(*args, **kwargs)
        finally:
            if random:
                torch.set_rng_state(state)
        leaves = self._leaves(result)
        for index, value in enumerate(self._leaves(values)):
            tensor = leaves[index] if index < len(leaves) else None
            if not self._is_integer(tensor):
                continue
            if tensor.shape != value.shape:  # a size that the device did not ask for
                tensor = leaves[index] = torch.empty(value.shape, dtype=tensor.dtype, device=tensor.device)
            if tensor.numel() != 0 and self._in_memory(tensor).data_ptr() != value.data_ptr():
                self._write(tensor, value)
        return result if not isinstance(result, torch.Tensor) else leaves[0]

    def _on_host(self, thing: Any) -> Any:
        torch = self._torch
        if self._on_device(thing):
            return self._in_memory(thing)
        if isinstance(thing, torch.device) and thing.type == "cuda":
            return torch.device("cpu")
        if isinstance(thing, torch.Generator):
            return self._generator
        return thing

    def _assumption(self, name: str) -> "Optional[Callable[[Any, Tuple[Any, ...]], Any]]":
        base = name.rstrip("_")
        if base in _COMPARISONS:
            return self._mask
        if base in _ORDERS:
            return self._in_order
        return self._route if base in _ROUTES else None

    def _mask(self, tensor: Any, _args: Tuple[Any, ...]) -> Any:
        if self._masks in (0, 1):
            return self._torch.full(tensor.shape, bool(self._masks))
        places = self._torch.arange(tensor.numel() + 1, dtype=self._torch.float64).mul_(self._masks).floor_()
        return (places[1:] > places[:-1]).view(tensor.shape)

    def _in_order(self, tensor: Any, args: Tuple[Any, ...]) -> Any:
        """As if everything were already sorted."""
        dim = next((arg for arg in args[1:] if isinstance(arg, int) and not isinstance(arg, bool)), -1)
        places = self._torch.arange(tensor.shape[dim])
        shape = [1] * tensor.dim()
        shape[dim] = -1
        return places.view(shape).expand(tensor.shape)

    def _route(self, tensor: Any, args: Tuple[Any, ...]) -> Any:
        """The chosen classes of each row. Balanced: row r of k choices takes r k, r k + 1, ... in turn. Worst: every row takes the first k."""
        source = args[0]
        numbers = [arg for arg in args[1:] if isinstance(arg, int) and not isinstance(arg, bool)]
        several = tensor.dim() == source.dim() and tensor.shape != source.shape and tensor.shape[-1] <= source.shape[-1]
        dim = numbers[1] if several and len(numbers) > 1 else -1 if several else (numbers or [-1])[0]
        classes = max(1, source.shape[dim])
        if not several:
            places = self._torch.arange(tensor.numel()) if self._balanced else self._torch.zeros(tensor.numel(), dtype=self._torch.int64)
            return (places % classes).view(tensor.shape)
        chosen = tensor.shape[dim]
        rows = tensor.numel() // max(1, chosen)
        places = self._torch.arange(rows * chosen) if self._balanced else self._torch.arange(chosen).repeat(rows)
        moved = tensor.movedim(dim, -1).shape
        return (places % classes).view(moved).movedim(-1, dim)
