#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real JAX programs on a simulated GPU. The oracles are JAX itself: the bytes of its arrays, and the bytes in use and the peak of the device.

Needs VRAMSCOPE_JAX_PYTHON, a Python that has JAX with its CUDA plug-in, and optax. Nearly all time is compilation."""

import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import SAMPLES, RecordingTest, ask, clean_environment, vramscope  # noqa: E402

PYTHON = os.environ.get("VRAMSCOPE_JAX_PYTHON", "")
PARAMETER, GRADIENT, OPTIMIZER_STATE = 1, 3, 4
STEPS = 4
SMALL = ("--hidden", "64", "--batch", "8", "--steps", str(STEPS))
NEAR = 64 << 10
CUDA = 0x100
SIMULATED, APART = 0x70, 4  # address >> 40 on the first simulated device, and its distance to the next device's; other values: address unknown


@unittest.skipUnless(PYTHON, "set VRAMSCOPE_JAX_PYTHON to a Python that has JAX and its CUDA plug-in")
class JaxTest(RecordingTest):
    def train(self, *options: str, gpu: str = "h100-80gb", flags: str = "--xla_gpu_autotune_level=0") -> None:
        truth = self.folder / "truth.json"
        self.trace = self.folder / "run.vms"
        command = [vramscope(), "dryrun", "--quiet", "--steps", "all", "--gpu", gpu, "-o", str(self.trace), "--", PYTHON, str(SAMPLES / "jax_train.py"),
                   *SMALL, "--truth", str(truth), *options]
        done = recorded_run.run(command, env=clean_environment(XLA_FLAGS=flags))
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.truth: Dict[str, Any] = json.loads(truth.read_text(encoding="utf-8"))

    def totals(self, device: int) -> Tuple[List[int], List[int]]:
        """The bytes of a device after each step, once the program has released the arrays that it replaced, and the peak so far."""
        live: Dict[int, int] = {}
        peak, stepped = 0, False
        ends, peaks = [], []
        for event in recorded_run.events(self.trace, "alloc", "free", "mark"):
            if event.type == "mark":
                stepped = event.number(0) == 1
            elif event.number(2) != CUDA + device:
                continue
            elif event.type == "free":
                del live[event.number(0)]
            else:
                if stepped and event.number(0) >> 40 == SIMULATED + APART * device:  # the next batch
                    ends.append(sum(live.values()))
                    peaks.append(peak)
                    stepped = False
                live[event.number(0)] = event.number(1)
                peak = max(peak, sum(live.values()))
        return ends, peaks

    def labels(self, role: int) -> Dict[str, int]:
        return {event.fields[4].replace("_of_", " of "): event.number(1) for event in recorded_run.events(self.trace, "label") if event.number(2) == role}

    def check_names(self) -> None:
        dotted = {name.replace("['", ".").replace("']", ""): size for name, size in self.truth["parameter"].items()}
        self.assertEqual(self.labels(PARAMETER), dotted)

    def check_state(self) -> None:
        state = self.labels(OPTIMIZER_STATE)
        self.assertEqual(sorted(state.values()), sorted(self.truth["optimizer_state"].values()))
        self.assertIn("state[0].count", state)
        self.assertIn("state[0].mu of params.head.b", state)

    def check_totals(self, device: int = 0) -> None:
        ends, peaks = self.totals(device)
        self.assertEqual(ends[:STEPS - 1], self.truth["in_use"][device][:-1])
        for mine, theirs in zip(peaks, self.truth["peak"][device]):
            self.assertLessEqual(abs(mine - theirs), NEAR)

    def check_plan(self, *options: str) -> None:
        """In the first step, nothing of another step is live. So it takes what XLA plans when it compiles the step without any device."""
        command = [PYTHON, str(Path(__file__).with_name("deviceless.py")), str(SAMPLES), *SMALL, *options]
        done = recorded_run.run(command, env=clean_environment(XLA_FLAGS="--xla_gpu_autotune_level=0"))
        self.assertEqual(done.code, 0, done.stderr.decode())
        plan = json.loads(done.stdout)
        planned = plan["argument_size_in_bytes"] + plan["output_size_in_bytes"] - plan["alias_size_in_bytes"] + plan["temp_size_in_bytes"]
        self.assertLessEqual(abs(ask("report", str(self.trace))["steps"][0]["peak"]["allocated_bytes"] - planned), NEAR)

    def test_a_step_with_donated_arguments(self) -> None:
        self.train()
        self.check_names()
        self.check_state()
        self.check_totals()
        self.check_plan()
        report = ask("report", str(self.trace))
        self.assertEqual(len(report["steps"]), STEPS)
        self.assertEqual([hook["failure"] for hook in report["coverage"] if hook["failures"]], [])

    def test_algorithms_that_are_tried_and_arguments_that_are_kept(self) -> None:
        self.train("--keep", flags="")
        self.check_names()
        self.check_state()
        self.check_totals()

    def test_checkpointed_blocks(self) -> None:
        options = ("--model", "gpt", "--checkpoint")
        self.train(*options)
        self.check_totals()
        self.check_plan(*options)

    def test_a_batch_that_is_sharded_over_two_devices(self) -> None:
        self.train("--devices", "2", gpu="h100-80gb:2")
        for device in (0, 1):
            self.check_totals(device)
            owners = ask("report", str(self.trace), "--device", f"cuda:{device}")["owners"]
            self.assertLessEqual({"params.fc1", "params.fc2", "params.head"}, {owner["name"] for owner in owners})
        self.check_plan("--devices", "2")

    def test_blocks_of_attention_over_two_devices(self) -> None:
        options = ("--model", "gpt", "--devices", "2")
        self.train(*options, gpu="h100-80gb:2")
        for device in (0, 1):
            self.check_totals(device)
        self.check_plan(*options)

    def test_a_mesh_of_64_devices_is_one_process_of_64(self) -> None:
        options = ("--devices", "64", "--batch", "64")
        self.train(*options, gpu="h100-80gb:64")
        self.check_names()
        self.check_state()
        self.check_totals()
        self.check_plan(*options)

    def test_gradients_and_update_in_two_functions(self) -> None:
        self.train("--split-step")
        self.check_names()
        self.check_state()
        self.check_totals()
        self.assertEqual(self.labels(GRADIENT), self.labels(PARAMETER))
        self.assertEqual(len(ask("report", str(self.trace))["steps"]), STEPS)

    def test_an_update_without_jit(self) -> None:
        self.train("--eager-update")
        self.check_names()
        self.assertLessEqual(abs(ask("report", str(self.trace))["peak"]["allocated_bytes"] - self.truth["peak"][0][-1]), NEAR)
        self.assertEqual(self.labels(GRADIENT), self.labels(PARAMETER))
        # Two moments of each parameter are labeled in each step after the first. The optimizer's step count has no label.
        self.assertEqual(self.labels(OPTIMIZER_STATE), {f"state of {name}": size for name, size in self.labels(PARAMETER).items()})
        labeled = [event for event in recorded_run.events(self.trace, "label") if event.number(2) == OPTIMIZER_STATE]
        self.assertEqual(len(labeled), 2 * len(self.labels(PARAMETER)) * (STEPS - 1))
        self.assertEqual(len(ask("report", str(self.trace))["steps"]), STEPS)

    def test_a_dry_run_ends_when_the_peak_is_stable(self) -> None:
        trace = self.folder / "run.vms"
        sample = [PYTHON, str(SAMPLES / "jax_train.py"), *SMALL, "--steps", "5000"]
        command = [vramscope(), "dryrun", "--quiet", "--gpu", "h100-80gb", "-o", str(trace), "--", *sample]
        done = recorded_run.run(command, env=clean_environment(XLA_FLAGS="--xla_gpu_autotune_level=0"))
        self.assertEqual(done.code, 0, done.stderr.decode())
        steps = [event for event in recorded_run.events(trace, "mark") if event.number(0) == 1]
        self.assertGreaterEqual(len(steps), 6)
        self.assertLess(len(steps), 5000)

    def test_a_program_is_undisturbed(self) -> None:
        program = "import jax, jax.numpy as jnp; print(float(jax.jit(jnp.sum)(jnp.arange(9.0)))); raise SystemExit(7)"
        environment = clean_environment(JAX_PLATFORMS="cpu")
        plain = recorded_run.run([PYTHON, "-c", program], env=environment)
        recorded = recorded_run.record(self.folder / "cpu.vms", [PYTHON, "-c", program], env=environment)
        self.assertEqual(plain, recorded)


@unittest.skipUnless(PYTHON, "set VRAMSCOPE_JAX_PYTHON to a Python that has JAX and its CUDA plug-in")
class JaxTryTest(RecordingTest):
    """`vramscope try`. The oracle is the same change in the program's code."""

    GPT = ("--model", "gpt", *SMALL, "--tokens", "256")

    def asked(self, code: int, verb: List[str], options: Sequence[str]) -> Dict[str, Any]:
        words = [vramscope(), *verb, "--gpu", "h100-80gb", "--steps", "all", "--json", "--", PYTHON, str(SAMPLES / "jax_train.py"), *options]
        done = recorded_run.run(words, env=clean_environment(XLA_FLAGS="--xla_gpu_autotune_level=0"))
        self.assertEqual(done.code, code, done.stderr.decode()[-2000:])
        answer: Dict[str, Any] = json.loads(done.stdout)
        return answer

    def check(self, change: List[str], outside: Sequence[str], written: Sequence[str]) -> str:
        answer = self.asked(0, ["try", "--dry", *change], outside)
        before, after = (answer[run]["peak"]["allocated_bytes"] for run in ("before", "after"))
        self.assertNotEqual(after, before)
        self.assertEqual(after, self.asked(0, ["dryrun"], written)["peak"]["allocated_bytes"])
        return str(answer["applied"][0]["what"])

    def test_donation(self) -> None:
        applied = self.check(["--free-early", "all"], [*self.GPT, "--keep"], self.GPT)
        self.assertEqual(applied, "jax.jit(train_step, donate_argnums=(0, 1))")

    def test_a_policy_for_checkpoints(self) -> None:
        applied = self.check(["--checkpoint", "nothing_saveable"], self.GPT, [*self.GPT, "--policy", "nothing_saveable"])
        self.assertRegex(applied, r"nothing_saveable for gpt_loss\(\) in jax.value_and_grad at jax_train.py:\d+")

    def test_another_optimizer(self) -> None:
        applied = self.check(["--optimizer", "sgd"], self.GPT, [*self.GPT, "--optimizer", "sgd"])
        self.assertRegex(applied, r"optax.adamw\(\) -> sgd at jax_train.py:\d+")

    def test_what_is_not_applied_has_a_reason_and_lines(self) -> None:
        for change, why, line in ((["--free-early", "all"], "the program donates arguments of train_step() itself", "donate_argnums=(0, 1)"),
                                  (["--checkpoint", "dots"], "jax.checkpoint_policies has no dots; it has everything_saveable, ", "policy="),
                                  (["--shard", "ddp:2"], "for a JAX program, this change can only be made in the code", "jax.make_mesh(")):
            refusal = self.asked(3, ["try", "--dry", *change], SMALL)["not_applied"][0]
            self.assertIn(why, refusal["why"])
            self.assertTrue(any(line in text for text in refusal["lines"]), refusal["lines"])


if __name__ == "__main__":
    recorded_run.main()
