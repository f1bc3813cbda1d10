# SPDX-License-Identifier: Apache-2.0
"""`vramscope try`: a change that is applied from outside gives the same history of allocations as the same change in the program's code.

The oracle is PyTorch's own allocator, on the simulated device: its record of each allocation, free and segment, with address and size. All of
it is compared, in order; only frees with no allocation between them are compared as a set. The reason: autocast drops its copies of the weights
in the order of a hash table of pointers, so even two runs of one program differ in that order (and in nothing else).

    VRAMSCOPE_TEST_EVERY=1 python3 try_test.py Histories        every change of every program
"""
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "simulated_cuda")]
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from device import DeviceTest, environment  # noqa: E402

SIZES = {
    "gpt": ["--layers", "2", "--dim", "64", "--batch", "4", "--steps", "3"],
    "resnet": ["--layers", "1", "--dim", "8", "--batch", "4", "--steps", "3"],
    "gan": ["--layers", "2", "--dim", "32", "--batch", "16", "--steps", "3"],
    "autoencoder_lbfgs": ["--layers", "2", "--dim", "32", "--batch", "16", "--steps", "2"],
    "mlp_small": ["--steps", "3"],
}


class Change(NamedTuple):
    flags: List[str]  # the change in code
    plan: Dict[str, Any]  # the same from outside
    base: List[str] = []  # flags of the program that is changed from outside


