# SPDX-License-Identifier: Apache-2.0
"""Computes the last linear layer and its cross-entropy in chunks of rows, like `vramscope whatif
--cross-entropy`: gradients are computed with the loss, chunk by chunk, and the full logits are never
materialized.

    the layer           returns Logits: a tensor without memory that knows the layer's inputs
    F.cross_entropy     of Logits is computed in chunks from those inputs, also after view, reshape, flatten,
                        contiguous and slices of the rows
    anything else       gets the layer's real result, which is computed then; the loss stays unchanged
"""

import sys
from typing import Any, Callable, Dict, Optional, Tuple

from . import blocks, complete, forwards
from .notes import Notes, place

_MARK = "_vramscope_in_parts"


def install(kind: str, notes: Notes) -> None:
    """kind: "chunked:K", or "fused": chunks of the size that Liger's kernel chooses."""
    torch = sys.modules["torch"]
    deferred = Deferred(torch, kind, notes)

    def change(model: Any) -> None:
        layer = _last_linear(torch, model)
        if layer is None:
            notes.unmatched("cross-entropy", f"{blocks.name_of(model)} has no linear layer after its blocks")
        else:
            forwards.replace(layer, _MARK, deferred.forward)

    complete.watch(torch, "cross-entropy", notes, change)


def _last_linear(torch: Any, model: Any) -> Any:
    named = getattr(model, "get_output_embeddings", lambda: None)()
    inside = {id(module) for _, block in blocks.chosen(model, ["all"]) for module in block.modules()}
    last = [module for module in model.modules() if type(module) is torch.nn.Linear and id(module) not in inside][-1:]
    return named if type(named) is torch.nn.Linear else last[0] if last else None


