# SPDX-License-Identifier: Apache-2.0
"""`vramscope oom` reports reasons in the program before reasons in the allocator. Oracles: what runs_out.py prints about itself, the number
of the line that keeps memory, and PyTorch's own count of the optimizer's state."""
import re
import sys
from pathlib import Path
from typing import Any, Dict, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import drawn
import recorded_run
from recorded_run import RecordingTest, python

PROGRAM = Path(__file__).resolve().parent / "runs_out.py"
LINE = next(number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.endswith("# kept"))
MIB = 1 << 20


@drawn.share(2)
class RunsOut(RecordingTest):
    def autopsy(self, reason: str, capacity: str) -> Tuple[Dict[str, Any], str]:
        """The answer, and what the program printed."""
        trace = self.folder / "run.vms"
        environment = simulated_device.environment(python(), gpu="rtx-4090", VRAMSCOPE_SIMULATED_CAPACITY=capacity)
        done = recorded_run.record(trace, [python(), str(PROGRAM), reason], ["--stacks", "python"], env=environment)
        return recorded_run.ask("oom", str(trace)), done.stdout.decode()

    def test_what_every_step_keeps_is_the_reason(self) -> None:
        answer, _ = self.autopsy("growth", "2GiB")
        self.assertEqual(answer["verdict"], "growth", answer["verdict_sentence"])
        growth = answer["growth"][0]
        self.assertRegex(growth["line"], rf"runs_out\.py:{LINE}\b")
        self.assertEqual((growth["every_steps"], growth["bytes_each_time"], growth["first_step"]), (1, 128 * MIB, 1))
        self.assertEqual(growth["bytes"], growth["steps"] * 128 * MIB)
        self.assertEqual(answer["steps_more"], 0)
        self.assertNotIn("input", {holder["category"] for holder in answer["holders"] if holder["bytes"] >= 128 * MIB})

    def test_state_that_is_still_to_come_counts(self) -> None:
        answer, printed = self.autopsy("state", "940MiB")
        made = re.search(r"made (\d+)", printed)
        assert made is not None, printed
        state = [holder for holder in answer["holders"] if holder["category"] == "optimizer_state"]
        missing = 2 * 8 * 16 * MIB - int(made[1])
        self.assertGreater(sum(holder["bytes"] for holder in state), 0)
        self.assertEqual(answer["upcoming"]["bytes"] + answer["request"]["rounded_bytes"], missing)
        self.assertEqual(answer["verdict"], "true_shortage", answer["verdict_sentence"])
        self.assertNotIn("fits", {trial["result"] for trial in answer["trials"]})

    def test_what_caught_errors_hold_is_told_first(self) -> None:
        answer, _ = self.autopsy("failures", "1200MiB")
        self.assertEqual(answer["verdict"], "failed_steps", answer["verdict_sentence"])
        self.assertEqual(answer["left_by_failures_bytes"], 620 * MIB)


if __name__ == "__main__":
    recorded_run.main()
