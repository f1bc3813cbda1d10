# SPDX-License-Identifier: Apache-2.0
"""`vramscope attach` is killed at random moments, as the OOM killer or `timeout -s KILL` does: the program that it enters runs on.

    VRAMSCOPE_TEST_ATTACH_KILLS=2000 python3 killed_test.py     more than the 200 of CI
    VRAMSCOPE_TEST_SEED=7                                       the same moments again
"""
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import List, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import RecordingTest, target, vramscope
import tracing  # noqa: E402  next to this file

KILLS = int(os.environ.get("VRAMSCOPE_TEST_ATTACH_KILLS", "200"))
SEED = int(os.environ.get("VRAMSCOPE_TEST_SEED", str(random.randrange(1 << 30))))
CHURNING_EXIT = 7
INJECTION_S = 0.015  # from the start of attach_cycles to its end
ATTACH_S = 0.15      # from the start of `vramscope attach` until it records

# Allocates nothing until it is told to: an attach waits for its first malloc, with a breakpoint in place.
IDLE = """
import sys
print("ready", flush=True)
sys.stdin.readline()
blocks = [bytearray(100000) for _ in range(100)]
print("alive", len(blocks))
"""
BUSY = """
import select, sys
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    blocks = [bytearray(100000) for _ in range(10)]
print("alive", len(blocks))
"""


class Killed(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        self.random = random.Random(SEED)
        print(f"VRAMSCOPE_TEST_SEED={SEED}", file=sys.stderr)

    def start(self, command: Sequence[str]) -> "subprocess.Popen[str]":
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def kill_again_and_again(self, command: Sequence[str], kills: int, longest_s: float, process: "subprocess.Popen[str]") -> None:
        """Kills `command` at random moments; every second time its whole process group, as timeout(1) does."""
        for kill in range(kills):
            entering = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(self.random.uniform(0, longest_s))
            if kill % 2:
                os.killpg(entering.pid, signal.SIGKILL)
            else:
                entering.kill()
            entering.wait()
            self.assertIsNone(process.poll(), f"ended by kill {kill}: {process.returncode}")

    def attach(self, process: "subprocess.Popen[str]") -> List[str]:
        return [vramscope(), "attach", "--quiet", "-o", str(self.folder / "run.vms"), str(process.pid)]

    def test_a_program_with_many_threads_does_not_notice(self) -> None:
        undisturbed = recorded_run.run([target("churning_target"), "0.2", "6"])
        process = self.start([target("churning_target"), "600", "6"])
        cycles = [target("attach_cycles"), str(process.pid), "1", target("libattach_guest.so"), "guest_entry"]
        self.kill_again_and_again(cycles, KILLS, INJECTION_S, process)
        output, errors = process.communicate("", timeout=120)
        self.assertEqual((process.returncode, errors), (CHURNING_EXIT, ""))
        self.assertIn(output.strip(), undisturbed.stdout.decode())

    def test_a_program_that_it_waits_for_is_not_killed_by_its_next_allocation(self) -> None:
        process = self.start([sys.executable, "-c", IDLE])
        self.kill_again_and_again(self.attach(process), 5, 2 * ATTACH_S, process)
        output, errors = process.communicate("\n", timeout=60)
        self.assertEqual((process.returncode, output, errors), (0, "alive 100\n", ""))

    def test_a_program_that_it_enters_and_records_runs_on_and_can_be_attached_to_again(self) -> None:
        process = self.start([sys.executable, "-c", BUSY])
        self.kill_again_and_again(self.attach(process), KILLS // 8, 2 * ATTACH_S, process)
        for _ in range(20):  # the recorder of the last one may still take itself out
            again = recorded_run.run([*self.attach(process), "--duration", "100ms"])
            if again.code == 0:
                break
            time.sleep(0.5)
        self.assertEqual(again.code, 0, again.stderr.decode())
        output, errors = process.communicate("\n", timeout=60)
        self.assertEqual((process.returncode, output, errors), (0, "alive 10\n", ""))


if __name__ == "__main__":
    if not tracing.is_allowed():
        print("this system lets nobody trace")
        sys.exit(77)  # ctest shows it as skipped
    recorded_run.main()