SAMPLES = {
    "bf16": Change(["--amp", "bf16"], {"amp": "bf16"}),
    "fp16": Change(["--amp", "fp16"], {"amp": "fp16"}),
    "checkpoint": Change(["--checkpoint"], {"checkpoint": ["all"]}),
    "checkpoint_by_name": Change(["--checkpoint"], {"checkpoint": ["*blocks.*", "hidden.*", "encoder.*", "decoder.*"]}),
    "bf16_and_checkpoint": Change(["--amp", "bf16", "--checkpoint"], {"amp": "bf16", "checkpoint": ["all"]}),
    "sgd": Change(["--optimizer", "sgd"], {"optimizer": "sgd"}),
    "momentum": Change(["--optimizer", "momentum"], {"optimizer": "momentum"}),
    "adam": Change(["--optimizer", "adam"], {"optimizer": "adam"}, ["--optimizer", "sgd"]),
    "adamw": Change(["--optimizer", "adamw"], {"optimizer": "adamw"}, ["--optimizer", "sgd"]),
    "fused": Change(["--optimizer-impl", "fused"], {"optimizer": "adamw", "implementation": "fused"}),
    "foreach": Change(["--optimizer-impl", "foreach"], {"optimizer": "adamw", "implementation": "foreach"}, ["--optimizer-impl", "fused"]),
    "loop": Change(["--optimizer-impl", "for-loop"], {"optimizer": "adamw", "implementation": "loop"}, ["--optimizer-impl", "fused"]),
    "fp16_and_fused": Change(["--amp", "fp16", "--optimizer-impl", "fused"], {"amp": "fp16", "optimizer": "adamw", "implementation": "fused"}),
    "batch": Change(["--workers", "1", "--batch", "8"], {"batch": {"factor": 0.5}}, ["--workers", "1", "--batch", "16"]),
    "accumulation": Change(["--workers", "1", "--batch", "8", "--accumulate", "2"], {"accumulate": 2}, ["--workers", "1", "--batch", "16", "--steps", "6"]),
    "fp16_and_accumulation": Change(["--workers", "1", "--batch", "8", "--accumulate", "2", "--amp", "fp16"], {"accumulate": 2, "amp": "fp16"},
                                    ["--workers", "1", "--batch", "16", "--steps", "6"]),
    "expandable": Change([], {"alloc_conf": "expandable_segments:True"}),
    "rounded": Change([], {"alloc_conf": "roundup_power2_divisions:4,max_split_size_mb:32"}),
    "bf16_and_accumulation": Change(["--amp", "bf16", "--accumulate", "2"], {"amp": "bf16"}, ["--accumulate", "2"]),
}
BARE = {
    "bf16": Change(["--amp", "bf16"], {"amp": "bf16"}),
    "fp16": Change(["--amp", "fp16"], {"amp": "fp16"}),
    "checkpoint": Change(["--checkpoint", "all"], {"checkpoint": ["all"]}),
    "every_second": Change(["--checkpoint", "every:2"], {"checkpoint": ["every:2"]}),
    "by_name": Change(["--checkpoint", "every:2"], {"checkpoint": ["trunk.0", "trunk.2"]}),
    "products_kept": Change(["--checkpoint", "all", "--keep-matrices"], {"checkpoint": ["all", "ops:mm+addmm"]}),
    "offload": Change(["--offload"], {"offload": "activations"}),
    "offload_with_others": Change(["--offload", "--checkpoint", "every:2", "--amp", "bf16"],
                                  {"offload": "activations", "checkpoint": ["every:2"], "amp": "bf16"}),
    "all_at_once": Change(["--amp", "fp16", "--checkpoint", "all", "--optimizer", "momentum", "--batch", "24"],
                          {"amp": "fp16", "checkpoint": ["all"], "optimizer": "momentum", "batch": {"size": 24}}),
    "adam": Change(["--optimizer", "adam"], {"optimizer": "adam"}),
    "adamw": Change([], {"optimizer": "adamw"}, ["--optimizer", "adam"]),
    "adafactor": Change(["--optimizer", "adafactor"], {"optimizer": "adafactor"}),
    "adamw8bit": Change(["--optimizer", "adamw8bit"], {"optimizer": "adamw8bit"}),
    "sampler": Change(["--batch", "32", "--sampler"], {"batch": {"factor": 2.0}}, ["--sampler"]),
    "zeros": Change(["--zero-grad-to-none", "no"], {"zero_grad_to_none": False}),
    "none": Change([], {"zero_grad_to_none": True}, ["--zero-grad-to-none", "no"]),
    "evaluation_with_gradients": Change(["--amp", "bf16"], {"amp": "bf16"}, ["--shape", "evaluates"]),
    "gradient_penalty": Change(["--amp", "bf16"], {"amp": "bf16"}, ["--shape", "penalty"]),
    "failing_forward": Change(["--amp", "bf16"], {"amp": "bf16"}, ["--shape", "raises"]),
    "offload_and_penalty": Change(["--offload"], {"offload": "activations"}, ["--shape", "penalty"]),
    "accumulation": Change(["--accumulate", "2", "--batch", "8", "--steps", "6"], {"accumulate": 2}, ["--steps", "6"]),
    "fp16_and_accumulation": Change(["--accumulate", "2", "--batch", "8", "--steps", "6", "--amp", "fp16"], {"accumulate": 2, "amp": "fp16"}, ["--steps", "6"]),
    "closure": Change(["--amp", "fp16"], {"amp": "fp16"}, ["--shape", "closure"]),
    "two_optimizers": Change(["--amp", "fp16"], {"amp": "fp16"}, ["--shape", "two"]),
    "idle_scaler": Change(["--amp", "fp16"], {"amp": "fp16"}, ["--idle-scaler"]),
    "idle_scaler_and_two_optimizers": Change(["--amp", "fp16"], {"amp": "fp16"}, ["--shape", "two", "--idle-scaler"]),
    "compiled": Change(["--amp", "bf16"], {"amp": "bf16"}, ["--shape", "compiled"]),
    "frozen": Change(["--freeze", "trunk.[01].*"], {"freeze": ["trunk.0", "trunk.[1]"]}),
    "frozen_with_two_optimizers": Change(["--freeze", "trunk.1.*"], {"freeze": ["trunk.1"]}, ["--shape", "two"]),
    "lora": Change(["--lora", "4"], {"lora": {"rank": 4, "modules": []}}),
    "lora_by_name": Change(["--lora", "4", "--lora-in", "*[02].wide"], {"lora": {"rank": 4, "modules": ["trunk.[02].wide"]}}),
    "lora_with_two_optimizers": Change(["--lora", "4", "--lora-in", "*"], {"lora": {"rank": 4, "modules": ["*"]}}, ["--shape", "two"]),
    "lora_in_groups": Change(["--lora", "4", "--groups"], {"lora": {"rank": 4, "modules": []}}, ["--groups"]),
    "lora_with_others": Change(["--lora", "4", "--freeze", "trunk.0.*", "--amp", "bf16", "--checkpoint", "all", "--optimizer", "momentum"],
                               {"lora": {"rank": 4, "modules": []}, "freeze": ["trunk.0"], "amp": "bf16", "checkpoint": ["all"], "optimizer": "momentum"}),
    "attention_math": Change(["--attention", "math"], {"attention": "math"}, ["--shape", "attends"]),
    "attention_efficient": Change(["--attention", "efficient", "--amp", "bf16"], {"attention": "efficient", "amp": "bf16"}, ["--shape", "attends"]),
    "attention_flash": Change(["--attention", "flash", "--amp", "fp16"], {"attention": "flash", "amp": "fp16"}, ["--shape", "attends"]),
    "loss_in_parts": Change(["--parts", "3"], {"cross_entropy": "chunked:3"}),
    "loss_in_parts_with_others": Change(["--parts", "2", "--checkpoint", "all", "--offload", "--batch", "24"],
                                        {"cross_entropy": "chunked:2", "checkpoint": ["all"], "offload": "activations", "batch": {"size": 24}}),
    "emptied_before_backward": Change(["--empty-cache", "before-backward", "--amp", "fp16"], {"empty_cache": "before-backward", "amp": "fp16"}),
    "emptied_before_optimizer": Change(["--empty-cache", "before-optimizer"], {"empty_cache": "before-optimizer"}, ["--shape", "two"]),
    "emptied_after_step": Change(["--empty-cache", "after-step"], {"empty_cache": "after-step"}, ["--shape", "two"]),
    "emptied_and_accumulation": Change(["--empty-cache", "after-step", "--accumulate", "2", "--batch", "8", "--steps", "6"],
                                       {"empty_cache": "after-step", "accumulate": 2}, ["--steps", "6"]),
}
# One change of each kind, each where it is hardest, half of them in each commit; the others with VRAMSCOPE_TEST_EVERY.
USUAL = {
    "gpt": ["bf16", "fp16", "checkpoint", "sgd", "loop", "batch", "accumulation", "expandable"], "resnet": ["bf16_and_checkpoint", "momentum"],
    "gan": ["fp16", "checkpoint_by_name", "fused"], "autoencoder_lbfgs": ["bf16_and_checkpoint"],
    "mlp_small": ["fp16_and_fused", "adamw", "rounded", "fp16_and_accumulation"],
    "bare": [name for name in BARE if name != "compiled"],  # compiling takes several seconds
}


