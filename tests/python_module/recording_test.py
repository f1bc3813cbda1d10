#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vramscope.record, start, stop, mark and the magics, in a plain process: the traces hold what the program did, and the program notices nothing."""
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import package  # noqa: E402
import recorded_run  # noqa: E402

import vramscope  # noqa: E402

PARAMETERS = 4 * (64 * 256 + 256 + 256 * 64 + 64)


class InCodeTest(recorded_run.RecordingTest):
    def test_a_program_records_itself(self) -> None:
        done = recorded_run.run([recorded_run.python(), str(HERE / "in_code.py"), str(package.FOLDER), str(self.folder)],
                                env=recorded_run.clean_environment(VRAMSCOPE_BIN=recorded_run.vramscope()))
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.assertEqual(done.stderr, b"")
        (line,) = [line for line in done.stdout.decode().splitlines() if line.startswith("found ")]
        found = json.loads(line[len("found "):])
        self.check_program(found)
        self.check_traces()
        self.assertIn("Peak ", done.stdout.decode())  # what %vramscope report printed
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(("second.", "bad"))], [])

    def test_a_program_that_records_itself_is_recorded(self) -> None:
        program = ("import sys; sys.path.insert(0, sys.argv[1]); import vramscope\n"
                   "with vramscope.record(sys.argv[2]) as recording: vramscope.mark('inside')\n"
                   "print(recording.elsewhere)")
        outer, inner = self.folder / "outer.vms", self.folder / "inner.vms"
        done = recorded_run.record(outer, [sys.executable, "-c", program, str(package.FOLDER), str(inner)],
                                   env=recorded_run.clean_environment(VRAMSCOPE_BIN=recorded_run.vramscope()))
        self.assertEqual((done.code, done.stdout), (0, b"True\n"), done.stderr.decode())
        self.assertIn(b"another vramscope already records this process", done.stderr)
        self.assertFalse(inner.exists())
        self.assertIn("inside", vramscope.open(outer).events().column("name"))

    def check_program(self, found: Dict[str, Any]) -> None:
        for key in ("same losses", "same descriptors", "decorated", "after kill", "failed cell", "coroutine", "second in block", "other thread"):
            self.assertIs(found[key], True, key)
        self.assertEqual(found["block"], str(self.folder / "block.vms"))
        self.assertIn("nothing lost", found["summary"])
        self.assertIn("already being recorded", found["second start"])
        self.assertIn("has no recording to stop", found["stop without start"])
        self.assertIn("--device must be one of", found["bad option"])
        self.assertIn("missing", found["bad place"])
        self.assertNotEqual(found["stop after kill"], "")
        self.assertEqual(found["user's exception"], [])
        self.assertEqual(found["box"], [[str(self.folder / "box.vms")], 2])
        self.assertEqual(found["empty box"], [[], "The black box was not written, because memory did not run out."])
        self.assertFalse((self.folder / "empty_box.vms").exists())
        self.assertEqual(found["cell"], [str(self.folder / "cell.vms"), 2])

    def check_traces(self) -> None:
        block = vramscope.open(self.folder / "block.vms")
        self.assertEqual([row["name"] for row in block.events().rows() if row["type"] == "mark" and row["name"] and "epoch" in row["name"]], ["epoch 3"])
        self.assertEqual([step.complete for step in block.steps], [True] * 4)
        self.assertEqual(block.peak.categories.parameter, PARAMETERS)
        self.assertEqual(block.peak.categories.optimizer_state, PARAMETERS)
        decorated = vramscope.open(self.folder / "decorated.vms")
        self.assertEqual([step.deep for step in decorated.steps], [False, True, True, True, False])
        self.assertIn("aten::addmm", decorated.operators().column("name"))
        self.assertTrue(any("in_code.py" in frame for frame in decorated.stacks().column("frame")))
        self.assertEqual(vramscope.open(self.folder / "raises.vms").peak.categories.parameter, PARAMETERS)
        self.assertEqual(len(vramscope.open(self.folder / "coroutine.vms").steps), 4)


if __name__ == "__main__":
    recorded_run.main()
