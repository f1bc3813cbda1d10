#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real JAX programs on a simulated GPU. The oracles are JAX itself: the bytes of its arrays, and the bytes in use and the peak of the device.

Needs VRAMSCOPE_JAX_PYTHON, a Python that has JAX with its CUDA plug-in, and optax. Nearly all time is compilation."""

import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import SAMPLES, RecordingTest, ask, clean_environment, vramscope  # noqa: E402

PYTHON = os.environ.get("VRAMSCOPE_JAX_PYTHON", "")
PARAMETER, GRADIENT, OPTIMIZER_STATE = 1, 3, 4
STEPS = 4
SMALL = ("--hidden", "64", "--batch", "8", "--steps", str(STEPS))
NEAR = 64 << 10
SIMULATED = 0x70  # begins every address of the simulated device; blocks that stand for unknown addresses have others


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

    def totals(self) -> Tuple[List[int], List[int]]:
        """Of the first device: the bytes after each step, once the program has let go of what it replaced, and the most so far."""
        live: Dict[int, int] = {}
        peak, stepped = 0, False
        ends, peaks = [], []
        for event in recorded_run.events(self.trace, "alloc", "free", "mark"):
            if event.type == "mark":
                stepped = event.number(0) == 1
            elif event.number(2) == 0x100 and event.type == "free":
                del live[event.number(0)]
            elif event.number(2) == 0x100:
                if stepped and event.number(0) >> 40 == SIMULATED:  # the next batch
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

    def check_totals(self) -> None:
        ends, peaks = self.totals()
        self.assertEqual(ends, self.truth["in_use"][:-1], "nothing is allocated after the last step")
        for mine, theirs in zip(peaks, self.truth["peak"]):
            self.assertLessEqual(abs(mine - theirs), NEAR)

    def test_a_step_with_donated_arguments(self) -> None:
        self.train()
        self.check_names()
        self.check_state()
        self.check_totals()
        report = ask("report", str(self.trace))
        self.assertEqual(len(report["steps"]), STEPS)
        self.assertEqual([hook["failure"] for hook in report["coverage"] if hook["failures"]], [])

    def test_algorithms_that_are_tried_and_arguments_that_are_kept(self) -> None:
        self.train("--keep", flags="")
        self.check_names()
        self.check_state()
        self.check_totals()

    def test_gradients_and_update_in_two_functions(self) -> None:
        self.train("--split-step")
        self.check_names()
        self.assertEqual(self.labels(GRADIENT), self.labels(PARAMETER))

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


if __name__ == "__main__":
    recorded_run.main()
