# SPDX-License-Identifier: Apache-2.0
"""Host memory in `vramscope report`: a data loader whose workers keep as much as the test requests."""
import sys
from pathlib import Path
from typing import Any, Dict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, ask, clean_environment, run, vramscope  # noqa: E402

PIPELINE = Path(__file__).resolve().parent / "pipeline.py"
MIB = 1 << 20


class HostMemory(RecordingTest):
    def host_memory(self, workers: int, kept_bytes: int, seconds: float) -> Dict[str, Any]:
        command = [recorded_run.python(), str(PIPELINE), str(workers), str(kept_bytes), str(seconds)]
        # With this setting, a freed batch goes back to the system. On the heap, glibc cannot reuse the last batch's place
        # for an aligned block of the same size, so even a worker that keeps nothing would grow.
        environment = {**clean_environment(), "MALLOC_MMAP_THRESHOLD_": str(MIB)}
        self.trace = self.recorded(command, options=["--depth", "light"], timeout=900, env=environment)
        self.report = ask("report", str(self.trace))
        return self.report["host_memory"]

    def test_a_pipeline_that_leaks_is_told_with_its_rate(self) -> None:
        kept = 4 * MIB
        memory = self.host_memory(workers=2, kept_bytes=kept, seconds=5)
        self.assertEqual(len(memory["workers"]), 2)
        self.assertGreater(memory["main"]["peak_rss_bytes"], 100 * MIB)
        self.assertGreater(memory["main"]["peak_shared_bytes"], 4 * MIB, "a batch")
        self.assertGreater(memory["workers_peak_rss_bytes"], max(worker["peak_rss_bytes"] for worker in memory["workers"]))
        self.assertIsNotNone(memory["workers_growth"])
        # Each step takes one batch of one worker.
        self.assertGreater(memory["workers_growth"]["bytes_per_step"], kept * 0.5)
        self.assertLess(memory["workers_growth"]["bytes_per_step"], kept * 2)
        steps = len(self.report["steps"])
        self.assertLess(memory["workers_growth"]["bytes"], kept * steps * 1.5)
        text = run([vramscope(), "report", str(self.trace)]).stdout.decode()
        self.assertIn("The workers grow by", text)

    def test_one_that_does_not_is_not(self) -> None:
        memory = self.host_memory(workers=1, kept_bytes=1, seconds=2.5)
        self.assertEqual(len(memory["workers"]), 1)
        self.assertIsNone(memory["workers_growth"])


if __name__ == "__main__":
    recorded_run.main()