class Refusal(NamedTuple):
    program: str
    flags: List[str]
    plan: Dict[str, Any]
    why: str  # part of the message; "" = no message, because there was nothing to change


# A change that cannot be applied leaves the program as it is.
REFUSALS = {
    "autocast of its own": Refusal("bare", ["--amp", "bf16"], {"amp": "fp16"}, "enters autocast itself"),
    "batches by hand": Refusal("gpt", SIZES["gpt"], {"batch": {"factor": 2.0}}, ""),
    "accumulation of batches by hand": Refusal("gpt", SIZES["gpt"], {"accumulate": 2}, ""),
    "no such module": Refusal("gpt", SIZES["gpt"], {"checkpoint": ["layers.*"]}, "Gpt has no module layers.*; it has the blocks blocks.0 to blocks.1"),
    "a sampler of its own": Refusal("bare", ["--sampler", "--own"], {"batch": {"factor": 2.0}}, "bare.Pairs makes the batches at bare.py:"),
    "an optimizer that it cannot have": Refusal("bare", ["--own"], {"optimizer": "sgd"}, "SGD cannot be created with these parameters"),
    "an optimizer of a package that is not installed": Refusal("bare", ["--without", "bitsandbytes"], {"optimizer": "adamw8bit"},
                                                               "has no package bitsandbytes, which contains AdamW8bit"),
    "nothing to freeze": Refusal("bare", [], {"freeze": ["layers.*"]}, "Model has no trained parameter in layers.*; its modules are trunk, head"),
    "nothing left to train": Refusal("bare", [], {"freeze": ["*"]}, "no parameter of Model would be trained"),
    "a star is one name": Refusal("bare", [], {"lora": {"rank": 4, "modules": ["*.wide"]}}, "Model has no linear layer with a weight of its own in *.wide"),
    "no layer for LoRA": Refusal("bare", [], {"lora": {"rank": 4, "modules": ["layers"]}}, "Model has no linear layer with a weight of its own in layers"),
    "a loss that is no cross-entropy": Refusal("bare", ["--shape", "looks"], {"cross_entropy": "chunked:2"},
                                               "square at bare.py:125 uses the output of the last layer"),
    "a loss in parts beside autocast": Refusal("bare", ["--amp", "bf16"], {"cross_entropy": "chunked:2"}, "must be chosen in code"),
    "flash attention in float32": Refusal("bare", ["--shape", "attends"], {"attention": "flash"}, "flash attention does not support the call at bare.py:"),
}


