#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Noting a step as a program, and running it again. Oracles: the same program without us (what it prints), and the program's own memory."""

import json
import os
import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional

import harness
from harness import TORCH_PYTHON, needs_torch

RUNNER = os.path.join(harness.SHIM, "vramscope_program")

MODELS = textwrap.dedent("""
    import functools, gc, os, sys
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm, self.qkv, self.out, self.drop = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Dropout(0.1)
            self.chosen = functools.partial(F.softmax, dim=-1, dtype=torch.float32)
        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (each.view(b, t, 2, c // 2).transpose(1, 2) for each in self.qkv(self.norm(x)).split(c, dim=2))
            scores = (q @ k.transpose(-2, -1)) / (c // 2) ** 0.5
            mask = torch.full((t, t), torch.finfo(scores.dtype).min, dtype=scores.dtype).triu(1)
            dtype = x.dtype
            scores = (self.chosen(scores + mask).to(torch.float32) * 2).to(dtype)
            return x + self.out((self.drop(scores) @ v).transpose(1, 2).reshape(b, t, c))

    class Net(nn.Module):
        def __init__(self, width=16, checkpointed=False):
            super().__init__()
            self.table, self.places = nn.Embedding(32, width), nn.Embedding(64, width)
            self.blocks, self.head = nn.ModuleList(Block(width) for _ in range(2)), nn.Linear(width, 32, bias=False)
            self.head.weight, self.checkpointed = self.table.weight, checkpointed
        def forward(self, ids):
            x = self.table(ids) + self.places(torch.arange(ids.size(1)))
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
            return self.head(x)

    def batch():
        return torch.randint(32, (4, 8)), torch.randint(32, (4, 8))

    def loss_of(net, ids, labels):
        logits = net(ids)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))

    def train(net, optimizer, steps=8, say=print):
        for _ in range(steps):
            ids, labels = batch()
            loss = loss_of(net, ids, labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            say(loss.item().hex())

    torch.manual_seed(0)
""")
PROGRAMS = {
    "plain": """
        net = Net()
        train(net, torch.optim.AdamW(net.parameters(), lr=1e-2))
    """,
    "checkpointed": """
        net = Net(checkpointed=True)
        train(net, torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9))
    """,
    **{name: f"""
        class Switched(Net):
            supports_gradient_checkpointing = True
            def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs):
                self.config["cache"], self.checkpointed = False, True
                {what}
        net = Switched()
        net.config = {{"cache": True}}
        train(net, torch.optim.SGD(net.parameters(), lr=1e-2))
        assert net.config["cache"] and not net.checkpointed and not net.table._forward_hooks, "the program's own model was switched"
    """ for name, what in (("switched", "self.table.register_forward_hook(lambda module, args, result: result.requires_grad_(True))"),
                           ("switched_alone", "pass"),
                           ("switched_in_part", "self.blocks[1].checkpoints_itself = True"),
                           ("switched_otherwise", "self.table.register_forward_hook(lambda module, args, result: result * 2)"))},
    "autocast": """
        net = Net()
        optimizer = torch.optim.Adam(net.parameters())
        for _ in range(8):
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(net, *batch())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            print(loss.item().hex())
    """,
    "scaler_switched_off": """
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
        scaler = torch.amp.GradScaler("cpu", enabled=False)
        for _ in range(8):
            scaled = scaler.scale(loss_of(net, *batch()))
            scaled.backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            print(scaled.item().hex())
    """,
    "accumulated": """
        net = Net()
        optimizer = torch.optim.AdamW([{"params": net.blocks.parameters()}, {"params": [*net.table.parameters(), *net.places.parameters()], "lr": 1e-4}])
        kept = []
        for _ in range(8):
            for _ in range(2):
                loss = loss_of(net, *batch()) / 2
                loss.backward()
            with torch.no_grad():
                kept.append(loss.detach() * 2)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
            print(kept[-1].item().hex())
    """,
    "loader": """
        from torch.utils.data import DataLoader, TensorDataset
        net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 3))
        optimizer = torch.optim.RMSprop(net.parameters())
        for images, labels in DataLoader(TensorDataset(torch.randn(32, 1, 8, 8), torch.randint(3, (32,))), batch_size=4):
            loss = nn.CrossEntropyLoss()(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    """,
    "attention": """
        from torch.nn.attention import SDPBackend, sdpa_kernel
        class Reader(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv = nn.Linear(8, 24)
            def forward(self, x):
                with sdpa_kernel(SDPBackend.MATH):
                    return F.scaled_dot_product_attention(*self.qkv(x).chunk(3, -1)).mean()
        net = Reader()
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
        for _ in range(8):
            loss = net(torch.randn(2, 4, 8))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    """,
    "recurrent": """
        class Reader(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.head = nn.LSTM(8, 8, num_layers=2, batch_first=True), nn.Linear(8, 1)
            def forward(self, x, state):
                x, state = self.lstm(x, state)
                return self.head(x[:, -1]), state
        net, state = Reader(), None
        optimizer = torch.optim.AdamW(net.parameters())
        for _ in range(8):
            result, state = net(torch.randn(4, 5, 8), state)
            state = tuple(each.detach() for each in state)
            loss = result.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    """,
}
# Each function of ours raises, in turn, while a step is noted.
FAILING = """
    import json
    from vramscope_shim import torch_hook
    from vramscope_program.noting import document, listener, names, sizes, step, trees, values

    program = torch_hook._recorder._program
    text = os.environ["VRAMSCOPE_PROGRAM_TO"]
    before = nn.Module.__call__, torch.autograd.Function.apply, torch.autograd.backward

    net = Net(checkpointed=True)
    optimizer, start = torch.optim.AdamW(net.parameters()), {name: tensor.clone() for name, tensor in net.state_dict().items()}

    def noted(plant):
        torch.manual_seed(1)
        net.load_state_dict(start)
        optimizer.state.clear()
        said = []
        program._noted, program._why, program._deep_seen = 0, [], True
        open(text, "w").write("{}")
        plant()
        train(net, optimizer, steps=4, say=said.append)
        return said

    normal = noted(lambda: None)
    print("noted", "body" in json.load(open(text)))
    for owner in (step.Step, names.Names, trees.Trees, values.Values, listener.Listener, document):
        for name, kept in list(vars(owner).items()):
            if not callable(kept) or isinstance(kept, type) or name in ("leave", "mode_is_out") or name.startswith("__") and name != "__init__":
                continue
            if owner is document and kept.__module__ != document.__name__:
                continue
            reached = []
            def failing(*args, **named):
                reached.append(name)
                raise ZeroDivisionError(name)
            got = noted(lambda: setattr(owner, name, failing))
            setattr(owner, name, kept)
            found = json.load(open(text))
            if got != normal:
                print("harmed by", owner.__name__, name)
            if reached and ("body" in found or "ZeroDivisionError" not in str(found.get("missing"))):
                print("not told:", owner.__name__, name, str(found)[:200])
            if (nn.Module.__call__, torch.autograd.Function.apply, torch.autograd.backward) != before or torch._C._len_torch_function_stack():
                print("left behind:", owner.__name__, name)
"""


