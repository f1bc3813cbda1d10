# SPDX-License-Identifier: Apache-2.0
"""The ptrace injector alone: a program that makes threads, sleeps and handles signals is entered many times and must not notice.

    VRAMSCOPE_TEST_ATTACH_CYCLES=1000 python3 injector_test.py     more than the 100 of CI
"""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import target
import tracing  # noqa: E402  next to this file

CYCLES = int(os.environ.get("VRAMSCOPE_TEST_ATTACH_CYCLES", "100"))
CHURNING_EXIT = 7
MEDIAN_LIMIT_US = 200_000  # ten times the goal, because the machine may be busy


class Injector(unittest.TestCase):
    def test_a_program_that_makes_threads_all_the_time_does_not_notice(self) -> None:
        undisturbed = recorded_run.run([target("churning_target"), "0.2", "6"])
        with subprocess.Popen([target("churning_target"), "600", "6"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as churning:
            self.addCleanup(churning.kill)
            self.assertEqual(churning.stdout.readline(), "ready\n")
            command = [target("attach_cycles"), str(churning.pid), str(CYCLES), target("libattach_guest.so"), "guest_entry"]
            done = recorded_run.run(command, timeout=300 + CYCLES)
            self.assertEqual(done.code, 0, done.stderr.decode())
            output, errors = churning.communicate("", timeout=900)
        self.assertEqual((churning.returncode, errors), (CHURNING_EXIT, ""))
        self.assertIn(output.strip(), undisturbed.stdout.decode())
        print(done.stdout.decode().strip(), file=sys.stderr)
        median = int(re.search(r"median_us (\d+)", done.stdout.decode())[1])
        self.assertLess(median, MEDIAN_LIMIT_US)


if __name__ == "__main__":
    if not tracing.is_allowed():
        print("this system lets nobody trace")
        sys.exit(77)  # ctest shows it as skipped
    recorded_run.main()