# L-BFGS cannot be used with loss scaling, and cannot be exchanged. Accumulation for two networks needs two loops in code, one after the other.
IMPOSSIBLE = {
    "autoencoder_lbfgs": [name for name in SAMPLES if name not in ("bf16", "checkpoint", "checkpoint_by_name", "bf16_and_checkpoint", "batch",
                                                                   "expandable", "rounded")],
    "gan": ["accumulation", "fp16_and_accumulation"],
}


def chosen() -> List[Tuple[str, str, Change]]:
    """(program, name of the change, the change)"""
    found = []
    left_out = [] if recorded_run.has_package(recorded_run.python(), "bitsandbytes") else ["adamw8bit"]
    for program in [*SIZES, "bare"]:
        usual = drawn.chosen(USUAL[program], 3)
        for name, change in (BARE if program == "bare" else SAMPLES).items():
            if (drawn.EVERY or name in usual) and name not in IMPOSSIBLE.get(program, left_out):
                found.append((program, name, change))
    print(f"{len(found)} changes have their turn; VRAMSCOPE_TEST_DRAW={drawn.turn()} repeats it", file=sys.stderr)
    return found


def settled(history: List[List[Any]]) -> List[List[Any]]:
    """The history with frees between two allocations sorted by address. On one stream, the request for a free comes with the free."""
    result: List[List[Any]] = []
    frees: List[List[Any]] = []
    for event in history:
        if event[0] == "free_requested":
            continue
        if event[0] == "free_completed":
            frees.append(event)
            continue
        result += sorted(frees) + [event]
        frees = []
    return result + sorted(frees)