class Deferred:
    def __init__(self, torch: Any, kind: str, notes: Notes) -> None:
        self._torch = torch
        self._kind = kind
        self._notes = notes
        self._loss = _loss_in_parts(torch)
        self._logits = _logits(torch, self.cross_entropy, self.used_elsewhere)

    def forward(self, layer: Any, _call: Any, original: Callable[..., Any], args: Tuple[Any, ...], named: Dict[str, Any]) -> Any:
        torch = self._torch
        (hidden,) = (*args, *named.values())
        if not torch.is_grad_enabled() or not layer.training or torch.compiler.is_compiling():
            return original(hidden)
        if torch.is_autocast_enabled():
            self._notes.refused("cross-entropy", "under autocast, the types of a chunked loss must be chosen in code")
            return original(hidden)
        return self._logits(hidden, layer, lambda: original(hidden))

    def cross_entropy(self, logits: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
                      reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
        """The loss, computed in chunks; None if this call cannot be computed so."""
        usual = weight is None and size_average is None and reduce is None and reduction == "mean" and label_smoothing == 0
        where = place(sys._getframe(1))
        if not usual or logits.dim() != 2 or target.is_floating_point():
            self._notes.refused("cross-entropy", f"the loss at {where} is not a plain mean over rows")
            return None
        layer, hidden = logits.layer, logits.hidden
        rows = self._rows(len(hidden), *layer.weight.shape)
        self._notes.applied("cross-entropy", f"the loss at {where}, with the linear layer before it, {rows} rows at a time")
        return self._loss.apply(hidden, layer.weight, layer.bias, target, rows, ignore_index)

    def used_elsewhere(self, function: Any) -> None:
        name = getattr(function, "__name__", str(function))
        self._notes.refused("cross-entropy", f"{name} at {place(sys._getframe(1))} uses the output of the last layer, so the full logits are computed")

    def _rows(self, tokens: int, vocabulary: int, width: int) -> int:
        if self._kind != "fused":
            return -(-tokens // int(self._kind.partition(":")[2]))
        return 1 << (-(-tokens // -(-vocabulary // width)) - 1).bit_length()


def _logits(torch: Any, cross_entropy: Callable[..., Any], used_elsewhere: Callable[[Any], None]) -> Any:
    tensor = torch.Tensor
    views = {tensor.view, tensor.reshape, tensor.flatten, tensor.contiguous, tensor.__getitem__, torch.flatten, torch.reshape}
    facts = {tensor.size, tensor.dim, tensor.numel, tensor.is_floating_point, tensor.is_contiguous, tensor.__len__,
             *(getattr(tensor, name).__get__ for name in ("shape", "dtype", "device", "ndim", "layout", "requires_grad", "is_cuda"))}

    class Logits(torch.Tensor):  # type: ignore[misc]
        @staticmethod
        def __new__(cls: Any, hidden: Any, layer: Any, make: Callable[[], Any]) -> Any:
            shape = (*hidden.shape[:-1], layer.out_features)
            made = tensor._make_wrapper_subclass(cls, shape, dtype=hidden.dtype, device=hidden.device, requires_grad=True)
            made.hidden, made.layer, made.make, made.whole = hidden, layer, make, None
            return made

        def __init__(self, *_: Any) -> None:
            pass

        def materialized(self) -> Any:
            if self.whole is not None:
                return self.whole
            made = self.make()
            if torch.is_grad_enabled():
                self.whole: Any = made
            return made

        def viewed(self, function: Callable[..., Any], args: Tuple[Any, ...], settings: Dict[str, Any]) -> Optional[Any]:
            """The result of a view of the logits; None if it is not a view that leaves rows whole."""
            shape = function(torch.empty(self.shape, device="meta"), *args, **settings).shape
            width = self.hidden.shape[-1]
            if not shape or shape[-1] != self.layer.out_features:
                return None
            if function is tensor.__getitem__:
                hidden = self.hidden[args[0]]
            else:
                hidden = self.hidden.reshape(*shape[:-1], width)
            if hidden.shape != (*shape[:-1], width):
                return None
            return Logits(hidden, self.layer, lambda: function(self.materialized(), *args, **settings))

        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), settings: Optional[Dict[str, Any]] = None) -> Any:
            settings = settings or {}
            with torch._C.DisableTorchFunctionSubclass():
                if function in facts:
                    return function(*args, **settings)
                first = args[0] if args and isinstance(args[0], Logits) else None
                if first is not None and function in views:
                    result = first.viewed(function, args[1:], settings)
                    if result is not None:
                        return result
                if first is not None and (function is tensor.float and first.dtype == torch.float32):
                    return first
                if first is not None and function is torch.nn.functional.cross_entropy:
                    result = cross_entropy(*args, **settings)
                    if result is not None:
                        return result
                else:
                    used_elsewhere(function)
                return with_whole(function, args, settings)

        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), settings: Optional[Dict[str, Any]] = None) -> Any:
            return with_whole(function, args, settings or {})

    def with_whole(function: Callable[..., Any], args: Any, settings: Any) -> Any:
        whole = torch.utils._pytree.tree_map_only(Logits, lambda logits: logits.materialized(), (args, settings))
        return function(*whole[0], **whole[1])

    return Logits


def _loss_in_parts(torch: Any) -> Any:
    linear = torch.nn.functional.linear

    class LossInParts(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, hidden: Any, weight: Any, bias: Any, labels: Any, rows: int, ignored: int) -> Any:
            of_hidden, of_weight = torch.empty_like(hidden), torch.zeros_like(weight)
            of_bias = None if bias is None else torch.zeros_like(bias)
            total = torch.zeros((), device=hidden.device)
            for part, target, out in zip(hidden.split(rows), labels.split(rows), of_hidden.split(rows)):
                logits = linear(part, weight, bias)
                gradient = torch.softmax(logits, -1, dtype=torch.float32)
                chosen, used = target.clamp(min=0)[:, None], (target != ignored)[:, None]
                total -= (gradient.gather(1, chosen).log() * used).sum()
                gradient.scatter_add_(1, chosen, torch.full_like(chosen, -1, dtype=torch.float32)).mul_(used)
                gradient = gradient.to(hidden.dtype)
                torch.mm(gradient, weight, out=out)
                of_weight.addmm_(gradient.t(), part)
                if of_bias is not None:
                    of_bias += gradient.sum(0)
                del logits, gradient
            count = (labels != ignored).sum()
            for each in (of_hidden, of_weight, of_bias):
                if each is not None:
                    each /= count
            ctx.save_for_backward(of_hidden, of_weight, of_bias)
            return total / count

        @staticmethod
        def backward(ctx: Any, given: Any) -> Tuple[Any, ...]:
            return tuple(None if each is None else each.mul_(given.to(each.dtype)) for each in ctx.saved_tensors) + (None, None, None)

    return LossInParts
