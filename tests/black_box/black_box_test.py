#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last steps that a black box keeps are reported as in a recording of the whole run, which is the oracle."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
from recorded_run import clean_environment, python, record_command, run, vramscope  # noqa: E402

TRAINING = str(Path(__file__).with_name("training.py"))
STEPS = 12
KEPT = 3


def report(trace: Path) -> Dict[str, Any]:
    answer = run([vramscope(), "report", "--json", str(trace)])
    assert answer.code == 0, answer.stderr
    return json.loads(answer.stdout)


def peaks(steps: List[Dict[str, Any]]) -> List[Any]:
    return [(step["peak"]["allocated_bytes"], step["peak"]["phase"], step["peak"]["categories"]) for step in steps]


@drawn.share(2)
class BlackBoxTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vramscope-black-box-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.box = self.folder / "box.vms"

    def record(self, trace: Path, *options: str, wanted: int) -> bytes:
        command = [vramscope(), "record", "-o", str(trace), *options, "--", python(), TRAINING, *(["fail"] if wanted else [])]
        ended = run(command)
        self.assertEqual(ended.code, wanted, ended.stderr)
        return ended.stderr

    def test_a_run_that_fails_leaves_its_last_steps(self) -> None:
        whole = self.folder / "whole.vms"
        self.record(whole, wanted=1)
        self.record(self.box, "--black-box", str(KEPT), wanted=1)
        full, last = report(whole), report(self.box)
        self.assertEqual(len(full["steps"]), STEPS + 1)  # with the one that did not end
        self.assertEqual(peaks(last["steps"]), peaks(full["steps"][-KEPT - 1 :]))
        self.assertEqual(last["peak"]["categories"], full["peak"]["categories"])
        self.assertEqual([row for row in last["owners"] if row["kind"] == "parameter"], [row for row in full["owners"] if row["kind"] == "parameter"])
        self.assertIn(f"{STEPS - KEPT} steps were before them", " ".join(last["notes"]))
        self.assertLess(self.box.stat().st_size, whole.stat().st_size)

    def test_a_run_that_ends_well_leaves_nothing(self) -> None:
        said = self.record(self.box, "--black-box", str(KEPT), wanted=0)
        self.assertIn(b"Nothing was written", said)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_by_order_the_last_steps_are_written_while_the_run_goes_on(self) -> None:
        command = [*record_command(self.box, [python(), TRAINING, "wait"], ["--black-box", str(KEPT)])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(), text=True) as recording:
            assert recording.stdin and recording.stdout
            self.assertEqual(recording.stdout.readline(), "trained\n")
            pid = Path(f"/proc/{recording.pid}/task/{recording.pid}/children").read_text().split()
            trainer = next(p for p in pid if "training.py" in Path(f"/proc/{p}/cmdline").read_text())
            for name in ("box.vms", "box-2.vms"):
                dumped = run([vramscope(), "dump", trainer])
                self.assertEqual((dumped.code, dumped.stdout.decode().strip()), (0, str(self.folder / name)), dumped.stderr)
                self.assertEqual(len(report(self.folder / name)["steps"]), KEPT)
            recording.stdin.write("\n")
            recording.stdin.close()
            self.assertEqual(recording.wait(60), 0)

    def test_orders_to_others_are_refused_with_a_sentence(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as other:
            for words, sentence in (((str(other.pid),), "is not recorded"), (("999999999",), "no process"), ((), "needs the id of one process")):
                refused = run([vramscope(), "dump", *words])
                self.assertEqual(refused.code, 2)
                self.assertIn(sentence, refused.stderr.decode())
            other.kill()


if __name__ == "__main__":
    unittest.main()
