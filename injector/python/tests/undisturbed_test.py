#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program cannot detect the shim: the oracle is the same program without it, in light and in deep steps."""

import re
import tempfile
import unittest
from typing import Any, Dict, List

import harness
import drawn
from harness import Run, needs_torch
from undisturbed_programs import MODEL, PROGRAMS


@drawn.share(4)
@needs_torch
class UndisturbedTest(unittest.TestCase):
    def same_named(self, name: str) -> Run:
        """Like same(), with a program of undisturbed_programs.py. Returns the run with light steps."""
        return self.same(PROGRAMS[name])[0]

    def same(self, program: str, *steps: str, light: bool = True, **settings: Any) -> List[Run]:
        """Runs it bare, light, and with the given steps deep ("1-99"); all must look the same. Returns the recorded runs."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        settings["folder"] = holder.name  # the same in every run, because tracebacks contain it
        bare = harness.run_warm(program, MODEL, recorded=False, **settings)
        runs = []
        for deep in (*([""] if light else []), *(steps or ("1-99",))):
            environment: Dict[str, str] = {"VRAMSCOPE_STUB_DEEP": deep} if deep else {}
            done = harness.run_warm(program, MODEL, environment=environment, **settings)
            self.assertEqual(done.stdout, bare.stdout, deep)
            self.assertEqual(_without_clock(done.stderr), _without_clock(bare.stderr), deep)
            self.assertEqual(done.exit_code, bare.exit_code)
            self.assertEqual(done.failures(), {}, deep)
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
        self.assertEqual(self.same_named("nothing_is_kept_alive").stdout.count("True"), 7)

    def test_user_code_sees_none_of_our_reads(self) -> None:
        self.same_named("user_code_sees_none_of_our_reads")

    def test_unusual_tensors(self) -> None:
        self.same_named("unusual_tensors")

    def test_scripted_scopes(self) -> None:
        self.same_named("scripted_scopes")

    def test_what_can_be_seen_of_replaced_methods(self) -> None:
        self.same_named("what_can_be_seen_of_replaced_methods")

    def test_ends_of_programs(self) -> None:
        codes = {"ends_by_exit": 3, "ends_by_exit_with_text": 1, "ends_by_exception": 1, "ends_by_signal": -9, "ends_by_interrupt": -2}
        for name, code in codes.items():
            with self.subTest(name):
                done = self.same_named(name)
                self.assertNotEqual(done.stdout, "", "it has trained")
                self.assertEqual(done.exit_code, code)

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
        for done in self.same(program, "2-3", light=False):
            self.assertEqual(done.exit_code, 0, done.stderr)
            self.assertEqual([event.number[1] for event in done.named("mark", harness.MARK_STEP_DONE)], [1, 2, 3, 4])

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
        for done in self.same(program, "2-3", light=False):
            self.assertEqual(len({event.process for event in done.named("label", harness.PARAMETER)}), 4, "2 spawned, 2 forked")


def _without_clock(text: str) -> str:
    """Log lines of dynamo contain the time and the process id."""
    return re.sub(r"^\[\d{4}-\d\d-\d\d [\d:,]+\]|^[VIWE]\d{4} [\d:.]+ \d+", "", text, flags=re.MULTILINE)


if __name__ == "__main__":
    unittest.main()
