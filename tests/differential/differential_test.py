#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our allocator with PyTorch's. The stock wheel's own caching allocator, on the simulated device, and the model get the same random
requests; every address, every statistic after every operation and every event of PyTorch's history must be the same.

Each commit has a new seed, which the run prints; VRAMSCOPE_TEST_SEED=N uses N. VRAMSCOPE_TEST_OPERATIONS runs more operations than the usual 52,000.
PyTorch's own snapshot of a part of one fixed run is replayed, and so are snapshots of real runs: exactly, event by event. (With other seeds, about
one snapshot in six does not replay exactly: if requests fail, a snapshot does not contain how much memory the device had left.)
"""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "simulated_cuda")]
import device  # noqa: E402
import drawn  # noqa: E402
import recorded_run  # noqa: E402

SNAPSHOTS = Path(__file__).resolve().parents[3] / "shared/data/snapshots"
SNAPSHOT_SEED = 2
PROGRAM = Path(__file__).resolve().parent / "random_program.py"


class AllocatorDifferentialTest(device.DeviceTest):
    def test_the_model_decides_what_the_compiled_allocator_decides(self) -> None:
        compare = recorded_run.target("allocator_differential")
        pythons = [python for python in recorded_run.pythons() if device.is_served(python)]
        recorded_run.python()
        seed = drawn.seed()
        operations = int(os.environ.get("VRAMSCOPE_TEST_OPERATIONS") or 52_000) // max(1, len(pythons))
        for python in self.for_each_python():
            print(f"seed {seed}, {operations} operations, {python}", flush=True)
            log = self.run_program(python, seed, operations)
            compared = subprocess.run([compare, str(log), f"{log}.settings"], capture_output=True, text=True, check=False)
            self.assertEqual(compared.returncode, 0, f"seed {seed}: {compared.stderr}")
            print(compared.stdout, end="", flush=True)

    def run_program(self, python: str, seed: int, operations: int) -> Path:
        log = self.folder / "program.log"
        done = device.run(python, [str(PROGRAM), str(log), str(seed), str(operations)], "a100-80gb", TORCH_CPP_LOG_LEVEL="ERROR")
        self.assertEqual(done.code, 0, f"seed {seed}: {done.stderr.decode()[-2000:]}")
        return log

    def test_a_snapshot_of_pytorch_replays_exactly(self) -> None:
        python = recorded_run.python()  # the replay of snapshots of older releases is not tested like this yet
        if not device.is_served(python):
            self.skipTest("this PyTorch is not served by the simulated device")
        self.check_exact(f"{self.run_program(python, SNAPSHOT_SEED, 52_000)}.pickle", f"seed {SNAPSHOT_SEED}")

    def check_exact(self, snapshot: str, what: str) -> None:
        """A replay places every event where PyTorch placed it, and ends with PyTorch's segments."""
        done = subprocess.run([recorded_run.vramscope(), "replay", "--json", snapshot], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{what}: {done.stdout}{done.stderr}")
        replayed = json.loads(done.stdout)
        self.assertEqual(replayed["events_exact"], replayed["events_total"], what)
        self.assertTrue(replayed["final_state_exact"], what)

    @unittest.skipUnless(SNAPSHOTS.is_dir(), "no real snapshots beside this checkout")
    def test_real_snapshots_replay_exactly_and_contradictions_are_named(self) -> None:
        for path in sorted(SNAPSHOTS.glob("*.pickle")):
            with self.subTest(snapshot=path.name):
                if path.stem != "inconsistent":
                    self.check_exact(str(path), path.name)
                    continue
                done = subprocess.run([recorded_run.vramscope(), "replay", "--json", str(path)], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                # It lacks the requests to free, which is allowed. But its very first block lies in none of its segments.
                first = json.loads(done.stdout)["first_divergence"]
                self.assertEqual((first["event"], first["model_at_address"]), (0, "in no segment"))
                report = subprocess.run([recorded_run.vramscope(), "report", str(path)], capture_output=True, text=True, check=False)
                self.assertIn("the snapshot contradicts itself: 520 of its events do not fit its segments", report.stdout + report.stderr)


if __name__ == "__main__":
    recorded_run.main()
