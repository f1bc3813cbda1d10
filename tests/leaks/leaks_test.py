# SPDX-License-Identifier: Apache-2.0
"""`vramscope leaks` finds each leak that was planted, with its line of Python, and none in a healthy loop. The oracle is the source: lines
that allocate what is kept are marked `# leak: NAME`."""
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import drawn
import recorded_run
from recorded_run import RecordingTest, python

HERE = Path(__file__).resolve().parent
LEAKING = HERE / "leaking.py"
# NAME -> the number of the line that allocates what is kept
LINES = {found[1]: number for number, line in enumerate(LEAKING.read_text().splitlines(), 1) if (found := re.search(r"# leak: (\w+)$", line))}
BYTES = {"hook": 48 * 64 * 4, "output": 48 * 64 * 4, "loss_list": 4}  # requested in each step


@drawn.share(2)
class Leaks(RecordingTest):
    def judged(self, program: Path, *arguments: str) -> Dict[str, Any]:
        trace = self.recorded([python(), str(program), *arguments], ["--stacks", "python"], env=simulated_device.environment(python()))
        return recorded_run.ask("leaks", str(trace))

    def check(self, names: List[str]) -> None:
        answer = self.judged(LEAKING, *names)
        lines = {int(found[1]): leak for leak in answer["leaks"] if (found := re.search(r"leaking\.py:(\d+)", leak["line"] or ""))}
        self.assertEqual({name for name, line in LINES.items() if line in lines}, set(names), answer["leaks"])
        self.assertEqual(len(answer["leaks"]), len(names), answer["leaks"])
        for name in names:
            leak = lines[LINES[name]]
            self.assertEqual(leak["kept_by"], "autograd_graph" if name == "graph" else "program", name)
            self.assertEqual(leak["memory"], "pinned_host" if name == "pinned" else "device", name)
            if name in BYTES:
                self.assertEqual(leak["bytes_per_step"], BYTES[name], name)

    def test_planted_leaks_are_found_with_their_lines(self) -> None:
        self.check(list(LINES))
        for name in LINES if os.environ.get("VRAMSCOPE_TEST_EVERY") else ():
            with self.subTest(name):
                self.check([name])

    def test_a_healthy_loop_has_none(self) -> None:
        answer = self.judged(HERE / "healthy.py")
        self.assertEqual(answer["leaks"], [])
        self.assertGreaterEqual(answer["last_judged_step"], 16)


if __name__ == "__main__":
    recorded_run.main()
