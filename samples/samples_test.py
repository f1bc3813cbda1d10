# SPDX-License-Identifier: Apache-2.0
"""The samples learn with every switch, and call an observer at each point of a step. Run with a Python that has torch, as ctest does."""

import contextlib
import io
import itertools
import pathlib
import sys
import types
import unittest
from typing import List, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import torch  # noqa: E402

import autoencoder_lbfgs  # noqa: E402
import gan  # noqa: E402
import gpt  # noqa: E402
import mlp_small  # noqa: E402
import resnet  # noqa: E402
import training  # noqa: E402

# Small enough to run in seconds; long enough for a loss to fall visibly.
SMALL = {
    gpt: ["--layers", "2", "--dim", "64", "--batch", "8", "--steps", "12", "--lr", "0.003"],
    resnet: ["--layers", "1", "--dim", "8", "--batch", "16", "--steps", "12"],
    gan: ["--layers", "2", "--dim", "32", "--batch", "64", "--steps", "60", "--lr", "0.003"],
    autoencoder_lbfgs: ["--dim", "16", "--batch", "32", "--steps", "4"],
    mlp_small: ["--steps", "60"],
}
LEARN_SLOWLY = {"sgd": ["--lr", "0.1"], "momentum": ["--lr", "0.03"]}


def run(sample: types.ModuleType, *flags: str) -> List[float]:
    with contextlib.redirect_stdout(io.StringIO()):
        return sample.main([*SMALL[sample], "--device", "cpu", *flags])


class SamplesTest(unittest.TestCase):
    def assert_learns(self, sample: types.ModuleType, *flags: str) -> None:
        with self.subTest(sample=sample.__name__, flags=flags):
            history = run(sample, *flags)
            quarter = max(1, len(history) // 4)
            self.assertLess(sum(history[-quarter:]), 0.95 * sum(history[:quarter]))

    def test_every_sample_learns_under_every_way_to_save_memory(self) -> None:
        for sample in SMALL:
            for flags in ([], ["--amp", "bf16"], ["--checkpoint"], ["--accumulate", "4"], ["--workers", "2"]):
                self.assert_learns(sample, *flags)

    def test_every_optimizer_learns_in_every_implementation(self) -> None:
        fused_on_cpu = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4)
        implementations = ["foreach", "for-loop"] + ["fused"] * fused_on_cpu
        for optimizer, implementation in itertools.product(training.OPTIMIZERS, implementations):
            self.assert_learns(mlp_small, "--optimizer", optimizer, "--optimizer-impl", implementation, *LEARN_SLOWLY.get(optimizer, []))

    @unittest.skipUnless(hasattr(torch.amp, "GradScaler"), "PyTorch before 2.3 has no fp16 autocast on the CPU")
    def test_fp16_with_loss_scaling_learns(self) -> None:
        self.assert_learns(mlp_small, "--amp", "fp16")

    def test_the_same_seed_gives_the_same_losses(self) -> None:
        self.assertEqual(run(gpt, "--seed", "7"), run(gpt, "--seed", "7"))
        self.assertNotEqual(run(gpt, "--seed", "7"), run(gpt, "--seed", "8"))

    def test_the_observer_sees_every_point_of_a_step_in_order(self) -> None:
        options = gpt.arguments().parse_args([*SMALL[gpt], "--device", "cpu", "--accumulate", "2", "--steps", "2", "--log-every", "9"])
        seen = []

        def observe(point: str, step: int, losses: Sequence[torch.Tensor]) -> None:
            seen.append((point, step))
            self.assertEqual(bool(losses), point != "batch")

        with contextlib.redirect_stdout(io.StringIO()):
            training.train(gpt.build(options), options, observe)
        one_step = ["batch", "forward", "backward"] * 2 + ["step", "zero_grad"]
        self.assertEqual(seen, [(point, step) for step in (1, 2) for point in one_step])


if __name__ == "__main__":
    unittest.main()
