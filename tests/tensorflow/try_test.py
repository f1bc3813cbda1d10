#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope try` on Keras programs. The oracle is the same change, written in the program's code as a user would write it (keras_models.py): the dry
runs of both must have the same peak of allocated memory, within the noise of two runs of one program (docs/tensorflow.md#changes). The change itself is
larger than that.

Needs VRAMSCOPE_TENSORFLOW_PYTHON, a Python that has TensorFlow. try_accuracy.py measures more models and changes."""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from recorded_run import RecordingTest  # noqa: E402

PYTHON = os.environ.get("VRAMSCOPE_TENSORFLOW_PYTHON", "")
PROGRAM = str(Path(__file__).resolve().parent / "keras_models.py")
GPU = ["--gpu", "h100-80gb", "--xla", "off"]
TWO_GPUS = ["--gpu", "h100-80gb:2"]  # Keras does not compile with XLA for a MirroredStrategy
CANNOT_JUDGE = 3
REST = 1e-4  # of requested bytes: a transformer's peaks may be 4 to 16 KiB apart
LARGE = 0.05  # the least effect of a change, of requested bytes
# The environment that `try` gives to both of its runs.
ORDER = {"PYTHONHASHSEED": "0", "TF_NUM_INTEROP_THREADS": "1"}


@drawn.share(12)
@unittest.skipUnless(PYTHON, "set VRAMSCOPE_TENSORFLOW_PYTHON to a Python that has TensorFlow")
class KerasTryTest(RecordingTest):
    before: str  # a trace of the unchanged mlp, for tests that need no figures of it

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.before = str(Path(folder.name) / "before.vms")
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", *GPU, "-o", cls.before, "--", *program_of("mlp", [])])
        assert done.code == 0, done.stderr.decode()[-2000:]

    def tried(self, code: int, change: List[str], program: List[str], *options: str, gpu: Sequence[str] = GPU) -> Dict[str, Any]:
        words = ["try", "--dry", *gpu, "--steps", "all", "--json", *options, *change, "--", *program]
        done = recorded_run.run([recorded_run.vramscope(), *words])
        self.assertEqual(done.code, code, done.stderr.decode()[-2000:])
        answer: Dict[str, Any] = json.loads(done.stdout)
        return answer

    def written(self, program: List[str], gpu: Sequence[str] = GPU) -> int:
        words = ["dryrun", *gpu, "--steps", "all", "--json", "--", *program]
        done = recorded_run.run([recorded_run.vramscope(), *words], env=recorded_run.clean_environment(**ORDER))
        self.assertEqual(done.code, 0, done.stderr.decode()[-2000:])
        return int(json.loads(done.stdout)["peak"]["requested_peak_bytes"])

    def check(self, model: str, change: List[str], outside: List[str], written: List[str], gpu: Sequence[str] = GPU) -> Dict[str, Any]:
        """`outside`, `written`: options of the program that is changed from outside, and of the one that has the change in its code."""
        answer = self.tried(0, change, program_of(model, outside), gpu=gpu)
        before, after = (answer[run]["peak"]["requested_peak_bytes"] for run in ("before", "after"))
        self.assertGreater(abs(after / before - 1), LARGE)
        self.assertAlmostEqual(after / self.written(program_of(model, written), gpu), 1, delta=REST)
        return {fact["option"]: fact["what"] for fact in answer["applied"]}

    def test_several_changes_of_a_model_that_fit_trains(self) -> None:
        applied = self.check("mlp", ["--precision", "bf16", "--optimizer", "adamw", "--batch", "0.5x"], ["--batch", "64", "--steps", "4"],
                             ["--policy", "bfloat16", "--optimizer", "adamw", "--batch", "32", "--steps", "8"])
        self.assertEqual(applied["precision"], "dtype policy bfloat16")
        self.assertRegex(applied["optimizer"], r"Adam -> AdamW\(\) at keras_models.py:\d+")
        self.assertRegex(applied["batch"], r"64 -> 32 in the arrays at keras_models.py:\d+")

    def test_accumulation_over_batches_of_a_data_set(self) -> None:
        # No convolutions: the peak of the CNN is scratch memory of cuDNN's autotuning in the first step, which hardly depends on the batch.
        applied = self.check("transformer", ["--accumulate", "2"], ["--batch", "64", "--steps", "4"], ["--batch", "32", "--steps", "8", "--accumulate", "2"])
        self.assertRegex(applied["accumulate"], r"64 -> 32 in Dataset.batch\(\) at keras_models.py:\d+")

    def test_a_condition_on_the_gpu_does_not_change_the_order_of_operators(self) -> None:
        # Whether the optimizer steps is a value on the GPU. Its copy to the host must not overtake operators that are ready: peaks were 17 % apart.
        program = program_of("mlp", ["--batch", "32", "--steps", "12", "--accumulate", "2"])
        peak, again = self.written(program), self.written(program)
        self.assertAlmostEqual(again / peak, 1, delta=REST)
        tried = self.tried(0, ["--accumulate", "2"], program_of("mlp", []), "--before", self.before)
        self.assertAlmostEqual(tried["after"]["peak"]["requested_peak_bytes"] / peak, 1, delta=REST)

    def test_replicas_of_a_model_that_fit_trains(self) -> None:
        applied = self.check("transformer", ["--shard", "ddp:2"], ["--steps", "4"], ["--steps", "4", "--replicas", "2"], TWO_GPUS)
        self.assertEqual(applied["shard"], "MirroredStrategy over 2 GPUs; each gets 1/2 of a batch")

    def test_recomputed_blocks_in_a_traced_loop(self) -> None:
        applied = self.check("graph_transformer", ["--checkpoint", "all"], [], ["--recompute"])
        self.assertIn("block0 to block3, 4 layers", applied["checkpoint"])

    def refused(self, change: List[str], program: List[str]) -> Dict[str, Any]:
        refusals: List[Dict[str, Any]] = self.tried(CANNOT_JUDGE, change, program, "--before", self.before)["not_applied"]
        self.assertEqual(len(refusals), 1)
        return refusals[0]

    def test_a_change_without_a_switch_in_keras_is_refused(self) -> None:
        refusal = self.refused(["--lora", "8"], program_of("mlp", []))
        self.assertIn("Keras has no switch for this change", refusal["why"])
        self.assertEqual(refusal["lines"], [])

    def test_a_loop_that_does_not_scale_its_loss_is_named(self) -> None:
        refusal = self.refused(["--amp", "fp16"], program_of("eager_mlp", []))
        self.assertIn("the program's own loop does not scale the loss", refusal["why"])
        self.assertTrue(any("scale_loss" in line for line in refusal["lines"]), refusal["lines"])

    def test_a_loop_that_does_not_run_on_replicas_is_named(self) -> None:
        program = program_of("eager_mlp", [])
        words = ["try", "--dry", *TWO_GPUS, "--steps", "all", "--before", self.before, "--shard", "ddp:2", "--", *program]
        done = recorded_run.run([recorded_run.vramscope(), *words])
        self.assertEqual(done.code, 1, "TensorFlow raises an error, as it would if the program created the strategy")
        self.assertIn("the program's own loop does not call strategy.run()", done.stderr.decode())
        self.assertIn("# your own loop: strategy.run(step", done.stderr.decode())
        self.assertIn("the program sees 1 GPU, and 2 are needed", self.refused(["--shard", "ddp:2"], program)["why"])

    def test_the_own_policy_of_a_program_stays(self) -> None:
        refusal = self.refused(["--amp", "bf16"], program_of("mlp", ["--policy", "mixed_float16"]))
        self.assertIn("the program sets the dtype policy itself, to mixed_float16", refusal["why"])

    def test_the_layers_that_a_model_has_are_named(self) -> None:
        refusal = self.refused(["--checkpoint", "decoder*"], program_of("mlp", []))
        self.assertIn("has no layer decoder*; it has hidden0, hidden1, hidden2, hidden3, head", refusal["why"])

    def test_layers_that_keras_cannot_recompute_in_a_traced_function(self) -> None:
        refusal = self.refused(["--checkpoint", "hidden*"], program_of("mlp", []))
        self.assertIn("Keras cannot recompute hidden0 (Dense), hidden1 (Dense), hidden2 (Dense), ... in a traced function", refusal["why"])

    def test_settings_of_tensorflows_allocator(self) -> None:
        answer = self.tried(0, ["--alloc-conf", "allow_growth:False"], program_of("mlp", []))
        self.assertEqual(answer["applied"], [{"option": "alloc-conf", "what": "TF_FORCE_GPU_ALLOW_GROWTH=false"}])
        before, after = (answer[run]["peak"]["device_used_bytes"] for run in ("before", "after"))
        self.assertGreater(after, 64 << 30, "without growth TensorFlow takes the GPU as a whole")
        self.assertLess(before, 4 << 30)
        words = ["try", "--dry", *GPU, "--alloc-conf", "expandable_segments:True", "--", *program_of("mlp", [])]
        done = recorded_run.run([recorded_run.vramscope(), *words])
        self.assertEqual((done.code, done.stdout), (2, b""))
        self.assertIn("is no setting of TensorFlow's allocator", done.stderr.decode())


def program_of(model: str, options: List[str]) -> List[str]:
    return [PYTHON, PROGRAM, "--model", model, *options]


if __name__ == "__main__":
    recorded_run.main()
