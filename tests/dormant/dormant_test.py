#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A dormant recorder: it is woken and put to sleep again while a program trains, and the program does not notice."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
from recorded_run import clean_environment, python, run, vramscope  # noqa: E402

TRAINING = str(Path(__file__).with_name("training.py"))
PARAMETERS = 4 * (64 * 256 + 256 + 256 * 64 + 64)


class Trainer:
    """A program that trains as many steps as the test requests."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen([*command, python(), TRAINING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(), text=True)
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        assert self.stdout.readline() == "ready\n"

    @property
    def pid(self) -> str:
        return str(self.process.pid)

    def train(self, steps: int) -> str:
        self.stdin.write(f"{steps}\n")
        self.stdin.flush()
        return self.stdout.readline()

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Trains in the background, because a recorder cannot enter the interpreter of a program that waits for input."""
        enough = threading.Event()

        def work() -> None:
            while not enough.is_set():
                self.train(1)

        worker = threading.Thread(target=work)
        worker.start()
        try:
            yield
        finally:
            enough.set()
            worker.join()

    def end(self) -> int:
        self.stdin.close()
        self.stdout.close()
        return self.process.wait(60)


@drawn.share(2)
class DormantTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vramscope-dormant-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def report(self, name: str) -> Dict[str, Any]:
        answer = run([vramscope(), "report", "--json", str(self.folder / name)])
        self.assertEqual(answer.code, 0, answer.stderr)
        return json.loads(answer.stdout)

    def start(self, trainer: Trainer, name: str, *options: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([vramscope(), "start", trainer.pid, "-o", str(self.folder / name), *options], stderr=subprocess.PIPE, env=clean_environment())

    def test_it_is_recorded_twice_and_trains_as_if_alone(self) -> None:
        trainer = Trainer(vramscope(), "record", "--dormant", "--")
        losses = [trainer.train(1)]
        for name in ("first.vms", "second.vms"):
            recording = self.start(trainer, name, "--steps", "5")
            deadline = time.monotonic() + 600
            while recording.poll() is None and time.monotonic() < deadline:
                losses.append(trainer.train(1))
            stderr = recording.communicate()[1]
            self.assertEqual(recording.returncode, 0, stderr)
            losses.append(trainer.train(1))
            answer = self.report(name)
            self.assertGreaterEqual(len(answer["steps"]), 5)
            self.assertEqual(answer["peak"]["categories"]["parameter"], PARAMETERS)
            self.assertEqual(answer["peak"]["categories"]["optimizer_state"], 2 * PARAMETERS + 16)
        door = f"@vramscope-door-{os.stat('/proc/self/ns/pid').st_ino}-{trainer.pid}"
        self.assertIn(door, Path("/proc/net/unix").read_text())
        self.assertFalse([path for path in os.listdir("/dev/shm") if "door" in path])
        self.assertEqual(trainer.end(), 0)

        alone = Trainer()
        self.assertEqual(losses, [alone.train(1) for _ in losses])
        self.assertEqual(alone.end(), 0)

    def test_stop_ends_the_recording_and_not_the_program(self) -> None:
        trainer = Trainer(vramscope(), "record", "--dormant", "--")
        trainer.train(2)
        self.assertEqual(run([vramscope(), "stop", trainer.pid]).code, 2)
        recording = self.start(trainer, "run.vms")
        with trainer.busy():
            while run([vramscope(), "stop", trainer.pid]).code != 0:  # until it has begun
                self.assertIsNone(recording.poll())
            self.assertEqual(recording.wait(60), 0)
        assert recording.stderr
        recording.stderr.close()
        self.assertEqual(len(trainer.train(1)), 12)
        self.assertEqual(trainer.end(), 0)

    def test_who_does_not_wait_is_named(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as other:
            for pid, sentence in ((str(other.pid), "is not waiting to be recorded"), ("999999999", "There is no process")):
                refused = run([vramscope(), "start", pid], cwd=str(self.folder))
                self.assertEqual(refused.code, 2)
                self.assertIn(sentence, refused.stderr.decode())
            other.kill()
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
