# SPDX-License-Identifier: Apache-2.0
"""Compares predictions of whatif with PyTorch's own counters, for small models.

Oracle: the same program really run with the change, on the simulated device. measure.py does it for all models.
"""

import json
import os
import statistics
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
import drawn  # noqa: E402
import measure  # noqa: E402

# Only transformations: re-runs are tested in tests/rerun.
LEVERS = {
    "transformer": ["checkpoint all", "checkpoint, matmuls kept", "shard ddp", "shard zero1", "shard fsdp", "fsdp, checkpoint", "fsdp, sgd", "offload activations", "offload activations, checkpoint",
                    "keep gradients", "alloc-conf roundup_power2_divisions:4", "empty-cache after-step"],
    "convolutional": ["offload optimizer", "free early", "momentum", "shard zero2"],
    "recurrent": ["adamw fused", "adamw for-loop", "offload activations", "offload both"],
    "unet": ["adamw for-loop", "sgd"],
}
ONLY_THE_ALLOCATOR = ("alloc-conf", "empty-cache")  # changes that only affect the allocator: predictions are exact
MOST_ALLOCATED = 0.001  # of the truth
MOST_RESERVED = 0.1  # one 2 MiB segment of these small models is 5 %


@drawn.share(5)
class SmallModels(unittest.TestCase):
    def check(self, model: str) -> None:
        python = os.environ.get("VRAMSCOPE_TEST_PYTHON")
        if not python:
            self.skipTest("VRAMSCOPE_TEST_PYTHON is not set")
        with tempfile.TemporaryDirectory() as folder:
            run = measure.Run(python, measure.Results(Path(folder)), ["small"], LEVERS[model])
            run.model(model, truths=True, predictions=True)
            rows = run.results.cells()
        self.assertEqual([row.lever for row in rows], LEVERS[model])
        for row in rows:
            with self.subTest(lever=row.lever):
                self.assertFalse(row.sign_wrong())
                self.assertLessEqual(abs(row.allocated), MOST_ALLOCATED)
                self.assertLessEqual(abs(row.reserved), 0 if row.lever.startswith(ONLY_THE_ALLOCATOR) else MOST_RESERVED)
        self.assertLessEqual(statistics.median(abs(row.reserved) for row in rows), 0.005)

    def test_a_transformer(self) -> None:
        self.check("transformer")

    def test_a_convolutional_network(self) -> None:
        self.check("convolutional")

    def test_a_recurrent_network(self) -> None:
        self.check("recurrent")

    def test_a_unet(self) -> None:
        self.check("unet")

    def test_what_is_used_of_the_device_is_what_the_driver_says(self) -> None:
        python = os.environ.get("VRAMSCOPE_TEST_PYTHON")
        if not python:
            self.skipTest("VRAMSCOPE_TEST_PYTHON is not set")
        with tempfile.TemporaryDirectory() as folder:
            traces = {switches: Path(folder) / f"{switches or 'recorded'}.vms" for switches in ("", "--optimizer sgd")}
            for switches, trace in traces.items():
                list(measure.train(python, "transformer", [["--size", "small", *switches.split()]], "auto", trace))
            answer = json.loads(measure.vramscope("whatif", str(traces[""]), "--optimizer", "sgd", "--json").stdout)
            for peak, trace in zip((answer["before"]["peak"], answer["after"]["peak"]), traces.values()):
                devices = json.loads(measure.vramscope("report", str(trace), "--json").stdout)["devices"]
                told = next(device for device in devices if device["chosen"])
                self.assertEqual(peak["device_used_bytes"], told["peak_device_used_bytes"])
                self.assertAlmostEqual(peak["fragmentation"], 1 - peak["allocated_bytes"] / peak["reserved_peak_bytes"])
        self.assertLess(answer["after"]["peak"]["device_used_bytes"], answer["before"]["peak"]["device_used_bytes"])


if __name__ == "__main__":
    unittest.main()
