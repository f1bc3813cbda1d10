# SPDX-License-Identifier: Apache-2.0
"""Tensors that have no storage, no memory, or must not be read in the wrong way; prints the results."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
torch.set_num_threads(1)


class Tagged(torch.Tensor):
    pass


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(context, gradient):
        return gradient * 3 * context.saved_tensors[0] ** 2


def report(name, *tensors):
    print(name, *(f"{float(tensor.detach().double().sum()):.6f}" for tensor in tensors))


x = torch.randn(8, 8, requires_grad=True)

if hasattr(torch, "_lazy_clone"):
    whole = torch.randn(64, requires_grad=True)
    lazy = torch._lazy_clone(whole)
    (lazy * lazy).sum().backward()
    report("copy-on-write", whole.grad)
    if hasattr(torch._C, "_is_cow_tensor"):
        print("still lazy", torch._C._is_cow_tensor(lazy))

with FakeTensorMode():
    fake = torch.randn(4, 4, requires_grad=True)
    (fake @ fake).sum().backward()
    print("fake", tuple(fake.grad.shape))

meta = torch.randn(4, 4, device="meta", requires_grad=True)
(meta * meta).sum().backward()
print("meta", meta.grad.device.type)

report("functorch", torch.func.vmap(torch.func.grad(lambda row: (row * row).sum()))(x))
report("hessian", torch.func.hessian(lambda row: (row**3).sum())(torch.ones(3)))

sparse = torch.eye(4).to_sparse().requires_grad_(True)
torch.sparse.mm(sparse, torch.ones(4, 4)).sum().backward()
report("sparse", sparse.grad.to_dense())

nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], requires_grad=True)
torch.nested.to_padded_tensor(nested * 2, 0.0).sum().backward()
print("nested", [tuple(part.shape) for part in nested.grad.unbind()])

tagged = torch.ones(3).as_subclass(Tagged).requires_grad_(True)
(tagged * tagged).sum().backward()
report("subclass", tagged.grad)

layer = torch.nn.Linear(8, 8)
for reentrant in (True, False):
    layer.zero_grad()
    checkpoint(lambda y: torch.tanh(layer(y)), x, use_reentrant=reentrant).sum().backward()
    report("checkpoint", layer.weight.grad, x.grad)

with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
    (x * x).sum().backward()
report("hooks", x.grad)

Cubed.apply(x).sum().backward(create_graph=True)
second = torch.autograd.grad((x**3).sum(), x, create_graph=True)[0]
report("double", torch.autograd.grad(second.sum(), x)[0])
report("from_numpy", torch.from_numpy(torch.ones(5).numpy()).requires_grad_(True) * 2)
empty = torch.empty(0, requires_grad=True)
(empty * 2).sum().backward()
print("empty", tuple(empty.grad.shape))
