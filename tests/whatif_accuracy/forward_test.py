# SPDX-License-Identifier: Apache-2.0
"""Predictions for programs that only run their model forward.

Oracle: the same program really run with the change, on the simulated device, by PyTorch's own counters.
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import List, Tuple

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
import measure  # noqa: E402
import drawn  # noqa: E402

# Options of whatif, and the switches of forward.py that do the same.
CHANGES: List[Tuple[List[str], List[str]]] = [
    (["--alloc-conf", "expandable_segments:True"], ["--alloc-conf", "expandable_segments:True"]),
    (["--empty-cache", "after-step"], ["--empty-cache", "after-step"]),
]


@drawn.share(2)
class Forward(unittest.TestCase):
    def check(self, model: str, size: str) -> None:
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
            for (asked, _), (_, allocated, reserved) in zip(CHANGES, truths):
                answer = json.loads(measure.vramscope("whatif", trace, "--process", str(base[0]), "--json", *asked).stdout)
                with self.subTest(model=model, asked=asked):
                    peak = answer["after"]["peak"]
                    self.assertEqual(answer["refused"], [])
                    self.assertEqual((peak["allocated_bytes"], peak["reserved_peak_bytes"]), (allocated, reserved))

    def test_a_transformer(self) -> None:
        self.check("transformer", "large")

    def test_a_language_model(self) -> None:
        self.check("snapshot", "large")

    def test_a_convolutional_network(self) -> None:
        self.check("convolutional", "large")

    def test_a_recurrent_network(self) -> None:
        self.check("recurrent", "small")


if __name__ == "__main__":
    unittest.main()
