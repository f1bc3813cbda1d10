#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Labels of parameters, buffers, gradients, optimizer state and batches. The oracle is PyTorch's own introspection in the same process."""

import json
import unittest
from typing import Any, Dict, List, Set, Tuple

import harness
import drawn
from harness import BUFFER, GRADIENT, INPUT, OPTIMIZER_STATE, PARAMETER, Run, needs_torch

# Functions and a model for the programs of this file. At its end, a program prints the true labels with tell_all(): one JSON line per storage.
ORACLE = """
    import json, torch
    from torch import nn

    def tell(role, name, tensor):
        storage = tensor.untyped_storage()
        print(json.dumps([role, name, storage.data_ptr(), storage.nbytes()]))

    def inside(value):
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (dict, list, tuple)):
            for inner in value.values() if isinstance(value, dict) else value:
                yield from inside(inner)

    def tell_all(*models, optimizers=(), gradients=True, prefix=""):
        names = {}
        for model in models:
            for name, parameter in model.named_parameters():
                names[parameter] = prefix + name
                tell(1, prefix + name, parameter)
                if gradients and parameter.grad is not None:
                    tell(3, prefix + name, parameter.grad)
            for name, buffer in model.named_buffers():
                tell(2, prefix + name, buffer)
        for optimizer in optimizers:
            for parameter, state in optimizer.state.items():
                for key, value in state.items():
                    for tensor in inside(value):
                        tell(4, f"{key} of {names[parameter]}", tensor)

    class Net(nn.Module):
        def __init__(self, width=8):
            super().__init__()
            self.first = nn.Linear(4, width)
            self.norm = nn.BatchNorm1d(width)
            self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(2)])
            self.last = nn.Linear(width, 4, bias=False)
            self.tied = self.last
            self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)
            self.register_buffer("steps", torch.zeros(1))

        def forward(self, x):
            x = self.norm(self.first(x))
            for block in self.blocks:
                x = block(x)
            return self.last(x)

    def train(model, optimizer, steps=3):
        for _ in range(steps):
            def closure():
                optimizer.zero_grad()
                loss = model(torch.randn(6, 4)).pow(2).mean()
                loss.backward()
                return loss
            if isinstance(optimizer, torch.optim.LBFGS):
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()
"""

Storage = Tuple[str, int, int]  # name, address, bytes