class Histories(DeviceTest):
    def cases(self, python: str, cases: List[Dict[str, Any]]) -> Dict[str, Any]:
        output = self.folder / "histories.json"
        done = recorded_run.run([python, str(HERE / "histories.py"), str(output)], env=environment(python, "a100-40gb"), timeout=900,
                                stdin=self.file_with(json.dumps(cases)))
        self.assertEqual(done.code, 0, done.stderr.decode())
        return json.loads(output.read_text(encoding="utf-8"))

    def file_with(self, text: str) -> Any:
        path = self.folder / "cases.json"
        path.write_text(text, encoding="utf-8")
        file = open(path, "rb")
        self.addCleanup(file.close)
        return file

    def test_a_change_from_outside_gives_the_history_of_the_change_in_code(self) -> None:
        changes = chosen()
        cases: Dict[str, Any] = {}
        unchanged = {}
        for program, name, change in changes:
            shape = change.base if "--shape" in change.base else []
            flags = SIZES.get(program, []) + change.base
            unchanged[program, name] = " ".join([program, *flags])
            for case in ({"name": f"{program} {name} in code", "flags": SIZES.get(program, []) + shape + change.flags, "plan": None,
                          "settings": change.plan.get("alloc_conf", "")},
                         {"name": f"{program} {name}", "flags": flags, "plan": change.plan},
                         {"name": unchanged[program, name], "flags": flags, "plan": None}):
                cases[str(case["name"])] = {"program": program, **case}
        for name, refusal in REFUSALS.items():
            cases[name] = {"name": name, "program": refusal.program, "flags": refusal.flags, "plan": refusal.plan}
            same = " ".join([refusal.program, *refusal.flags])
            cases[same] = {"name": same, "program": refusal.program, "flags": refusal.flags, "plan": None}
        results = self.cases(recorded_run.python(), list(cases.values()))
        for result in results.values():
            self.assertNotIn("failed", result, result.get("failed"))
        for program, name, change in changes:
            with self.subTest(program=program, change=name):
                case = f"{program} {name}"
                self.assertEqual({note["state"] for note in results[case]["notes"]}, {"applied"})
                self.assertLessEqual({_lever(key) for key in change.plan}, {note["lever"] for note in results[case]["notes"]})
                self.assert_same(settled(results[case + " in code"]["history"]), settled(results[case]["history"]))
                self.assertNotEqual(settled(results[unchanged[program, name]]["history"]), settled(results[case]["history"]), "nothing was changed")

        for name, refusal in REFUSALS.items():
            with self.subTest(refusal=name):
                notes = results[name]["notes"]
                self.assertNotIn("applied", [note["state"] for note in notes])
                self.assertEqual(bool(notes), bool(refusal.why))
                self.assertTrue(all(refusal.why in note["text"] for note in notes), notes)
                self.assert_same(settled(results[" ".join([refusal.program, *refusal.flags])]["history"]), settled(results[name]["history"]))

    def test_accumulation_for_networks_that_are_trained_in_turns_is_told_to_be_another_one(self) -> None:
        programs = {"gan": [*SIZES["gan"], "--workers", "1"], "bare": ["--shape", "two"]}
        cases = [{"name": program, "program": program, "flags": flags, "plan": {"accumulate": 2}} for program, flags in programs.items()]
        results = self.cases(recorded_run.python(), cases)
        told = {program: [note["text"] for note in result["notes"] if note["state"] == "refused"] for program, result in results.items()}
        self.assertEqual(len(told["gan"]), 1, results["gan"])
        self.assertIn("use two loops, one after the other", told["gan"][0])
        self.assertEqual(told["bare"], [], "two optimizers that step together")

    def assert_same(self, in_code: List[List[Any]], outside: List[List[Any]]) -> None:
        self.assertGreater(len(in_code), 100)
        for position, (one, other) in enumerate(zip(in_code, outside)):
            if one != other:
                self.fail(f"event {position} of {len(in_code)} and {len(outside)}:\n{in_code[position - 3:position + 3]}\n{outside[position - 3:position + 3]}")
        self.assertEqual(len(in_code), len(outside))


