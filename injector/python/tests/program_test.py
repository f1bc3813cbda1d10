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
import drawn
from harness import TORCH_PYTHON, needs_torch
from noted_programs import FAILING, MODELS, PROGRAMS

RUNNER = os.path.join(harness.SHIM, "vramscope_program")


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


@drawn.share(4)
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
        self.assertIn("not applied: freeze: Net has no trained parameter", refused.stderr)

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
        self.assertIn("not applied: checkpoint: the model's own gradient_checkpointing_enable() may change more than its checkpoints", refused)

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
