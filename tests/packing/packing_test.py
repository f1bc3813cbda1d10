#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope pack` on MiniMalloc's challenging instances and on real snapshots, checked by check_packing.py."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_packing  # noqa: E402

VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "data")
CAPACITY = 1048576
# Heights that MiniMalloc itself, minimizing, reaches in five seconds.
MINIMALLOC = dict(A=1063936, B=1081344, C=1039360, D=1041408, E=1471488, F=1165312, G=1119232, H=1152000, I=1464320, J=1137664,
                  K=1256448)


def pack(*arguments: str) -> dict:
    run = subprocess.run([VRAMSCOPE, "pack", "--json", *arguments], check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


@unittest.skipUnless(os.path.isdir(os.path.join(DATA, "packing")), "no benchmark instances beside this checkout")
class Benchmarks(unittest.TestCase):
    def test_every_instance_is_packed_into_its_capacity(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for letter, theirs in MINIMALLOC.items():
                instance = os.path.join(DATA, "packing", f"mm_{letter}.{CAPACITY}.csv")
                out = os.path.join(folder, letter + ".csv")
                # Good enough is the capacity, or MiniMalloc's height if that is lower, as a share above the lower bound.
                bound = pack(instance, "--budget", "0s")["lower_bound_bytes"]
                wanted = min(CAPACITY, theirs)
                answer = pack(instance, "--budget", "60s", "--offsets", out, "--good-enough", f"{100 * (wanted / bound - 1):.6f}")
                with self.subTest(instance=letter):
                    self.assertLessEqual(answer["achieved_bytes"], wanted)
                    self.assertGreaterEqual(answer["achieved_bytes"], answer["lower_bound_bytes"])
                    self.assertEqual(check_packing.check(instance, out), answer["achieved_bytes"])


@unittest.skipUnless(os.path.isdir(os.path.join(DATA, "snapshots")), "no real snapshots beside this checkout")
class RealRuns(unittest.TestCase):
    def test_a_recorded_training_step_is_within_one_percent_of_the_bound(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("medium_ctx512_training", "medium_ctx128_training", "small_from_empty"):
                out = os.path.join(folder, name + ".csv")
                answer = pack(os.path.join(DATA, "snapshots", name + ".pickle"), "--offsets", out)
                with self.subTest(snapshot=name):
                    self.assertLessEqual(answer["achieved_bytes"], 1.01 * answer["lower_bound_bytes"])
                    self.assertLess(answer["achieved_bytes"], answer["peak_reserved_bytes"])
                    self.assertEqual(check_packing.check(out, out), answer["achieved_bytes"])


if __name__ == "__main__":
    unittest.main()
