# SPDX-License-Identifier: Apache-2.0
"""Predictions for programs that only run their model forward.

Two oracles: the same program really run with the change, on the simulated device, by PyTorch's own counters; and the public recordings of such a
program in float32 and under autocast, whose requests rose by the copies of weights that autocast keeps.
"""

import json
import os
import pickle
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import measure  # noqa: E402

SNAPSHOTS = Path(__file__).resolve().parents[3] / "shared/data/snapshots"
# What whatif is asked for, and the switches of forward.py that do the same.
CHANGES: List[Tuple[List[str], List[str]]] = [
    (["--amp", "bf16"], ["--amp", "bf16"]),
    (["--precision", "bf16"], ["--precision", "bf16"]),
    (["--batch", "2x"], ["--batch", "8"]),
    (["--alloc-conf", "expandable_segments:True"], ["--alloc-conf", "expandable_segments:True"]),
    (["--empty-cache", "after-step"], ["--empty-cache", "after-step"]),
]


def requested_rise(name: str) -> int:
    """How far the requests of a recording rise above what was there before it."""
    with open(SNAPSHOTS / f"{name}.pickle", "rb") as file:
        history = max(pickle.load(file)["device_traces"], key=len)
    now = highest = 0
    for entry in history:
        now += {"alloc": entry["size"], "free_completed": -entry["size"]}.get(entry["action"], 0)
        highest = max(highest, now)
    return highest


class Forward(unittest.TestCase):
    def check(self, model: str, size: str, work_space: bool = False) -> Tuple[Dict[str, int], Dict[str, int]]:
        """The peak as it was and under autocast, after all changes were compared. `work_space`: cuDNN takes some for convolutions, which type and
        size of a batch decide in ways that are not predicted."""
        python = os.environ.get("VRAMSCOPE_TEST_PYTHON")
        if not python:
            self.skipTest("VRAMSCOPE_TEST_PYTHON is not set")
        with tempfile.TemporaryDirectory() as folder:
            trace = str(Path(folder) / "run.vms")
            variants = json.dumps([switches for _, switches in CHANGES])
            command = [python, str(measure.HERE / "forward.py"), "--model", model, "--size", size, "--variants", variants]
            done = measure.vramscope("dryrun", "--steps", "all", "--depth", "all", "--gpu", "a100-40gb", "-o", trace, "--", *command)
            *truths, base = [[int(word) for word in line.split()] for line in done.stdout.splitlines() if line.replace(" ", "").isdigit()]
            self.assertEqual(len(truths), len(CHANGES), done.stdout[-2000:] + done.stderr[-2000:])
            answers = []
            for (asked, _), (_, allocated, reserved) in zip(CHANGES, truths):
                answer = json.loads(measure.vramscope("whatif", trace, "--process", str(base[0]), "--json", *asked).stdout)
                with self.subTest(model=model, asked=asked):
                    peak = answer["after"]["peak"]
                    self.assertEqual(answer["refused"], [])
                    if not work_space or asked[0] in ("--alloc-conf", "--empty-cache"):
                        self.assertEqual((peak["allocated_bytes"], peak["reserved_peak_bytes"]), (allocated, reserved))
                answers.append(answer)
            return answers[0]["before"]["peak"], answers[0]["after"]["peak"]

    def test_as_the_public_recordings(self) -> None:
        before, after = self.check("snapshot", "large")
        self.assertGreater(after["allocated_bytes"], 1.3 * before["allocated_bytes"])
        if not SNAPSHOTS.is_dir():
            self.skipTest("the recordings are not here")
        recorded = requested_rise("forward_bf16_ctx128") - requested_rise("forward_fp32_ctx128")
        predicted = after["requested_bytes"] - before["requested_bytes"]
        # The work space of cuBLAS, which torch 2.15 takes for the moment of a product, is part of the peak in float32.
        self.assertLessEqual(abs(predicted - recorded), 0.03 * recorded)

    def test_a_transformer(self) -> None:
        self.check("transformer", "large")

    def test_a_convolutional_network(self) -> None:
        before, after = self.check("convolutional", "large", work_space=True)
        self.assertLess(after["allocated_bytes"], before["allocated_bytes"])

    def test_a_recurrent_network(self) -> None:
        self.check("recurrent", "small")


if __name__ == "__main__":
    unittest.main()
