#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Intervals and marks: optimizer steps, zero_grad, data loader, autocast, checkpoint, scopes, and the modules of deep steps."""

import unittest
from typing import Dict, List

import harness
import drawn
from harness import AUTOCAST, CHECKPOINT, DATA_LOADER, MODULE, OPTIMIZER, SCOPE, ZERO_GRAD, Run, needs_torch

MODEL = """
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)
            self.fails = False

        def forward(self, x):
            if self.fails:
                raise ValueError("in forward")
            return self.inner(x).relu()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block(), Block()])
            self.recompute = None

        def forward(self, x):
            for block in self.blocks:
                x = block(x) if self.recompute is None else checkpoint(block, x, use_reentrant=self.recompute)
            return x

    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(**settings):
        optimizer.zero_grad(**settings)
        model(torch.ones(2, 4, requires_grad=True)).sum().backward()
        optimizer.step()
"""
DEEP_FORWARD = [
    "<Net",
    *["<blocks.0", "<blocks.0.inner", "blocks.0.inner>", "blocks.0>"],
    *["<blocks.1", "<blocks.1.inner", "blocks.1.inner>", "blocks.1>"],
    "Net>",
]


@drawn.share(3)
@needs_torch
class RegionsTest(unittest.TestCase):
    def run_well(self, program: str, environment: Dict[str, str] = {}) -> Run:  # noqa: B006
        done = harness.run_warm(program, MODEL, environment=environment)
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual({}, done.failures())
        self.assert_balanced(done)
        return done

    def assert_balanced(self, done: Run) -> None:
        open_ranges: List[str] = []
        for event in done.events:
            if event.what == "begin":
                open_ranges.append(f"{event.number} {event.name}")
            elif event.what == "end":
                self.assertEqual(f"{event.number} {event.name}", open_ranges.pop())
        self.assertEqual(open_ranges, [])

    def test_steps_and_zero_grad(self) -> None:
        done = self.run_well("step()\nstep(set_to_none=False)\nmodel.zero_grad(set_to_none=True)\n")
        self.assertEqual(done.ranges(OPTIMIZER, ZERO_GRAD), ["<SGD", "SGD>"] * 4 + ["<Module", "Module>"])
        marks = done.named("mark", harness.MARK_STEP_DONE)
        self.assertEqual([(event.name, event.number[1]) for event in marks], [("SGD", 1), ("SGD", 2)])
        begins = {event.number[1] for event in done.named("begin", OPTIMIZER)}
        self.assertEqual({event.number[2] for event in marks}, begins, "mark and range name the same optimizer")
        zeroed = [(event.name, event.number[1]) for event in done.named("mark", harness.MARK_ZERO_GRAD)]
        self.assertEqual(zeroed, [("SGD", 1), ("SGD", 0), ("Module", 1)])
        self.assertEqual([event.number[0] for event in done.events if event.what == "step_done"], [1, 2])

    def test_a_step_that_raises_ends_its_range_and_does_not_count(self) -> None:
        program = """
            def closure():
                raise KeyError("in closure")
            for _ in range(3):
                try:
                    optimizer.step(closure)
                except KeyError:
                    pass
            step()
        """
        done = self.run_well(program)
        self.assertEqual(done.ranges(OPTIMIZER), ["<SGD", "SGD>"] * 4)
        self.assertEqual([event.number[1] for event in done.named("mark", harness.MARK_STEP_DONE)], [1])

    def test_the_state_that_a_step_made_before_it_raised_is_told(self) -> None:
        program = """
            made, zeros_like = [], torch.zeros_like
            def at_most_three(*arguments, **options):
                if len(made) == 3:
                    raise MemoryError
                made.append(zeros_like(*arguments, **options))
                return made[-1]
            adam = torch.optim.Adam(model.parameters())
            for parameter in model.parameters():
                parameter.grad = zeros_like(parameter)
            torch.zeros_like = at_most_three
            try:
                adam.step()
            except MemoryError:
                pass
            torch.zeros_like = zeros_like
        """
        names = list(self.run_well(program).labels(harness.OPTIMIZER_STATE))
        self.assertEqual([name.split(" of ")[0] for name in names if name.startswith("exp_avg")], ["exp_avg", "exp_avg_sq", "exp_avg"])

    def test_a_subclass_that_calls_its_base_steps_once(self) -> None:
        program = """
            class Mine(torch.optim.SGD):
                def step(self, closure=None):
                    return super().step(closure)
            step()
            optimizer = Mine(model.parameters(), lr=0.1)
            step()
        """
        done = self.run_well(program)
        self.assertEqual([(event.name, event.number[1]) for event in done.named("mark", harness.MARK_STEP_DONE)], [("SGD", 1), ("Mine", 1)])
        self.assertEqual(done.ranges(OPTIMIZER), ["<SGD", "SGD>", "<Mine", "Mine>"])

    def test_two_optimizers_make_one_step(self) -> None:
        program = """
            other = Net()
            second = torch.optim.Adam(other.parameters())
            for _ in range(3):
                step()
                other(torch.ones(1, 4)).sum().backward()
                second.step()
        """
        words = [event.name or event.what for event in self.run_well(program).events if event.what == "step_done" or event.what == "mark"]
        words = [word for word in words if word in ("SGD", "Adam", "step_done")]
        self.assertEqual(words, ["SGD", "SGD", "Adam", "step_done"] * 3, "zero_grad, step, step, end")

    def test_scopes_of_the_program(self) -> None:
        program = """
            from torch.profiler import record_function
            with record_function("outer"), torch.autograd.profiler.record_function("inner"):
                pass
            @record_function("decorated")
            def work():
                raise ValueError
            try:
                work()
            except ValueError:
                pass
            for number in range(5000):
                with record_function(f"step {number}"):
                    pass
        """
        ranges = self.run_well(program).ranges(SCOPE)
        self.assertEqual(ranges[:6], ["<outer", "<inner", "inner>", "outer>", "<decorated", "decorated>"])
        self.assertEqual(len(ranges), 6 + 10000)
        self.assertLess(len(set(ranges)), 10000, "names that never end are not kept")

    def test_data_loader(self) -> None:
        program = """
            from torch.utils.data import DataLoader, TensorDataset
            for batch in DataLoader(TensorDataset(torch.ones(4, 4)), batch_size=2):
                step()
            class Bad(torch.utils.data.Dataset):
                def __len__(self):
                    return 2
                def __getitem__(self, index):
                    raise OSError("disk")
            try:
                next(iter(DataLoader(Bad())))
            except OSError:
                pass
        """
        done = self.run_well(program)
        load = ["<_SingleProcessDataLoaderIter", "_SingleProcessDataLoaderIter>"]
        end_of_data, failure = load, load
        self.assertEqual(done.ranges(DATA_LOADER, OPTIMIZER), [*load, "<SGD", "SGD>"] * 2 + end_of_data + failure)
        self.assertEqual(len(done.named("mark", harness.MARK_BATCH_READY)), 2)

    def test_autocast(self) -> None:
        program = """
            with torch.autocast("cpu", dtype=torch.bfloat16):
                with torch.autocast("cpu", enabled=False):
                    pass
            with torch.autocast("cpu", enabled=False):
                pass
            with torch.cpu.amp.autocast() if torch.__version__.startswith("2.2") else torch.amp.autocast("cpu"):
                pass
            @torch.autocast("cpu", dtype=torch.float16) if not torch.__version__.startswith("2.2") else torch.autocast("cpu")
            def work(again):
                if again:
                    work(again - 1)
            work(2)
        """
        expected = ["<bfloat16", "<disabled", "disabled>", "bfloat16>", "<bfloat16", "bfloat16>"]
        ranges = self.run_well(program).ranges(AUTOCAST)
        self.assertEqual(ranges[:6], expected)
        self.assertEqual(len(ranges), 12)

    def test_checkpoint_without_reentry(self) -> None:
        done = self.run_well("model.recompute = False\nstep()\n")
        self.assertEqual(done.ranges(CHECKPOINT), ["<checkpoint", "checkpoint>"] * 2 + ["<recomputation", "recomputation>"] * 2)
        self.assertEqual([event.number[1] for event in done.named("begin", CHECKPOINT)], [1, 2, 2, 1])
        self.assertEqual([event.number[1] for event in done.named("mark", harness.MARK_CHECKPOINT_FREED)], [2, 1])

    def test_a_checkpoint_that_keeps_nothing_or_fails_ends(self) -> None:
        program = """
            model.recompute = False
            with torch.no_grad():
                model(torch.ones(2, 4))
            model.blocks[0].fails = True
            try:
                step()
            except ValueError:
                pass
        """
        done = self.run_well(program)
        self.assertEqual(done.ranges(CHECKPOINT), ["<checkpoint", "checkpoint>"] * 3)
        self.assertEqual([event.number[1] for event in done.named("mark", harness.MARK_CHECKPOINT_FREED)], [1, 2, 3])

    def test_checkpoint_with_reentry_shows_its_recomputation(self) -> None:
        for wrapped in ("step()", "with torch.autocast('cpu', dtype=torch.bfloat16): step()"):
            done = self.run_well("model.recompute = True\n" + wrapped)
            self.assertEqual(done.ranges(CHECKPOINT), ["<recomputation", "recomputation>"] * 2)

    # --- deep steps

    def test_module_ranges_in_deep_steps_only(self) -> None:
        done = self.run_well("for _ in range(5): step()", {"VRAMSCOPE_STUB_DEEP": "2-3"})
        one_light = ["<SGD", "SGD>"]
        self.assertEqual(done.ranges(MODULE, OPTIMIZER), one_light + (DEEP_FORWARD + one_light) * 2 + one_light * 2)

    def test_the_whole_run_can_be_deep(self) -> None:
        done = self.run_well("for _ in range(2): step()", {"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual(done.ranges(MODULE), DEEP_FORWARD * 2)

    def test_no_hook_is_left_after_a_deep_step(self) -> None:
        program = """
            from torch.nn.modules import module
            def hooks():
                return [len(getattr(module, name)) for name in sorted(vars(module)) if name.startswith("_global_") and "registration" not in name
                        and hasattr(getattr(module, name), "__len__")]
            before = hooks()
            counts = []
            for _ in range(4):
                step()
                counts.append(hooks())
            print(counts[0] != before, counts[1] != before, counts[2:] == [before, before])
            print(torch.utils.hooks.RemovableHandle.next_id)
        """
        self.assertEqual(self.run_well(program, {"VRAMSCOPE_STUB_DEEP": "2-3"}).stdout, "True True True\n0\n")

    def test_a_module_that_raises_ends_its_range(self) -> None:
        program = """
            model.blocks[1].fails = True
            try:
                step()
            except ValueError:
                model.blocks[1].fails = False
            step()
        """
        done = self.run_well(program, {"VRAMSCOPE_STUB_DEEP": "1-99"})
        failed = [*DEEP_FORWARD[:6], "blocks.1>", "Net>"]
        self.assertEqual(done.ranges(MODULE), failed + DEEP_FORWARD)

    def test_recomputed_modules_are_inside_the_recomputation(self) -> None:
        done = self.run_well("model.recompute = False\nstep()\n", {"VRAMSCOPE_STUB_DEEP": "1-9"})
        ranges = done.ranges(CHECKPOINT, MODULE)
        block = ["<blocks.1", "<blocks.1.inner", "blocks.1.inner>"]
        self.assertEqual(ranges[ranges.index("<recomputation") + 1 :][:3], block)

    def test_a_program_that_compiles_has_no_module_ranges(self) -> None:
        program = """
            compiled = torch.compile(model, backend="eager")
            for _ in range(4):
                optimizer.zero_grad()
                compiled(torch.ones(2, 4)).sum().backward()
                optimizer.step()
            from torch._dynamo.utils import counters
            print(counters["stats"]["unique_graphs"])
        """
        done = harness.run(program, MODEL, environment={"VRAMSCOPE_STUB_DEEP": "1-99"})
        self.assertEqual((done.exit_code, done.stdout), (0, "1\n"), "compiled once")
        self.assertNotIn("global hooks", done.stderr)
        self.assertEqual(done.ranges(MODULE), [])
        self.assertIn(3, [state for state, _ in done.coverage()["python.modules"]])


if __name__ == "__main__":
    unittest.main()
