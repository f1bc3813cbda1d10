# SPDX-License-Identifier: Apache-2.0
"""`vramscope attach` to real training: it is recorded, its results stay the same bit for bit, and nothing of ours stays in it.

    VRAMSCOPE_TEST_ATTACH_CYCLES=1000 python3 attach_test.py Trainer     more than the 10 of CI
"""
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import Finished, RecordingTest, vramscope
import tracing  # noqa: E402  next to this file

HERE = Path(__file__).resolve().parent
CYCLES = int(os.environ.get("VRAMSCOPE_TEST_ATTACH_CYCLES", "10"))
TRAINER_EXIT = 5
WORKERS = 4
STOP_LIMIT_NS = 200_000_000  # ten times the goal, because the machine may be busy: docs/performance.md has the figure
BATCHES = ("/dev/shm/torch", "/memfd:torch")
SETTLED = 5  # cycles after which nothing may grow any more


def attach(pid: int, *options: str, timeout: float = 180) -> Finished:
    return recorded_run.run([vramscope(), "attach", *options, str(pid)], timeout=timeout)


def link_of(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


class Held:
    """The resources of the system that a process holds."""

    def __init__(self, pid: int) -> None:
        # Without those through which the loader's workers pass batches: they come and go.
        maps = [line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if not any(name in line for name in BATCHES)]
        self.mappings = len(maps)
        links = [link_of(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
        self.descriptors = sum(bool(link) and not link.startswith(("socket:", *BATCHES)) for link in links)
        self.ours = [link for link in links if ".ring" in link or "vramscope_injector" in link]
        self.threads = len(os.listdir(f"/proc/{pid}/task"))
        self.rings = sum(".ring" in line for line in maps)
        status = Path(f"/proc/{pid}/status").read_text()
        self.resident_kib = int(status.split("VmRSS:")[1].split()[0])

    def __repr__(self) -> str:
        return str(vars(self))


class Training(RecordingTest):
    """A trainer in the background."""

    maxDiff = None

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        process = subprocess.Popen([recorded_run.python(), "-W", "ignore", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **{"env": recorded_run.clean_environment(), **options})
        self.addCleanup(self._end, process)
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            if line == "ready\n":
                return process
        self.fail(process.stderr.read())

    @staticmethod
    def _end(process: "subprocess.Popen[str]") -> None:
        process.kill()
        process.communicate()

    def settled(self, pid: int, threads: int) -> Held:
        """What the process holds once the recorder's thread has ended, a moment after it released everything."""
        for _ in range(200):
            held = Held(pid)
            if held.threads <= threads:
                break
            time.sleep(0.02)
        return held


class Trainer(Training):
    def test_it_is_recorded_again_and_again_and_does_not_notice(self) -> None:
        losses = [self.folder / name for name in ("attached.txt", "undisturbed.txt")]
        process = self.start(str(HERE / "trainer.py"), str(losses[0]), str(WORKERS))
        before = Held(process.pid)
        held: List[Held] = []
        stops: List[int] = []
        for cycle in range(CYCLES):
            trace = self.folder / "run.vms"
            done = attach(process.pid, "-o", str(trace), "--steps", "1")
            self.assertEqual(done.code, 0, done.stderr.decode())
            facts = recorded_run.ask("info", str(trace))
            stops.append(int(facts["metadata"]["attach.stopped_ns"]))
            held.append(self.settled(process.pid, before.threads))
            if cycle % 50 == 49:
                print(f"{cycle + 1} cycles: {held[-1]}", file=sys.stderr, flush=True)
        report = recorded_run.ask("report", str(trace))
        output, errors = process.communicate("", timeout=300 + CYCLES)

        self.assertEqual((errors, output), ("", "left 0\n"), "no Python object of the recorder's")
        self.assertEqual(process.returncode, TRAINER_EXIT)
        steps = len(losses[0].read_text().splitlines())
        again = [recorded_run.python(), "-W", "ignore", str(HERE / "trainer.py"), str(losses[1]), str(WORKERS), str(steps)]
        undisturbed = recorded_run.run(again, timeout=300 + CYCLES)
        self.assertEqual(undisturbed.code, TRAINER_EXIT)
        self.assertEqual(losses[0].read_text(), losses[1].read_text(), "the loss curve, to the bit")

        print(f"{CYCLES} cycles, stopped for {sorted(stops)[len(stops) // 2] / 1e6:.1f} ms (median), at most "
              f"{max(stops) / 1e6:.1f} ms; {before} -> {held[-1]}", file=sys.stderr)
        self.assertLess(sorted(stops)[len(stops) // 2], STOP_LIMIT_NS)
        self.assertGreaterEqual(len(report["steps"]), 1)
        first, last = held[min(SETTLED, len(held) - 1)], held[-1]
        self.assertEqual((last.rings, last.ours, last.threads, last.descriptors), (0, [], before.threads, before.descriptors))
        # Now and then, the C library's heap grows or the system splits a mapping. Something of ours would be left by each cycle.
        grew = [later.mappings - earlier.mappings for earlier, later in zip(held[SETTLED:], held[SETTLED + 1:])]
        self.assertLessEqual(min(grew), 0, held)
        self.assertLess(last.mappings - first.mappings, max(8, CYCLES // 10))
        self.assertLess(last.resident_kib - first.resident_kib, 8 << 10)


if __name__ == "__main__":
    if not tracing.is_allowed():
        print("this system lets nobody trace")
        sys.exit(77)  # ctest shows it as skipped
    recorded_run.main()
