# SPDX-License-Identifier: Apache-2.0
"""Exercises every kind of tensor that a recorder could disturb, and prints the results: they must not depend on recording."""
import logging
import warnings
from typing import Any, Callable, List

import torch
import torch.nn.functional as F

CASES: List[Callable[[], Any]] = []


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    CASES.append(function)
    return function


def total(tensor: torch.Tensor) -> float:
    return round(float(tensor.detach().double().sum()), 6)


@case
def copy_on_write() -> Any:
    source = torch.arange(8.0, requires_grad=True)
    clone = torch._lazy_clone(source)
    saved = clone.detach().requires_grad_() * 2  # autograd keeps a copy-on-write tensor
    kept = clone * clone
    still_lazy = torch._C._is_cow_tensor(clone), torch._C._is_cow_tensor(source)
    kept.sum().backward()
    return still_lazy, total(saved), source.grad.tolist(), torch._C._is_cow_tensor(clone)


@case
def fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        weight = torch.empty(4, 5, requires_grad=True)
        out = F.linear(torch.empty(3, 5), weight).relu().sum()
        out.backward()
        return tuple(weight.grad.shape), str(weight.grad.device), type(weight.grad).__name__


@case
def functorch() -> Any:
    weight = torch.arange(6.0).reshape(2, 3)
    gradient = torch.func.grad(lambda w: (w * w).sum())(weight)
    mapped = torch.vmap(torch.func.grad(lambda x: (x.sin() * x).sum()))(weight)
    jacobian = torch.func.jacrev(lambda x: x * x)(torch.arange(3.0))
    return gradient.tolist(), total(mapped), jacobian.tolist()


@case
def sparse() -> Any:
    indices = torch.tensor([[0, 1, 2], [2, 0, 1]])
    matrix = torch.sparse_coo_tensor(indices, torch.ones(3), (3, 3), requires_grad=True)
    torch.sparse.mm(matrix, torch.arange(6.0).reshape(3, 2)).sum().backward()
    table = torch.nn.Embedding(5, 2, sparse=True)
    table(torch.tensor([1, 1, 3])).sum().backward()
    optimizer = torch.optim.SparseAdam(table.parameters())
    optimizer.step()
    return matrix.grad.to_dense().tolist(), table.weight.grad.coalesce().values().tolist()


@case
def meta() -> Any:
    layer = torch.nn.Linear(1 << 20, 1 << 20, device="meta")
    out = layer(torch.empty(2, 1 << 20, device="meta")).sum()
    out.backward()
    return layer.weight.grad.device.type, tuple(layer.weight.grad.shape)


@case
def nested() -> Any:
    parts = [torch.arange(4.0).reshape(2, 2), torch.arange(6.0).reshape(3, 2)]
    tensor = torch.nested.nested_tensor(parts, requires_grad=True)
    out = torch.nested.to_padded_tensor(tensor * 2, 0.0)
    out.sum().backward()
    return total(out), [total(part) for part in tensor.grad.unbind()]


class Tagged(torch.Tensor):
    """A subclass that sees every function."""

    calls = 0

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Tagged.calls += 1
        return super().__torch_function__(function, types, args, kwargs or {})


@case
def subclass() -> Any:
    tensor = torch.arange(4.0).as_subclass(Tagged).requires_grad_()
    before = Tagged.calls
    (tensor * tensor).sum().backward()
    return type(tensor.grad).__name__, tensor.grad.tolist(), Tagged.calls - before


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x * x * gradient


@case
def custom_function_and_double_backward() -> Any:
    x = torch.arange(1.0, 4.0, requires_grad=True)
    (first,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return first.tolist(), second.tolist()


@case
def saved_tensor_hooks() -> Any:
    packed: List[int] = []

    def pack(tensor: torch.Tensor) -> Any:
        packed.append(tensor.numel())
        return tensor.clone()

    x = torch.arange(3.0, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = (x.exp() * x).sum()
    y.backward()
    return packed, total(x.grad)


@case
def checkpoints() -> Any:
    from torch.utils.checkpoint import checkpoint

    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Tanh())
    results = []
    for reentrant in (False, True):
        layer.zero_grad()
        x = torch.ones(2, 4, requires_grad=True)
        checkpoint(layer, x, use_reentrant=reentrant).sum().backward()
        results.append((total(x.grad), total(layer[0].weight.grad)))
    return results


@case
def inplace_views_and_hooks() -> Any:
    x = torch.arange(6.0, requires_grad=True)
    y = x * 2
    y[2:4].mul_(3)
    seen: List[float] = []
    x.register_hook(lambda gradient: seen.append(total(gradient)))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad.tolist(), seen


@case
def compiled() -> Any:
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
    function = torch.compile(layer, backend="aot_eager")
    out = function(torch.ones(3, 4))
    out.sum().backward()
    return total(out), total(layer[0].weight.grad)


@case
def foreign_memory() -> Any:
    import array

    shared = torch.zeros(16).share_memory_()
    shared.add_(1)
    buffer = torch.frombuffer(array.array("f", [1.0, 2.0]), dtype=torch.float32)
    grown = torch.empty(0).resize_(100).fill_(1)
    return total(shared), buffer.tolist(), total(grown)


@case
def accumulation() -> Any:
    weight = torch.ones(3, requires_grad=True)
    for _ in range(3):
        (weight * weight).sum().backward()
    dense = weight.grad.tolist()
    weight.grad = None
    weight.sum().backward(create_graph=True)
    return dense, weight.grad.tolist()


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # its lines contain the time
    for function in CASES:
        torch.manual_seed(0)
        try:
            result: Any = function()
        except (AttributeError, NotImplementedError, RuntimeError) as error:  # older releases lack some
            result = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
        print(f"{function.__name__}: {result}", flush=True)


if __name__ == "__main__":
    main()
