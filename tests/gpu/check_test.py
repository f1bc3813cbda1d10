# SPDX-License-Identifier: Apache-2.0
"""Tests check.sh itself, with the simulated device instead of a GPU: rows pass, rows fail when they should, and measurements are kept."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import Finished, RecordingTest, clean_environment, run  # noqa: E402

CHECK = Path(__file__).with_name("check.sh")
ROWS = ("eager allocator", "eager device", "eager blocks")


class Check(RecordingTest):
    def check(self, *options: str) -> Finished:
        build = Path(recorded_run.vramscope()).resolve().parent.parent
        command = [str(CHECK), str(build), "--out", str(self.folder), "--simulated", "h100-80gb", "--only", *ROWS, *options]
        return run(command, timeout=900, env=clean_environment(VRAMSCOPE_PYTHON=recorded_run.python()))

    def test_rows_pass_and_fail_by_themselves(self) -> None:
        done = self.check()
        self.assertEqual(done.code, 0, done.stdout.decode() + done.stderr.decode())
        table = (self.folder / "gpu-check.md").read_text(encoding="utf-8")
        self.assertIn("3 passed, 0 failed", table)
        self.assertIn("**On the simulated device**", table)
        self.assertEqual(self.check().stdout.decode().splitlines(), [str(self.folder / "gpu-check.md")], "nothing is measured twice")

        notes = self.folder / "work/eager.jsonl"
        moments = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
        moments[-1]["allocated"] += 512
        moments[-1]["blocks"][0][1] += 512
        notes.write_text("".join(json.dumps(moment) + "\n" for moment in moments), encoding="utf-8")
        done = self.check("--again")
        self.assertEqual(done.code, 1)
        table = (self.folder / "gpu-check.md").read_text(encoding="utf-8")
        self.assertIn("1 passed, 2 failed", table)


if __name__ == "__main__":
    recorded_run.main()
