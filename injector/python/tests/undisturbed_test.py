#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program cannot tell that it is named: the oracle is the same program without the shim, in light and in deep steps."""

import re
import tempfile
import unittest
from typing import Any, Dict, List

import harness
from harness import Run, needs_torch

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
"""


@needs_torch
class UndisturbedTest(unittest.TestCase):
    def same(self, program: str, *steps: str, **settings: Any) -> List[Run]:
        """Runs it bare, light, and with the given steps deep ("1-99"); all must look the same. Returns the recorded runs."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        settings["folder"] = holder.name  # the same in every run: it stands in tracebacks
        bare = harness.run(program, MODEL, recorded=False, **settings)
        runs = []
        for deep in ("", *(steps or ("1-99",))):
            environment: Dict[str, str] = {"VRAMSCOPE_STUB_DEEP": deep} if deep else {}
            done = harness.run(program, MODEL, environment=environment, **settings)
            self.assertEqual(done.stdout, bare.stdout, deep)
            self.assertEqual(_without_clock(done.stderr), _without_clock(bare.stderr), deep)
            self.assertEqual(done.exit_code, bare.exit_code)
            wrong = {hook: told for hook, told in done.coverage().items() if any("Error" in detail for _, detail in told)}
            self.assertEqual(wrong, {}, deep)
            runs.append(done)
        return runs

    def test_results_pickles_and_copies(self) -> None:
        program = """
            import hashlib
            class Pickler(pickle.Pickler):
                def reducer_override(self, thing):   # the pickle of a storage has its address in it
                    return (list, (thing.flatten().tolist(),)) if isinstance(thing, torch.Tensor) else NotImplemented
            def digest(thing):
                buffer = io.BytesIO()
                Pickler(buffer).dump(thing)
                return hashlib.sha1(buffer.getvalue()).hexdigest()
            model = Net()
            model.first.register_forward_hook(lambda *_: None).remove()
            optimizer = torch.optim.Adam(model.parameters())
            show(train(model, optimizer))
            handle = model.last.register_forward_hook(max)       # its number is in the pickle
            show(digest(model), digest(optimizer))
            show(hashlib.sha1(repr(model.state_dict()).encode() + repr(optimizer.state_dict()).encode()).hexdigest())
            show(sorted(vars(model)), sorted(vars(optimizer)), handle.id, sorted(model.last._forward_hooks))
            handle.remove()
            twin, second = copy.deepcopy((model, optimizer))
            show(train(twin, second))
            buffer = io.BytesIO()
            torch.save(optimizer.state_dict(), buffer)
            show(hashlib.sha1(buffer.getvalue()).hexdigest())
        """
        self.same(program)

    def test_nothing_is_kept_alive(self) -> None:
        program = """
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
        """
        for done in self.same(program):
            self.assertEqual(done.stdout.count("True"), 7)

    def test_user_code_sees_none_of_our_reads(self) -> None:
        program = """
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
        """
        self.same(program)

    def test_unusual_tensors(self) -> None:
        program = """
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
        """
        self.same(program)

    def test_tracebacks_of_light_steps(self) -> None:
        program = """
            from torch.utils.checkpoint import checkpoint
            from torch.utils.data import DataLoader, Dataset
            class Bad(Dataset):
                def __len__(self): return 2
                def __getitem__(self, index): raise OSError("disk")
            class Fails(nn.Module):
                def forward(self, x): raise ValueError("in forward")
            def closure(): raise KeyError("closure")
            def bad(x): raise ArithmeticError("bad")
            def in_scope():
                with torch.profiler.record_function("scope"): bad(0)
            def in_autocast():
                with torch.autocast("cpu"): bad(0)
            @torch.no_grad()
            def in_no_grad(): bad(0)
            def late(x, state=[]):
                state.append(1)
                if len(state) > 1: bad(0)
                return x.sin() * 2
            x = torch.ones(1, requires_grad=True)
            def recomputed(reentrant):
                checkpoint(lambda t: late(t, []) if False else late(t, calls), x, use_reentrant=reentrant).sum().backward()
            def hooked():
                optimizer = torch.optim.SGD([x], lr=0.1)
                optimizer.register_step_pre_hook(lambda *_: bad(0))
                optimizer.step()
            attempts = [lambda: nn.Sequential(Fails())(1), lambda: next(iter(DataLoader(Bad()))), in_scope, in_autocast, in_no_grad, hooked,
                        lambda: torch.optim.SGD([x], lr=0.1).step(closure), lambda: torch.optim.SGD([], lr=0.1), lambda: torch.autocast("nothing"),
                        lambda: checkpoint(bad, x, use_reentrant=False), lambda: checkpoint(bad, x, use_reentrant=True),
                        lambda: recomputed(False), lambda: recomputed(True), lambda: Net().load_state_dict({}), lambda: Net().zero_grad(1, 2)]
            for number, attempt in enumerate(attempts):
                calls = []
                try:
                    attempt()
                except Exception:
                    show(number, traceback.format_exc())
                else:
                    show(number, "went well")
            bad(0)
        """
        light = self.same(program, "2-3")[0]
        self.assertNotIn("went well", light.stdout)
        self.assertNotIn("vramscope", light.stdout + light.stderr)

    def test_ends_of_programs(self) -> None:
        for end in ("sys.exit(3)", "raise KeyboardInterrupt", "1 / 0", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "sys.exit('text')"):
            with self.subTest(end):
                self.same("model = Net()\nshow(train(model, torch.optim.SGD(model.parameters(), lr=0.1)))\n" + end, "2-3")

    def test_compiled_and_scripted_programs(self) -> None:
        program = """
            warnings.simplefilter("ignore")
            import logging
            torch._logging.set_logs(all=logging.ERROR)   # its lines count frames, and those around our hooks are not compiled
            from torch.utils.checkpoint import checkpoint
            model, x = Net(), torch.ones(4, 4, requires_grad=True)
            def autocast(x):
                with torch.autocast("cpu", dtype=torch.bfloat16): return (x @ x).relu()
            def scope(x):
                with torch.profiler.record_function("scope"): return (x @ x).relu()
            def no_grad(x):
                with torch.no_grad(): y = x * 2
                return x + y
            def zero_grad(x):
                model.zero_grad()
                return model(x)
            def region(x): return checkpoint(lambda y: (y @ y).relu().sin(), x, use_reentrant=False)
            optimizer = torch.optim.Adam(model.parameters())
            def step(x):
                optimizer.step()
                return x
            def attempt(name, action):
                try:
                    show(name, action())
                except Exception as error:
                    show(name, type(error).__name__, str(error).splitlines()[:1])
            train(model, optimizer, 2)
            for backend in ("eager", "aot_eager"):
                for full in (True, False):
                    for function in (autocast, scope, no_grad, zero_grad, region, step):
                        torch._dynamo.reset()
                        attempt(function.__name__, lambda: torch.compile(function, backend=backend, fullgraph=full)(x).sum().item())
            optimizer = torch.optim.Adam(model.parameters())   # the other one was compiled
            compiled = torch.compile(model, backend="eager", fullgraph=True)
            show(train(compiled, optimizer, 5))
            from torch._dynamo.utils import counters
            show(counters["stats"]["unique_graphs"])
            attempt("traced", lambda: torch.jit.trace(model.eval(), x)(x).shape)
            attempt("module", lambda: torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))(x).shape)
        """
        self.same(program, "1-99", "2-3")

    def test_steps_of_a_compiled_training_step_are_seen(self) -> None:
        program = """
            import logging
            torch._logging.set_logs(all=logging.ERROR)
            warnings.simplefilter("ignore")
            model = Net()
            optimizer = torch.optim.Adam(model.parameters())
            @torch.compile(backend="eager")
            def step(x):
                optimizer.zero_grad()
                loss = model(x).pow(2).mean()
                loss.backward()
                optimizer.step()
                return loss
            for _ in range(4):
                show(step(torch.randn(6, 4)).item())
            from torch._dynamo.utils import counters
            show(counters["stats"])
        """
        for done in self.same(program, "2-3"):
            self.assertEqual(done.exit_code, 0, done.stderr)
            self.assertEqual([event.number[1] for event in done.named("mark", harness.MARK_STEP_DONE)], [1, 2, 3, 4])

    def test_scripted_scopes(self) -> None:
        program = """
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
        """
        self.same(program)

    def test_what_can_be_seen_of_replaced_methods(self) -> None:
        program = """
            import inspect
            for method in (torch.autocast.__enter__, torch.autocast.__exit__, torch.profiler.record_function.__enter__,
                           torch.profiler.record_function.__exit__, torch.no_grad.__enter__, nn.Module.zero_grad):
                show(method.__qualname__, method.__module__, inspect.signature(method), method.__doc__, inspect.getsource(method))
        """
        self.same(program)

    def test_processes_of_every_kind(self) -> None:
        program = """
            import os, subprocess
            import torch.multiprocessing as processes
            from torch.utils.data import DataLoader, TensorDataset
            def work(rank, where):
                torch.manual_seed(rank)
                model = Net()
                show(where, rank, train(model, torch.optim.SGD(model.parameters(), lr=0.1)))
                sys.stdout.flush()
            if __name__ == "__main__":
                for number in range(2):
                    processes.spawn(work, args=("spawn",), nprocs=1)
                child = processes.get_context("fork").Process(target=work, args=(5, "fork"))
                child.start()
                child.join()
                show(child.exitcode)
                sys.stdout.flush()
                if os.fork() == 0:
                    work(6, "os.fork")
                    os._exit(0)
                os.wait()
                for batch in DataLoader(TensorDataset(torch.arange(8.0)), batch_size=4, num_workers=2):
                    show(batch)
        """
        for done in self.same(program, "2-3"):
            self.assertEqual(len({event.process for event in done.named("label", harness.PARAMETER)}), 4, "2 spawned, 2 forked")


def _without_clock(text: str) -> str:
    """Log lines of dynamo have the time and the process in them."""
    return re.sub(r"^\[\d{4}-\d\d-\d\d [\d:,]+\]|^[VIWE]\d{4} [\d:.]+ \d+", "", text, flags=re.MULTILINE)


if __name__ == "__main__":
    unittest.main()
