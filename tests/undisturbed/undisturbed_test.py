# SPDX-License-Identifier: Apache-2.0
"""A deep step allocates exactly what the light steps around it allocate, and takes little of the trace: on the CPU, and on the simulated GPU.

The oracle is the program itself: all steps of a training loop are alike, so steps recorded without operators show what those recorded with
them must do. The sizes of all allocations and frees between two optimizer steps are compared, in order.
"""
import os
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import drawn
import recorded_run
from recorded_run import SAMPLES, RecordingTest, python

IN_TURN = Path(__file__).resolve().parent.parent / "in_turn.py"
STEPS = 9  # of each training
DEEP = range(4, 7)
DEEP_STEP_BYTES = 100_000
MARK_OPTIMIZER_STEP_DONE, MARK_DEEP_BEGIN, MARK_DEEP_END = 1, 2, 3
SAMPLE_SIZES: Dict[str, List[str]] = {
    "gpt": ["--layers", "2", "--dim", "64", "--batch", "4"],
    "resnet": ["--layers", "1", "--dim", "8", "--batch", "4"],
    "gan": ["--layers", "2", "--dim", "32", "--batch", "16"],
    "autoencoder_lbfgs": ["--layers", "2", "--dim", "32", "--batch", "16"],
    "mlp_small": [],
}
VARIANTS: Dict[str, List[str]] = {
    "amp": ["--amp", "bf16"],
    "checkpointing": ["--checkpoint"],
    "accumulation": ["--accumulate", "4"],
}


class DeepStepTest(RecordingTest):
    """Tests are added below."""

    device = "cpu"

    def record_sample(self, sample: str, flags: Sequence[str], variants: Sequence[str], options: Sequence[str]) -> Path:
        others = [argument for variant in variants for argument in ("--then", *VARIANTS[variant])]
        program = [str(IN_TURN), str(SAMPLES / f"{sample}.py"), "--device", self.device, "--steps", str(STEPS), *flags, *others]
        return self.recorded([python(), *program], options, env=self.environment())

    def environment(self) -> Dict[str, str]:
        return recorded_run.clean_environment()

    def check(self, sample: str, variants: Sequence[str]) -> None:
        """One process trains the sample plainly, then with the flags of each variant."""
        trainings = ["plain", *variants]
        deep_steps = [range(STEPS * turn + DEEP[0], STEPS * turn + DEEP[-1] + 1) for turn in range(len(trainings))]
        options = ["--depth", "deep", "--deep-steps", ",".join(f"{steps[0]}-{steps[-1]}" for steps in deep_steps)]
        trace = self.record_sample(sample, SAMPLE_SIZES[sample], variants, options)
        steps, deep = _allocations_by_step(trace, optimizers=2 if sample == "gan" else 1)
        self.assertEqual(deep, {step for group in deep_steps for step in group})
        for variant, group in zip(trainings, deep_steps):
            with self.subTest(variant):
                self._check_one(steps, group, may_end_early=sample == "autoencoder_lbfgs")

    def _check_one(self, steps: Dict[int, List[int]], deep: range, may_end_early: bool) -> None:
        self.assertGreater(len(steps[deep[0]]), 20)
        light = steps[deep[0] - 1]  # 2 and 3 are alike: 1 has made the optimizer's state
        for step in (deep[0] - 2, *deep, deep[-1] + 1, deep[-1] + 2):
            if may_end_early and len(steps[step]) != len(light):
                continue  # LBFGS ends a step early when it has converged
            self.assertEqual(_first_difference(steps[step], light), None, f"step {step} against the light step {deep[0] - 1}")


def _allocations_by_step(trace: Path, optimizers: int) -> Tuple[Dict[int, List[int]], set]:
    """step -> sizes of its allocations (positive) and frees (negative), and the steps that were recorded deep."""
    steps: Dict[int, List[int]] = {1: []}
    deep = set()
    size_of: Dict[str, int] = {}
    done = 0
    is_deep = False
    for event in recorded_run.events(trace, "alloc", "free", "mark"):
        step = done // optimizers + 1
        if event.type == "mark":
            kind = event.number(0)
            done += kind == MARK_OPTIMIZER_STEP_DONE
            is_deep = kind == MARK_DEEP_BEGIN or is_deep and kind != MARK_DEEP_END
        else:
            address = event.fields[0]
            if event.type == "alloc":
                size_of[address] = event.number(1)
            size = size_of.get(address, 0)
            steps.setdefault(step, []).append(size if event.type == "alloc" else -size)
            if is_deep:
                deep.add(step)
    return steps, deep


def _first_difference(found: List[int], expected: List[int]) -> "Tuple[int, int, int] | None":
    for index, (one, other) in enumerate(zip(found, expected)):
        if one != other:
            return index, one, other
    return None if len(found) == len(expected) else (min(len(found), len(expected)), len(found), len(expected))


class Undisturbed(DeepStepTest):
    def test_a_deep_gpt_step_costs_little_of_the_trace(self) -> None:
        bytes_of = {}
        for options in (["--depth", "light"], ["--depth", "deep", "--deep-steps", f"{DEEP[0]}-{DEEP[-1]}"]):
            trace = self.record_sample("gpt", [], [], options)
            bytes_of[options[1]] = trace.stat().st_size
        per_step = (bytes_of["deep"] - bytes_of["light"]) / len(DEEP)
        print(f"a deep GPT step costs {per_step:.0f} bytes of the trace", file=sys.stderr)
        self.assertLessEqual(per_step, DEEP_STEP_BYTES)
        self.assertGreater(per_step, 0)


class UndisturbedOnCuda(DeepStepTest):
    device = "cuda"

    def environment(self) -> Dict[str, str]:
        return simulated_device.environment(python())


def _add_tests(case: type, samples: Iterable[str], variants: Iterable[str]) -> None:
    for sample in samples:
        def test(self: Any, sample: str = sample) -> None:
            self.check(sample, list(variants))

        setattr(case, f"test_deep_steps_of_{sample}_allocate_what_light_ones_do", test)


_add_tests(Undisturbed, SAMPLE_SIZES, VARIANTS)
drawn.share(3)(Undisturbed)
if os.environ.get("VRAMSCOPE_TEST_EVERY"):
    _add_tests(UndisturbedOnCuda, SAMPLE_SIZES, VARIANTS)
else:
    _add_tests(UndisturbedOnCuda, ["gpt"], ["amp", "checkpointing"])
del DeepStepTest  # no test of its own

if __name__ == "__main__":
    recorded_run.main()