@drawn.share(2)
class Command(DeviceTest):
    """The command itself, on the sample with the largest model."""

    GPT = [str(recorded_run.SAMPLES / "gpt.py"), "--device", "cuda", "--steps", "3", "--layers", "2", "--dim", "64"]
    SETTINGS = "max_split_size_mb:64,roundup_power2_divisions:4"

    def run_try(self, *options: str, command: List[str], **environment: str) -> recorded_run.Finished:
        arguments = [recorded_run.vramscope(), "try", "--dry", "--gpu", "a100-40gb", *options, "--", *command]
        return recorded_run.run(arguments, env=recorded_run.clean_environment(**environment), timeout=600)

    def allocations(self, trace: Path) -> List[List[Any]]:
        """Events of the caching allocator: kind, address, bytes, device."""
        found = [[event.type, *map(int, event.fields[:3])] for event in recorded_run.events(trace, "alloc", "free")]
        return settled([["free_completed", *rest] if kind == "free" else [kind, *rest] for kind, *rest in found if rest[2] >= 256])

    def test_measures_before_and_after_and_the_change_is_the_one_in_code(self) -> None:
        python = recorded_run.python()
        options = ["--amp", "bf16", "--checkpoint", "blocks.*", "--optimizer", "adamw:fused", "--alloc-conf", self.SETTINGS]
        done = self.run_try(*options, "--steps", "all", "--keep", str(self.folder), "--json", command=[python, *self.GPT])
        self.assertEqual(done.code, 0, done.stderr.decode())
        answer = json.loads(done.stdout)
        self.assertEqual([fact["option"] for fact in answer["applied"]], ["amp", "checkpoint", "optimizer", "alloc-conf"])
        self.assertEqual(answer["not_applied"], [])
        self.assertEqual(done.stderr.count(b"loss"), 3, "the program's own output, once")
        self.assertLess(answer["after"]["peak"]["allocated_bytes"], answer["before"]["peak"]["allocated_bytes"])

        trace = self.folder / "in-code.vms"
        flags = ["--amp", "bf16", "--checkpoint", "--optimizer-impl", "fused"]
        in_code = [recorded_run.vramscope(), "dryrun", "--gpu", "a100-40gb", "--depth", "light", "--steps", "all", "-o", str(trace), "--json", "--",
                   python, *self.GPT, *flags]
        done = recorded_run.run(in_code, env=recorded_run.clean_environment(PYTORCH_CUDA_ALLOC_CONF=self.SETTINGS, PYTORCH_ALLOC_CONF=self.SETTINGS),
                                timeout=600)
        self.assertEqual(done.code, 0, done.stderr.decode())
        expected = self.allocations(trace)
        self.assertGreater(len(expected), 500)
        self.assertEqual(expected, self.allocations(self.folder / "after.vms"))
        self.assertNotEqual(expected, self.allocations(self.folder / "before.vms"))
        peak = json.loads(done.stdout)["peak"]
        for key in ("allocated_bytes", "reserved_bytes", "reserved_peak_bytes", "device_used_bytes"):
            self.assertEqual(answer["after"]["peak"][key], peak[key], key)

        again = self.run_try("--batch", "2x", "--accumulate", "4", "--checkpoint", "nothing", "--before", str(self.folder / "before.vms"),
                             command=[python, *self.GPT, "--batch", "8"])
        self.assertEqual(again.code, 3, "nothing of it could be applied")
        text = again.stdout.decode()
        for part in ("without a DataLoader", "--batch 16", "batch.chunk(4)", "has no module nothing; it has the blocks blocks.0 to blocks.1", "no change"):
            self.assertIn(part, text)

    def test_says_what_is_wrong_in_one_sentence(self) -> None:
        for options, sentence in {
            (): b"needs a change",
            ("--amp", "bf17"): b"bf16 or fp16",
            ("--amp", "bf16", "--alloc-conf", "max_split:3"): b"--alloc-conf",
            ("--amp", "bf16", "--steps", "0"): b"a number from 1",
        }.items():
            done = self.run_try(*options, command=[recorded_run.python(), "x.py"])
            self.assertEqual((done.code, done.stderr.count(b"\n")), (2, 1), (options, done.stderr))
            self.assertIn(sentence, done.stderr)

    def test_a_program_that_fails_ends_as_it_always_does(self) -> None:
        done = self.run_try("--amp", "bf16", command=[recorded_run.python(), "-c", "import torch; torch.ones(1).cuda(); print('words'); raise SystemExit(7)"])
        self.assertEqual(done.code, 7)
        self.assertIn(b"words", done.stderr)


def _lever(key: str) -> str:
    return {"zero_grad_to_none": "zero-grad-to-none", "implementation": "optimizer", "alloc_conf": "alloc-conf", "empty_cache": "empty-cache",
            "cross_entropy": "cross-entropy"}.get(key, key)


if __name__ == "__main__":
    recorded_run.main()