def instructions(body: List[Any]) -> Iterator[List[Any]]:
    for each in body:
        yield each
        if each[0] in ("M", "k"):
            yield from instructions(each[-1])


class Ended(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


def run_warm(program: str, before: str = "", recorded: bool = False, changes: Optional[Dict[str, str]] = None) -> Ended:
    done = harness.run_warm(program, before, recorded, {"VRAMSCOPE_STUB_DEEP": "2-4"}, changes=changes)
    assert not done.failures(), done.failures()
    return Ended(*done[:3])


@needs_torch
class ProgramTest(unittest.TestCase):
    documents: Dict[str, Dict[str, Any]]
    folder: tempfile.TemporaryDirectory  # type: ignore[type-arg]

    @classmethod
    def setUpClass(cls) -> None:
        cls.documents = {}
        cls.folder = tempfile.TemporaryDirectory()
        for name, program in PROGRAMS.items():
            noted = run_warm(program, MODELS, True, {"VRAMSCOPE_PROGRAM_TO": cls.path(name)})
            assert noted == run_warm(program, MODELS), noted
            assert noted.exit_code == 0, noted
            with open(cls.path(name), encoding="utf-8") as file:
                cls.documents[name] = json.load(file)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    @classmethod
    def path(cls, name: str) -> str:
        return os.path.join(cls.folder.name, name + ".json")

    def run_again(self, *runs: Any) -> List[Ended]:
        """Each is a program's name, options, and environment settings."""
        return [run_warm(self.again(name, options), changes=environment) for name, options, environment in runs]

    def again(self, name: str, options: Iterable[str] = ()) -> str:
        """Code that runs this program's document again."""
        words = [os.path.join(RUNNER, "__main__.py"), self.path(name), *options]
        return f"import runpy, sys\nsys.path.insert(0, {RUNNER!r})\nsys.argv = {words!r}\nrunpy.run_path(sys.argv[0], run_name='__main__')"

    def test_a_step_after_the_deep_ones_is_noted_whole(self) -> None:
        for name, document in self.documents.items():
            self.assertEqual((document["version"], document["missing"], document["step"], document["device"]), (1, [], 6, 0), name)
        self.assertEqual(self.documents["plain"]["optimizers"], ["AdamW"])
        self.assertEqual([(each["shape"], each["dtype"]) for each in self.documents["plain"]["inputs"]], [([4, 8], "int64")] * 2)
        self.assertEqual([each["shape"] for each in self.documents["loader"]["inputs"] if each["used"]], [[4, 1, 8, 8], [4]])

    def test_every_program_runs_again(self) -> None:
        done = self.run_again(*((name, [], {}) for name in PROGRAMS))
        self.assertEqual(done, [Ended(0, "", "")] * len(PROGRAMS))

    def test_sizes_and_types_follow_the_inputs(self) -> None:
        options = ["--batch", "2x", "--sequence", "1.5x", "--precision", "bf16"]
        self.assertEqual(self.run_again(*((name, options, {}) for name in ("plain", "checkpointed", "autocast"))), [Ended(0, "", "")] * 3)

    def test_types_that_the_program_chose_stay(self) -> None:
        document = self.documents["plain"]
        calls = [(document["functions"][each[1]], each[2], each[3]) for each in instructions(document["body"]) if each[0] == "c"]
        self.assertEqual({named["dtype"] for name, _, named in calls if name.endswith(".softmax")}, {"~float32"}, "of a partial function")
        types = [args[1] for name, args, _ in calls if name == "Tensor.to"]
        self.assertIn("~float32", types)
        if tuple(map(int, document["python"].split(".")[:2])) >= (3, 11):  # older Pythons only report the line
            self.assertEqual([kind[0] for kind in types if kind != "~float32"], ["~", "~"], "the outer call of the same line")

    def test_the_kernel_of_attention_is_chosen_again(self) -> None:
        kinds = [each[:1] + each[2:] for each in instructions(self.documents["attention"]["body"]) if each[0] in "ex" or "scaled_dot_product" in str(each)]
        self.assertIn(["e", "attention", ["MATH"]], kinds)

    def test_what_pytorch_refuses_is_the_answer(self) -> None:
        done = subprocess.run([TORCH_PYTHON, RUNNER, self.path("plain"), "--sequence", "65"], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 1)
        self.assertIn("IndexError: index out of range in self (in places at program.py:", done.stderr.splitlines()[-1])

    def test_changes_are_those_of_try(self) -> None:
        with tempfile.TemporaryDirectory() as notes:
            plans = ({"checkpoint": ["all"], "optimizer": "sgd", "accumulate": 2, "freeze": ["blocks.0"]}, {"freeze": ["nothing.of.this"]})
            applied, refused = self.run_again(*(("plain", [], {"VRAMSCOPE_TRY": json.dumps({**plan, "notes": notes})}) for plan in plans))
        self.assertEqual((applied.exit_code, applied.stderr), (0, ""))
        self.assertEqual(refused.exit_code, 3)
        self.assertIn("not applied: freeze: no parameter of Net", refused.stderr)

    def test_a_checkpoint_may_end_its_recomputation_inside_lora(self) -> None:
        """The last tensor that a block of Net saves is the input of a LoRA matrix. PyTorch stops the recomputation there, with an exception."""
        with tempfile.TemporaryDirectory() as notes:
            plan = json.dumps({"checkpoint": ["all"], "lora": {"rank": 4, "modules": ["blocks"]}, "notes": notes})
            told = f"""
                import sys
                sys.path.insert(0, {harness.SHIM!r})
                from vramscope_core import guard
                guard.tell_through(lambda where, reason: print(where, reason))
            """
            done = run_warm(textwrap.dedent(told) + self.again("plain", ["--quantize", "nf4:blocks"]), changes={"VRAMSCOPE_TRY": plan})
        self.assertEqual(done, Ended(0, "", ""))

    def test_checkpoints_of_a_model_with_its_own_switch_make_its_embeddings_require_gradients(self) -> None:
        found = {name: self.documents[name]["checkpoint_leaves"] for name in ("switched", "switched_alone", "switched_otherwise", "plain")}
        self.assertEqual(found, {"switched": ["table"], "switched_alone": [], "switched_otherwise": None, "plain": []})
        watch = """
            import torch
            torch.nn.modules.module.register_module_forward_hook(
                lambda module, _, result: print(module.num_embeddings, result.requires_grad) if type(module) is torch.nn.Embedding else None)
        """
        made, refused = {}, ""
        for name in ("switched", "plain", "switched_otherwise"):
            with tempfile.TemporaryDirectory() as notes:
                plan = json.dumps({"checkpoint": ["all"], "freeze": ["table", "places"], "notes": notes})
                done = run_warm(textwrap.dedent(watch) + self.again(name), changes={"VRAMSCOPE_TRY": plan})
            made[name], refused = set(done.stdout.splitlines()), done.stderr
        self.assertEqual([made["switched"], made["plain"]], [{"32 True", "64 False"}, {"32 False", "64 False"}])
        self.assertIn("not applied: checkpoint: it is not known what the model's own switch for checkpoints changes besides", refused)

    def test_checkpoint_all_means_what_the_model_s_own_switch_checkpoints(self) -> None:
        self.assertEqual({name: self.documents[name]["checkpointed"] for name in ("switched_in_part", "switched", "plain")},
                         {"switched_in_part": ["blocks.1"], "switched": [], "plain": []})
        with tempfile.TemporaryDirectory() as notes:
            plan = json.dumps({"checkpoint": ["all"], "notes": notes})
            self.assertEqual(self.run_again(("switched_in_part", [], {"VRAMSCOPE_TRY": plan})), [Ended(0, "", "")])
            facts = [fact["text"] for name in os.listdir(notes) for fact in json.loads(Path(notes, name).read_text())]
        self.assertIn("blocks.1 of Switched", facts)

    def test_a_scaler_that_is_switched_off_is_switched_on_for_float16(self) -> None:
        noted = [each[1] for each in instructions(self.documents["scaler_switched_off"]["body"]) if each[0] == "g"]
        self.assertEqual(noted, ["update", "scale", "unscale_", "step"])
        with tempfile.TemporaryDirectory() as notes:
            plan = json.dumps({"amp": "fp16", "notes": notes})
            self.assertEqual(self.run_again(("scaler_switched_off", [], {"VRAMSCOPE_TRY": plan})), [Ended(0, "", "")])
            facts = [fact["text"] for name in os.listdir(notes) for fact in json.loads(Path(notes, name).read_text())]
        self.assertIn("the program's GradScaler switched on", facts)

    def test_names_die_where_they_died(self) -> None:
        """Even names of tensors that autograd saves: q, k and v of a block live until its forward returns; the scores before the mask do not."""
        (_, _, _, _, body) = next(each for each in instructions(self.documents["plain"]["body"]) if each[0] == "M" and each[1] == "blocks.0")
        functions = self.documents["plain"]["functions"]
        made = {}
        died = {}
        for place, each in enumerate(body):
            if each[0] == "c":
                made.setdefault(functions[each[1]].rpartition(".")[2], []).append(each[4])
            elif each[0] == "d":
                died.update({name: place for name in each[1:]})
        between = [each[0] for each in body[place_of(body, made["div"][0]) + 1:died[made["matmul"][0]]]]
        self.assertLessEqual(set(between), {"t", "s"}, "nothing is computed while the scores still live")
        self.assertTrue({name for name in made["transpose"][:3]} <= set(body[-1][1:]), body[-1])

    def test_the_loss_of_the_last_step_dies_in_this_one(self) -> None:
        last = [name for each in instructions(self.documents["plain"]["body"]) if each[0] == "d" for name in each[1:] if name.startswith("%p")]
        self.assertTrue(last)

    def test_what_the_program_lets_go_of_is_freed(self) -> None:
        program = """
            import gc, weakref
            for _ in range(6):
                net = Net()
                optimizer = torch.optim.AdamW(net.parameters())
                train(net, optimizer, steps=2, say=lambda _: None)
                gone = [weakref.ref(each) for each in (net, optimizer, next(net.parameters()))]
                net = optimizer = None
                gc.collect()
                print([each() is None for each in gone])
        """
        done = harness.run(MODELS + textwrap.dedent(program), environment={"VRAMSCOPE_STUB_DEEP": "2-3"})
        self.assertEqual((done.exit_code, done.stderr, done.failures()), (0, "", {}))
        self.assertEqual(done.stdout.splitlines(), ["[True, True, True]"] * 6, "while a step is noted, and after")

    def test_a_layer_with_a_forward_of_its_own_keeps_no_names_alive(self) -> None:
        """A quantized layer does not run its noted body. In a checkpoint that is recomputed, the names around it must die with the recomputation."""
        program = f"""
            import sys, weakref, torch
            sys.path.insert(0, {harness.SHIM!r})
            from vramscope_program.decode import Decoder
            from vramscope_program.interpreter import Interpreter
            class Names(dict):
                pass
            document = {{"places": [], "functions": [], "device_type": "cpu", "body": [["M", "layer", ["%0"], ["%1"], []]]}}
            run = Interpreter(document, Decoder("cpu", torch.device("cpu"), None, None), lambda path: lambda x, noted_call: x + 1, [], None)
            run.names = Names({{"%0": torch.ones(2)}})
            alive = weakref.ref(run.names)
            run.step()
            print(run.names["%1"].tolist())
            run.names = None
            print(alive())
        """
        self.assertEqual(run_warm(program), Ended(0, "[2.0, 2.0]\nNone\n", ""))

    def test_nothing_is_noted_where_it_is_off(self) -> None:
        done = harness.run(MODELS + textwrap.dedent(PROGRAMS["plain"]), environment={"VRAMSCOPE_PROGRAM_TO": self.path("off"), "VRAMSCOPE_PROGRAM": "off"})
        self.assertEqual((done.exit_code, os.path.exists(self.path("off"))), (0, False))

    def test_nothing_that_fails_in_it_reaches_the_program(self) -> None:
        path = os.path.join(self.folder.name, "failing.json")
        done = harness.run(MODELS + textwrap.dedent(FAILING), environment={"VRAMSCOPE_PROGRAM_TO": path})
        self.assertEqual((done.exit_code, done.stdout, done.stderr), (0, "noted True\n", ""))


def place_of(body: List[Any], name: str) -> int:
    return next(place for place, each in enumerate(body) if each[0] == "c" and each[4] == name)


if __name__ == "__main__":
    unittest.main()
