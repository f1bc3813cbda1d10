# SPDX-License-Identifier: Apache-2.0
"""Programs of the usual frameworks run under vramscope as they run alone, and its categories equal what they know about their own memory.

    frameworks_test.py                     Accelerate, Transformers' Trainer, Lightning, FSDP2 with tensor parallelism
    VRAMSCOPE_FRAMEWORKS_PYTHON            a Python with PyTorch and these packages; default: build/venv-frameworks (scripts/setup.sh --tests)
"""
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from modes import Known, Modes  # noqa: E402

import drawn  # noqa: E402
import recorded_run  # noqa: E402


def python() -> str:
    named = os.environ.get("VRAMSCOPE_FRAMEWORKS_PYTHON") or str(recorded_run.SOURCE / "build/venv-frameworks/bin/python")
    if not os.access(named, os.X_OK):
        raise unittest.SkipTest(f"{named} does not exist: run scripts/setup.sh --tests")
    return named


@drawn.share(3)
class FrameworksTest(recorded_run.RecordingTest):
    def check(self, known: Known, package: str = "torch", modes: str = "dryrun") -> None:
        if not recorded_run.has_package(python(), package):
            self.skipTest(f"{package} is not installed for {python()}")
        runs = Modes(python(), known, self.folder)
        for mode in modes.split():
            self.assertEqual(runs.run(mode), [], mode)

    def test_accelerate(self) -> None:
        self.check(Known("accelerate", 0, 1), "accelerate", "plain record dryrun")

    def test_trainer_of_transformers(self) -> None:
        self.check(Known("hf_trainer", 0, 1), "transformers")

    def test_lightning(self) -> None:
        self.check(Known("lightning_one", 0, 1), "lightning")

    def test_fsdp2_with_tensor_parallelism(self) -> None:
        self.check(Known("fsdp2_tp", 4, 4))


if __name__ == "__main__":
    recorded_run.main()