@drawn.share(2)
@needs_torch
class NamesTest(unittest.TestCase):
    def truth(self, done: Run) -> Dict[int, Set[Storage]]:
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        found: Dict[int, Set[Storage]] = {role: set() for role in range(1, 7)}
        for line in done.stdout.splitlines():
            role, name, address, size = json.loads(line)
            found[role].add((name, address, size))
        self.assertEqual({}, done.failures())
        return found

    def told(self, done: Run, role: int) -> Set[Storage]:
        """Everything that was labeled. A set: it also contains earlier labels of storages that are gone."""
        return {(name, address, size) for name, labels in done.labels(role).items() for address, size, _ in labels}

    def assert_all_told(self, done: Run, *roles: int) -> None:
        truth = self.truth(done)
        for role in roles or (PARAMETER, BUFFER, GRADIENT, OPTIMIZER_STATE):
            told = self.told(done, role)
            self.assertLessEqual(truth[role], told, f"role {role}")
            names = {name for name, _, _ in truth[role]}
            self.assertEqual(names, {name for name, _, _ in told}, f"role {role} has only names that PyTorch has")

    def test_every_optimizer(self) -> None:
        cases = {
            "SGD(p, lr=0.1)": 0,
            "SGD(p, lr=0.1, momentum=0.9)": 1,
            "Adam(p)": 3,
            "Adam(p, amsgrad=True)": 4,
            "AdamW(p, foreach=True)": 3,
            "AdamW(p, foreach=False)": 3,
            "Adam(p, fused=True)": 3,
            "RMSprop(p, momentum=0.9, centered=True)": 4,
        }
        program = "import gc, sys"
        for case in cases:
            program += f"""
            try:
                model = Net()
                p = [parameter for parameter in model.parameters() if parameter.requires_grad]
                optimizer = torch.optim.{case}
                train(model, optimizer)
                tell_all(model, optimizers=[optimizer])
                print({json.dumps([6, case, 0, 0])!r})
            except RuntimeError as error:
                if "fused" not in str(error):  # no fused CPU kernels in this torch
                    raise
            model = optimizer = p = None
            gc.collect()
            """.replace("\n            ", "\n")
        done = harness.run_warm(program, ORACLE)
        self.assert_all_told(done)
        states = sum(cases[case] for case, _, _ in self.truth(done)[6])
        told = len(done.named("label", OPTIMIZER_STATE))
        self.assertTrue(states * 9 <= told <= 2 * states * 9, f"{told} labels: nothing else, and nothing in every step")

    def test_an_optimizer_whose_state_is_new_in_every_step(self) -> None:
        program = """
            model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
            optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, history_size=3)
            for _ in range(8):
                train(model, optimizer, 1)
                tell_all(model, optimizers=[optimizer], gradients=False)
        """
        self.assert_all_told(harness.run_warm(program, ORACLE), PARAMETER, OPTIMIZER_STATE)

    def test_parameters_have_one_name_and_their_own_identity(self) -> None:
        program = """
            model = Net()
            train(model, torch.optim.SGD(model.parameters(), lr=0.1))
            for name, parameter in model.named_parameters():
                print(json.dumps([1, name, parameter._cdata, 0]))
        """
        done = harness.run_warm(program, ORACLE)
        identities = {name: {tensor for _, _, tensor in labels} for name, labels in done.labels(PARAMETER).items()}
        self.assertEqual(identities, {name: {identity} for name, identity, _ in self.truth(done)[1]})
        self.assertNotIn("tied.weight", identities)

    def test_models_that_were_not_built_but_copied_loaded_or_wrapped(self) -> None:
        program = """
            import copy, io, pickle
            whole = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False)
            model = pickle.loads(pickle.dumps(copy.deepcopy(whole)))
            del whole
            optimizer = torch.optim.Adam(model.parameters())
            model(torch.randn(2, 3, 8)).sum().backward()
            optimizer.step()
            tell_all(model, optimizers=[optimizer])
        """
        self.assert_all_told(harness.run_warm(program, ORACLE))

    def test_models_that_follow_each_other_are_all_named(self) -> None:
        program = """
            import gc
            same_memory = torch.zeros(8, 4)
            for _ in range(3):
                model = Net()
                model.first.weight = nn.Parameter(same_memory)
                train(model, torch.optim.SGD(model.parameters(), lr=0.1))
                model = None
                gc.collect()
        """
        told = harness.run_warm(program, ORACLE).labels(PARAMETER)["first.weight"]
        self.assertEqual(len(told), 3)
        self.assertEqual(len({address for address, _, _ in told}), 1)

    def test_a_second_root_is_told_apart_when_names_collide(self) -> None:
        program = """
            class Generator(Net): pass
            class Discriminator(Net): pass
            g, d = Generator(), Discriminator()
            for model in (g, d):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                train(model, optimizer, 1)
            tell_all(g)
            tell_all(d, prefix="Discriminator.")
        """
        self.assert_all_told(harness.run_warm(program, ORACLE), PARAMETER, BUFFER)

    def test_tensors_without_a_module_are_named_by_their_place(self) -> None:
        program = """
            weights = [torch.randn(5, 5, requires_grad=True), torch.randn(7, requires_grad=True)]
            optimizer = torch.optim.Adam([{"params": weights[:1]}, {"params": weights[1:]}])
            for _ in range(2):
                sum(w.sum() for w in weights).backward()
                optimizer.step()
            for number, weight in enumerate(weights):
                name = f"param_groups[{number}].params[0]"
                tell(1, name, weight)
                for key, tensor in optimizer.state[weight].items():
                    tell(4, f"{key} of {name}", tensor)
        """
        self.assert_all_told(harness.run_warm(program, ORACLE), PARAMETER, OPTIMIZER_STATE)

    def test_storages_that_move_are_told_again(self) -> None:
        program = """
            import sys
            sys.modules["vramscope_core.pace"].SHARE = 1e9              # looks pay at once: how long one takes depends on the machine
            class Mean(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.weight = nn.Parameter(torch.ones(4))
                    self.register_buffer("mean", torch.zeros(4))
                def forward(self, x):
                    self.mean = self.mean * 0.9 + x.mean(0) * 0.1   # a new storage each time
                    return x * self.weight
            model = Mean()
            optimizer = torch.optim.Adam(model.parameters())
            train(model, optimizer, 8)
            model.double()                                          # new parameter storages behind every hook's back
            optimizer.state.clear()
            for _ in range(4):
                model(torch.randn(6, 4).double()).sum().backward()
                optimizer.step()
            tell_all(model, optimizers=[optimizer], gradients=False)
        """
        self.assert_all_told(harness.run_warm(program, ORACLE), PARAMETER, BUFFER, OPTIMIZER_STATE)

    def test_gradients_are_told_in_every_step_when_autograd_is_not_hooked(self) -> None:
        program = """
            model = nn.Linear(4, 4)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(20):
                keep = [torch.empty(step)]
                model(torch.randn(2, 4)).sum().backward()
                optimizer.step()
                tell(3, "weight", model.weight.grad)
                model.weight.grad = model.weight.grad.clone() * 0 if step % 2 else None
        """
        done = harness.run(program, ORACLE, environment={"VRAMSCOPE_STUB_REACHED": "1"})
        truth = self.truth(done)
        self.assertLessEqual(truth[GRADIENT], self.told(done, GRADIENT))
        self.assertEqual(len(done.labels(GRADIENT)["weight"]), 20)

    def test_copies_of_parameters_have_gradients_and_state_in_their_place_is_none(self) -> None:
        program = """
            def swap(optimizer, *_):                                    # as SAM does
                parameter.data = optimizer.state[parameter]["old"] = parameter.data.clone()
            model = nn.Linear(4, 4).bfloat16()
            parameter = model.weight.detach().float().requires_grad_()
            optimizer = torch.optim.SGD([parameter], lr=0.1)
            optimizer.register_step_pre_hook(swap)
            for step in range(12):
                model(torch.randn(2, 4).bfloat16()).sum().backward()
                parameter.grad = model.weight.grad.float()              # autograd does not see it
                optimizer.step()
        """
        done = harness.run_warm(program, ORACLE)
        self.assertEqual((done.exit_code, done.failures(), done.labels(OPTIMIZER_STATE)), (0, {}, {}))
        self.assertEqual(len(done.labels(GRADIENT)["param_groups[0].params[0]"]), 12)

    def test_inference_is_named_under_no_grad(self) -> None:
        for way in ("with torch.no_grad():", "with torch.inference_mode():"):
            with self.subTest(way):
                program = f"""
                    def main():
                        model = Net().eval()
                        {way}
                            model(torch.randn(2, 4))
                        tell_all(model)
                    main()
                """
                self.assert_all_told(harness.run_warm(program, ORACLE), PARAMETER, BUFFER)

    def test_a_decorated_function_counts_as_its_caller(self) -> None:
        program = """
            @torch.no_grad()
            def generate(model):
                return model(torch.randn(2, 4))
            model = Net().eval()
            generate(model)
            tell_all(model)
            import os, sys
            sys.stdout.flush()
            os._exit(0)                      # nothing can be named at the end
        """
        self.assert_all_told(harness.run_warm(program, ORACLE), PARAMETER, BUFFER)

    def test_what_lives_at_the_end_is_named_in_any_case(self) -> None:
        self.assert_all_told(harness.run_warm("model = Net()\nmodel(torch.randn(2, 4))\ntell_all(model)", ORACLE), PARAMETER, BUFFER)

    def test_batches(self) -> None:
        program = """
            from collections import UserDict, namedtuple
            from dataclasses import dataclass
            from torch.utils.data import DataLoader
            Pair = namedtuple("Pair", "source target")
            class Encoding(UserDict): pass
            @dataclass
            class Sample:
                image: torch.Tensor
                label: int
            def collate(kind):
                def make(items):
                    x = torch.stack(items)
                    return {"tuple": (x, [x + 1, 5]), "named": Pair(x, x + 1), "mapping": Encoding(input_ids=x, more={"mask": x + 1}),
                            "dataclass": Sample(x, 3), "tensor": x, "view": x[1:],
                            "sparse": {"odd": x.to_sparse(), "meta": x.to("meta"), "fine": x}}[kind]
                return make
            for kind in ("tuple", "named", "mapping", "dataclass", "tensor", "view", "sparse"):
                for batch in DataLoader([torch.randn(3) for _ in range(8)], batch_size=4, collate_fn=collate(kind)):
                    names = {"tuple": lambda b: {"batch[0]": b[0], "batch[1][0]": b[1][0]},
                             "named": lambda b: {"batch.source": b.source, "batch.target": b.target},
                             "mapping": lambda b: {"batch.input_ids": b["input_ids"], "batch.more.mask": b["more"]["mask"]},
                             "dataclass": lambda b: {"batch.image": b.image}, "tensor": lambda b: {"batch": b}, "view": lambda b: {"batch": b},
                             "sparse": lambda b: {"batch.fine": b["fine"]}}[kind](batch)
                    for name, tensor in names.items():
                        tell(5, name, tensor)
        """
        done = harness.run_warm(program, ORACLE)
        self.assert_all_told(done, INPUT)
        self.assertEqual([event.number[1] for event in done.named("mark", harness.MARK_BATCH_READY)], list(range(1, 15)))

    def test_state_of_a_compiled_optimizer_is_no_buffer(self) -> None:
        program = """
            import logging
            torch._logging.set_logs(all=logging.ERROR)
            model = nn.Linear(4, 4)
            optimizer = torch.optim.Adam(model.parameters())
            step = torch.compile(optimizer.step, backend="eager")
            for _ in range(4):
                model(torch.ones(2, 4)).sum().backward()
                step()
            for name, parameter in model.named_parameters():
                for key, tensor in optimizer.state[parameter].items():
                    tell(4, f"{key} of {name}", tensor)
        """
        done = harness.run_warm(program, ORACLE)
        self.assertLessEqual(set(self.truth(done)[OPTIMIZER_STATE]), self.told(done, OPTIMIZER_STATE))
        self.assertEqual(done.labels(BUFFER), {})

    def test_a_batch_that_an_iterator_around_the_loader_hands_out_later(self) -> None:
        """Accelerate's loaders read one batch ahead, and meanwhile move the one before to the device."""
        program = """
            from torch.utils.data import DataLoader
            def one_behind(loader):
                batch = other = None
                for ahead in loader:
                    if batch is not None:
                        tell(5, "batch.x", batch["x"])
                        yield batch
                    other = {"y": ahead["x"].clone()}
                    batch = {"x": ahead["x"].clone()}
            for batch in one_behind(DataLoader([{"x": torch.randn(3)} for _ in range(16)], batch_size=4)):
                pass
        """
        done = harness.run_warm(program, ORACLE)
        self.assert_all_told(done, INPUT)
        self.assertNotIn("batch.y", done.labels(INPUT))

    def test_batches_of_worker_processes(self) -> None:
        program = """
            from torch.utils.data import DataLoader, TensorDataset
            if __name__ == "__main__":
                for batch in DataLoader(TensorDataset(torch.randn(8, 3), torch.arange(8)), batch_size=4, num_workers=2):
                    tell(5, "batch[0]", batch[0])
                    tell(5, "batch[1]", batch[1])
        """
        self.assert_all_told(harness.run_warm(program, ORACLE), INPUT)

    def test_facts_about_the_process(self) -> None:
        done = harness.run("import torch, platform\nprint(torch.__version__, platform.python_version(), torch.version.git_version)")
        version, python, git = done.stdout.split()
        facts: List[Any] = [event.name for event in done.named("mark", harness.MARK_USER)]
        self.assertLessEqual({f"meta:torch.version={version}", f"meta:python={python}", f"meta:torch.git={git}"}, set(facts))


if __name__ == "__main__":
    unittest.main()
