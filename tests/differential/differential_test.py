#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is our allocator PyTorch's? The stock wheel's own caching allocator, on the simulated device, and the model are given the same random
requests; every address, every statistic after every operation and every event of PyTorch's history must be the same.

Each run has a new seed and prints it; VRAMSCOPE_TEST_SEED repeats one. VRAMSCOPE_TEST_OPERATIONS asks for more operations than the 52,000
of a usual run.
"""
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))
import device  # noqa: E402
import recorded_run  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "random_program.py"


class AllocatorDifferentialTest(device.DeviceTest):
    def test_the_model_decides_what_the_compiled_allocator_decides(self) -> None:
        compare = recorded_run.target("allocator_differential")
        pythons = [python for python in recorded_run.pythons() if device.is_served(python)]
        recorded_run.python()
        seed = int(os.environ.get("VRAMSCOPE_TEST_SEED") or random.SystemRandom().randrange(1 << 31))
        operations = int(os.environ.get("VRAMSCOPE_TEST_OPERATIONS") or 52_000) // max(1, len(pythons))
        for python in self.for_each_python():
            print(f"seed {seed}, {operations} operations, {python}", flush=True)
            log = self.folder / "program.log"
            variables = {"TORCH_CPP_LOG_LEVEL": "ERROR"}
            done = device.run(python, [str(PROGRAM), str(log), str(seed), str(operations)], "a100-80gb", **variables)
            self.assertEqual(done.code, 0, f"seed {seed}: {done.stderr.decode()[-2000:]}")
            compared = subprocess.run([compare, str(log)], capture_output=True, text=True, check=False)
            self.assertEqual(compared.returncode, 0, f"seed {seed}: {compared.stderr}")
            print(compared.stdout, end="", flush=True)


if __name__ == "__main__":
    recorded_run.main()
