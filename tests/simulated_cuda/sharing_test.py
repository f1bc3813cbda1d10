# SPDX-License-Identifier: Apache-2.0
"""Several processes on one simulated GPU: they share its memory, and tensors."""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from device import DeviceTest, environment, run  # noqa: E402

GIB, MIB = 1 << 30, 1 << 20
PROGRAM = str(Path(__file__).resolve().parent / "sharing.py")
CONTEXT = 500 * MIB


class Taker:
    """A process that tries to allocate so many GiB at each request."""

    def __init__(self, python: str, gibibytes: int, **variables: str) -> None:
        self.process = subprocess.Popen([python, PROGRAM, "take", str(gibibytes)], env=environment(python, "h100-80gb:2", **variables),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.start: Dict[str, Any] = {}

    def wait_for_start(self) -> None:
        self.start = self.read()

    def read(self) -> Dict[str, Any]:
        return json.loads(self.process.stdout.readline())

    def take(self) -> Dict[str, Any]:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.read()

    def end(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()
        self.process.wait()


class Capacity(DeviceTest):
    def test_what_one_process_has_another_cannot_take_until_it_is_gone(self) -> None:
        shared = self.folder / "devices"
        settings = {"VRAMSCOPE_SIMULATED_SHARED": str(shared), "VRAMSCOPE_SIMULATED_CAPACITY": "80GiB",
                    "VRAMSCOPE_SIMULATED_CONTEXT": str(CONTEXT), "CUDA_VISIBLE_DEVICES": "1"}
        first, second = (Taker(recorded_run.python(), gibibytes, **settings) for gibibytes in (60, 30))
        try:
            first.wait_for_start()
            second.wait_for_start()
            self.assertEqual(first.take()["took"], 60 * GIB)
            refused = second.take()
            self.assertEqual(refused["took"], 0)
            self.assertEqual(refused["free"], 20 * GIB - 2 * CONTEXT, "both contexts and the other's memory")
            self.assertIn("CUDA out of memory. Tried to allocate 30.00 GiB.", refused["message"])
            self.assertIn(f"Process {first.process.pid} has 60.49 GiB memory in use", refused["message"])
            os.kill(first.process.pid, signal.SIGKILL)
            os.waitid(os.P_PID, first.process.pid, os.WEXITED | os.WNOWAIT)  # dead, but nobody has waited for it yet
            taken = second.take()
            self.assertEqual((taken["took"], taken["free"]), (30 * GIB, 50 * GIB - CONTEXT))
        finally:
            first.end()
            second.end()


class Tensors(DeviceTest):
    def test_tensors_go_to_other_processes_and_are_counted_once(self) -> None:
        python = recorded_run.python()
        for settings in ("", "expandable_segments:True"):
            with self.subTest(settings=settings):
                done = run(python, [PROGRAM, "queues"], VRAMSCOPE_SIMULATED_SHARED=str(self.folder / f"devices{settings}"),
                           VRAMSCOPE_SIMULATED_CONTEXT=str(CONTEXT), PYTORCH_CUDA_ALLOC_CONF=settings, PYTORCH_ALLOC_CONF=settings)
                self.assertEqual((done.code, done.stderr), (0, b""))
                facts = json.loads(done.stdout)
                small, large, parameter, _ = facts["found"]
                self.assertEqual((small["device"], small["values"]), ("cuda:0", [1, 2, 3]))
                self.assertEqual((large["shape"], large["reserved"]), ([4, GIB], small["reserved"]))
                self.assertEqual(parameter["values"], [9])
                self.assertEqual(facts["written"], [5, 5, 5], "what the other wrote is seen here")
                self.assertEqual(facts["exit"], 0)
                self.assertLess(facts["used"], facts["reserved"] + 2 * CONTEXT + 64 * MIB)
                self.assertGreaterEqual(facts["used"], facts["reserved"] + 2 * CONTEXT)


class Verdict(DeviceTest):
    def test_the_peak_is_what_all_processes_had_at_one_time(self) -> None:
        command = [recorded_run.vramscope(), "dryrun", "--depth", "light", "--gpu", "h100-80gb", "--json", "--",
                   recorded_run.python(), PROGRAM, "parent_and_child"]
        done = recorded_run.run(command, timeout=900)
        self.assertEqual(done.code, 0, done.stderr.decode())
        answer = json.loads(done.stdout)
        context = 527 * MIB
        self.assertEqual(answer["peak"]["device_used_bytes"], 5 * GIB + 2 * context, "and neither 2 + 3 + 2 GiB nor 4")
        self.assertEqual([share["used_bytes"] for share in answer["device_processes"]], [2 * GIB + context, 3 * GIB + context])


if __name__ == "__main__":
    recorded_run.main()
