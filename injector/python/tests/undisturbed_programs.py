# SPDX-License-Identifier: Apache-2.0
"""Programs of undisturbed_test.py, and what all of its programs begin with."""

from typing import Dict

MODEL = """
    import copy, gc, io, pickle, sys, traceback, warnings, weakref
    import torch
    from torch import nn
    torch.manual_seed(0)
    warnings.simplefilter("error" if sys.version_info < (3, 15) else "default")
    warnings.filterwarnings("ignore", message=".*prototype.*|.*sparse.*|.*deprecat.*|.*lr_scheduler.*")
    warnings.simplefilter("ignore", ResourceWarning)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.last = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 4)

        def forward(self, x):
            return self.last(self.norm(self.first(x)).relu())

    def train(model, optimizer, steps=4):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = model(torch.randn(6, 4)).pow(2).mean()
            loss.backward()
            optimizer.step()
        return loss.item()

    def show(*what):
        print(*what)

    def train_and_show():
        model = Net()
        show(train(model, torch.optim.SGD(model.parameters(), lr=0.1)))
        sys.stdout.flush()  # before a signal ends it
"""


PROGRAMS: Dict[str, str] = {
    "nothing_is_kept_alive": """
        from torch.utils.data import DataLoader, TensorDataset
        gc.disable()
        model = Net()
        optimizer = torch.optim.AdamW(model.parameters())
        train(model, optimizer)
        for batch in DataLoader(TensorDataset(torch.randn(4, 4)), batch_size=2):
            pass
        watched = [weakref.ref(thing) for thing in (model, model.first, model.first.weight, model.norm.running_mean, optimizer,
                                                    optimizer.state[model.first.weight]["exp_avg"], batch[0])]
        del model, optimizer, batch
        show([reference() is None for reference in watched])
    """,
    "user_code_sees_none_of_our_reads": """
        from torch.overrides import TorchFunctionMode
        seen = []
        class Mode(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                seen.append(getattr(function, "__name__", str(function)))
                return function(*args, **(kwargs or {}))
        class Sub(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                seen.append("sub " + getattr(function, "__name__", str(function)))
                return super().__torch_function__(function, types, args, kwargs or {})
        from torch.utils.data import DataLoader
        model, data = Net(), [torch.randn(4).as_subclass(Sub) for _ in range(8)]
        model.odd = nn.Parameter(torch.randn(3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        with Mode():
            for batch in DataLoader(data, batch_size=4, collate_fn=torch.stack):
                optimizer.zero_grad()
                model(batch).sum().backward()
                optimizer.step()
        show(len(seen), seen)
    """,
    "unusual_tensors": """
        from torch.utils.data import DataLoader
        x = torch.randn(6, 4)
        if hasattr(torch._C, "_is_cow_tensor"):
            class Lazy(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.weight = nn.Parameter(torch._lazy_clone(x))
                    self.register_buffer("kept", torch._lazy_clone(x))
            lazy = Lazy()
            with torch.no_grad():
                pass
            optimizer = torch.optim.SGD([torch.randn(2, requires_grad=True)], lr=0.1)
            optimizer.step()
            for batch in DataLoader([1, 2], collate_fn=lambda _: torch._lazy_clone(x)):
                show(torch._C._is_cow_tensor(batch))
            show(torch._C._is_cow_tensor(lazy.weight), torch._C._is_cow_tensor(lazy.kept))
        table = nn.Embedding(10, 4, sparse=True)
        optimizer = torch.optim.SparseAdam(list(table.parameters()))
        for _ in range(4):
            table(torch.tensor([1, 2])).sum().backward()
            optimizer.step()
        show(table.weight.sum().item())
        with torch.device("meta"):
            nowhere = nn.Linear(3, 3)
        optimizer = torch.optim.SGD(nowhere.parameters(), lr=0.1)
        nowhere(torch.ones(1, 3, device="meta")).sum().backward()
        optimizer.step()
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode():
            fake = nn.Linear(3, 3)
            optimizer = torch.optim.Adam(fake.parameters())
            fake(torch.ones(1, 3)).sum().backward()
            optimizer.step()
            show(type(fake.weight.data).__name__)
        lazy = nn.LazyLinear(3)
        with torch.no_grad():
            lazy(torch.ones(1, 5))
        from torch.func import functional_call, grad, vmap
        show(grad(lambda t: functional_call(lazy, {"weight": t}, torch.ones(1, 5)).sum())(lazy.weight).sum().item())
        show(vmap(lambda t: lazy(t).sum())(torch.ones(2, 5)).shape)
        for batch in DataLoader([1, 2], collate_fn=lambda _: [torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), x.to_sparse()]):
            show(len(batch))
    """,
    "scripted_scopes": """
        warnings.simplefilter("default")
        @torch.jit.script
        def scope(x: torch.Tensor):
            with torch.profiler.record_function("scope"):
                y = x + 1
            return y
        @torch.jit.script
        def no_grad(x: torch.Tensor):
            with torch.no_grad():
                y = x + 1
            return y
        show(scope(torch.ones(1)).item(), no_grad(torch.ones(1)).item())
    """,
    "what_can_be_seen_of_replaced_methods": """
        import inspect
        for method in (torch.autocast.__enter__, torch.autocast.__exit__, torch.profiler.record_function.__enter__,
                       torch.profiler.record_function.__exit__, torch.no_grad.__enter__, nn.Module.zero_grad):
            show(method.__qualname__, method.__module__, inspect.signature(method), method.__doc__, inspect.getsource(method))
    """,
    "ends_by_exit": "train_and_show()\nsys.exit(3)",
    "ends_by_exit_with_text": "train_and_show()\nsys.exit('text')",
    "ends_by_interrupt": "train_and_show()\nraise KeyboardInterrupt",
    "ends_by_exception": "train_and_show()\n1 / 0",
    "ends_by_signal": "train_and_show()\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
}
