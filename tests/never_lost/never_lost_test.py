# SPDX-License-Identifier: Apache-2.0
"""What was recorded before a SIGKILL is in the trace, and a SIGKILL of the collector does not reach the training.

The oracle is a counter that the target keeps in a file which outlives it: `begun` before, `done` after each allocation. The trace must hold
all allocations from the first to `done`, without a gap, and at most up to `begun`.

    VRAMSCOPE_KILLS      kills of each kind (200 is the promise; fewer by default, to be quick)
    VRAMSCOPE_TEST_SEED  the seed of the moments; by default one for each commit (drawn.py)
"""
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import drawn
import recorded_run
from recorded_run import RecordingTest, clean_environment, python, record_command, target

HERE = Path(__file__).resolve().parent
KILLS = int(os.environ.get("VRAMSCOPE_KILLS", "20"))
SEED = drawn.seed()
FIRST_BYTES = 1 << 20  # as in torch_target.py
ALLOC_ADDRESS, ALLOC_SIZE = 0, 1

Counter = Tuple[int, int]  # begun, done


class NeverLostTest(RecordingTest):
    def setUp(self) -> None:
        super().setUp()
        print(f"VRAMSCOPE_KILLS={KILLS} VRAMSCOPE_TEST_SEED={SEED}", file=sys.stderr)
        self.moments = random.Random(SEED)
        self.counter_file = self.folder / "counters"

    def make_counters(self, count: int) -> None:
        self.counter_file.write_bytes(bytes(16 * count))

    def counters(self) -> List[Counter]:
        return list(struct.iter_unpack("<QQ", self.counter_file.read_bytes()))

    def wait_until_counting(self, process: "subprocess.Popen[bytes]") -> None:
        while not all(done for _, done in self.counters()):
            self.assertIsNone(process.poll(), "the target ended by itself")
            time.sleep(0.0002)

    def holds_all(self, found: List[int], counter: Counter, where: str) -> None:
        """`found` are the numbers of the allocations in the trace, in its order."""
        begun, done = counter
        self.assertEqual(found, list(range(1, len(found) + 1)), f"{where}: a gap")
        self.assertGreaterEqual(len(found), done, f"{where}: {done} allocations were done, {len(found)} are in the trace")
        self.assertLessEqual(len(found), begun, where)


class TargetKilled(NeverLostTest):
    def kill_recorded(self, command: List[str], most_seconds: float) -> Path:
        """Records the command and kills it (not the collector) at a random moment after its first counted allocation."""
        trace = self.folder / "run.vms"
        collector = subprocess.Popen(record_command(trace, command), env=clean_environment(), stdin=subprocess.DEVNULL)
        try:
            self.wait_until_counting(collector)
            time.sleep(self.moments.uniform(0, most_seconds))
            os.kill(_child_that_runs(command, collector.pid), signal.SIGKILL)
            self.assertEqual(collector.wait(timeout=900), -signal.SIGKILL)
        finally:
            collector.kill()
            collector.wait()
        return trace

    def kill_counting_target(self, threads: int, pause_ns: int) -> None:
        self.make_counters(threads)
        trace = self.kill_recorded([target("counting_target"), str(self.counter_file), str(threads), str(pause_ns)], 0.02)
        found: Dict[int, List[int]] = {thread: [] for thread in range(threads)}
        for event in recorded_run.events(trace, "alloc"):
            address = event.number(ALLOC_ADDRESS)
            found[(address >> 40) - 1].append((address & 0xFFFFFFFFFF) >> 8)
        for thread, counter in enumerate(self.counters()):
            self.holds_all(found[thread], counter, f"thread {thread}")

    def test_every_event_of_two_threads_is_in_the_trace(self) -> None:
        for _ in range(KILLS):
            self.kill_counting_target(threads=2, pause_ns=2_000)

    def test_every_event_is_in_the_trace_when_the_target_is_faster_than_the_collector(self) -> None:
        for _ in range(max(2, KILLS // 10)):
            self.kill_counting_target(threads=2, pause_ns=0)

    def test_every_tensor_of_a_killed_pytorch_program_is_in_the_trace(self) -> None:
        for _ in range(max(2, KILLS // 10)):
            self.make_counters(1)
            trace = self.kill_recorded([python(), str(HERE / "torch_target.py"), str(self.counter_file)], 0.1)
            self.holds_all(self._numbers(trace)[0][1], self.counters()[0], "the process")

    def test_every_tensor_of_killed_children_of_a_pytorch_program_is_in_the_trace(self) -> None:
        self.make_counters(KILLS)
        trace = self.folder / "run.vms"
        command = [python(), str(HERE / "torch_target.py"), str(self.counter_file), str(KILLS), str(SEED)]
        done = recorded_run.record(trace, command, timeout=900)
        self.assertEqual(done.code, 0, done.stderr.decode())
        found = dict(self._numbers(trace))
        pids = [int(line) for line in done.stdout.split()]
        self.assertEqual(len(pids), KILLS)
        for pid, counter in zip(pids, self.counters()):
            self.holds_all(found.get(pid, []), counter, f"child {pid}")

    def _numbers(self, trace: Path) -> List[Tuple[int, List[int]]]:
        """(pid, the numbers of its counted allocations)"""
        found: Dict[int, List[int]] = {}
        for event in recorded_run.events(trace, "alloc"):
            if event.number(ALLOC_SIZE) > FIRST_BYTES:
                found.setdefault(event.pid, []).append(event.number(ALLOC_SIZE) - FIRST_BYTES)
        return list(found.items())


class CollectorKilled(NeverLostTest):
    def test_training_finishes_with_the_same_output_and_exit_code(self) -> None:
        program = [python(), str(recorded_run.SAMPLES / "mlp_small.py"), "--device", "cpu", "--steps", "1500", "--log-every", "100"]
        expected = recorded_run.run(program)
        self.assertEqual(expected.code, 0)
        for _ in range(max(2, KILLS // 10)):
            self._kill_collector(program, expected.stdout)

    def _kill_collector(self, program: List[str], expected: bytes) -> None:
        out, err, code = (self.folder / name for name in ("out", "err", "code"))
        code.unlink(missing_ok=True)
        # The shell is recorded too. It writes the exit code, because no other process is left that could.
        script = f'"$@" > {out} 2> {err}; echo $? > {code}.new; mv {code}.new {code}'
        out.write_bytes(b"")
        collector = subprocess.Popen(record_command(self.folder / "run.vms", ["/bin/sh", "-c", script, "sh", *program]),
                                     env=clean_environment(), stdin=subprocess.DEVNULL, start_new_session=True)
        self._wait(lambda: out.stat().st_size > 0, "the training did not begin")
        time.sleep(self.moments.uniform(0, 0.4))
        os.kill(collector.pid, signal.SIGKILL)
        collector.wait()
        self._wait(code.exists, "the training did not end")
        self.assertEqual((code.read_text(), err.read_bytes(), out.read_bytes()), ("0\n", b"", expected))

    def _wait(self, condition: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + 600
        while not condition():
            self.assertLess(time.monotonic(), deadline, otherwise)
            time.sleep(0.005)


def _child_that_runs(command: List[str], parent: int) -> int:
    """The process that the collector started for the command, not one of its own."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    (child,) = [pid for pid in children if Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1] == command]
    return int(child)


del NeverLostTest

if __name__ == "__main__":
    recorded_run.main()
