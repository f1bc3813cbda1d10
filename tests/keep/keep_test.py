# SPDX-License-Identifier: Apache-2.0
"""`record --keep`: what stays on the disk is bounded, and the figures of all steps stay. The oracle is a recording of the whole run."""
import sys
from pathlib import Path
from typing import Any, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import drawn
import recorded_run

PROGRAM = str(Path(__file__).with_name("long_run.py"))
STEPS, LARGE_STEP = 600, 400
KIB = 1 << 10


def figures(*files: str) -> List[Any]:
    """For each step: its number, its peak, and the bytes allocated at its end. From `fleet`, which joins the parts of a trace."""
    ranks = recorded_run.ask("fleet", *files)["ranks"]
    assert len(ranks) == 1, [rank["name"] for rank in ranks]
    return [(step["step"], step["peak_bytes"], step["end_bytes"]) for step in ranks[0]["steps"]]


@drawn.share(2)
class KeepTest(recorded_run.RecordingTest):
    def recorded_as(self, keep: str) -> bytes:
        """Records into self.folder / "kept"; returns what the command printed."""
        (self.folder / "kept").mkdir()
        command = [recorded_run.vramscope(), "record", "-o", str(self.folder / "kept/run.vms"), "--keep", keep, "--",
                   recorded_run.python(), PROGRAM, str(STEPS), str(LARGE_STEP)]
        done = recorded_run.run(command)
        self.assertEqual(done.code, 0, done.stderr.decode())
        whole = self.recorded([recorded_run.python(), PROGRAM, str(STEPS), str(LARGE_STEP)], trace=self.folder / "whole.vms")
        self.assertEqual(figures(str(self.folder / "kept")), figures(str(whole)))
        self.assertEqual([number for number, _, _ in figures(str(whole))], list(range(1, STEPS + 1)))
        return done.stderr

    def parts(self) -> List[Path]:
        return sorted((self.folder / "kept").glob("run*.vms"))

    def steps_of(self, part: Path) -> List[int]:
        return [number for number, _, _ in figures(str(part))]

    def test_a_summary_has_all_figures_and_the_events_of_steps_that_differ(self) -> None:
        said = self.recorded_as("summary:1MiB")
        self.assertLess(sum(part.stat().st_size for part in self.parts()), 1024 * KIB)
        self.assertRegex(said, rb"and [1-9]\d* removed\. The figures of all steps are in .*run\.parts\.vms\.summary\.")
        steps = {part.name: self.steps_of(part) for part in self.parts()}
        self.assertEqual(steps["run.vms"][-1], STEPS)
        self.assertEqual(steps["run.part1.vms"][0], 1)
        others = [numbers for name, numbers in steps.items() if name not in ("run.vms", "run.part1.vms")]
        self.assertTrue(any(LARGE_STEP in numbers for numbers in [*others, steps["run.vms"], steps["run.part1.vms"]]), steps)
        self.assertLess(len(others), 3, "steps that are alike were removed")

    def test_a_ring_has_the_newest_parts(self) -> None:
        self.recorded_as("ring:1MiB")
        parts = self.parts()
        self.assertLess(sum(part.stat().st_size for part in parts), 1024 * KIB)
        kept = sorted({number for part in parts for number in self.steps_of(part)})
        self.assertEqual(kept, list(range(kept[0], STEPS + 1)), "without a gap, up to the last one")
        report = recorded_run.ask("report", str(self.folder / "kept/run.vms"))
        self.assertIn("These are the last steps of a run", " ".join(report["notes"]))


if __name__ == "__main__":
    recorded_run.main()
