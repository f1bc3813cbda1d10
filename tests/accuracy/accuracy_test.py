# SPDX-License-Identifier: Apache-2.0
"""Public training programs allocate on the simulated device what their authors recorded on real GPUs, event for event.

Needs VRAMSCOPE_RECORDINGS, a folder with the repositories (measure.py --cache), and among VRAMSCOPE_TEST_PYTHONS one with PyTorch 2.11 and
the packages of the programs; skipped otherwise.
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Optional

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import compare  # noqa: E402
import measure  # noqa: E402
import recorded_run  # noqa: E402
from recordings import by_name  # noqa: E402

MOST_ALLOCATED_ERROR = 0.0001


def python_with(release: str) -> Optional[str]:
    for python in recorded_run.pythons():
        ask = "import importlib.metadata as m; print(m.version('torch'))"
        done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
        if done.stdout.startswith(release + "."):
            return python
    return None


class Recorded(unittest.TestCase):
    def measure(self, name: str) -> compare.Row:
        recording = by_name()[name]
        cache, python = os.environ.get("VRAMSCOPE_RECORDINGS"), python_with(recording.torch)
        if not cache or not python:
            self.skipTest(f"needs VRAMSCOPE_RECORDINGS and a Python with PyTorch {recording.torch}")
        try:
            return measure.measure(recording, Path(cache), python)
        except measure.CannotMeasure as reason:
            self.fail(str(reason))

    def check(self, name: str) -> None:
        row = self.measure(name)
        self.assertEqual(row.same_events, row.events)
        self.assertLessEqual(abs(row.allocated_error), MOST_ALLOCATED_ERROR)
        self.assertEqual(row.reserved_error, 0)

    def test_a_transformer_in_fp32_is_as_it_was_recorded(self) -> None:
        self.check("medium_ctx128_training")

    def test_a_transformer_under_autocast_is_as_it_was_recorded(self) -> None:
        self.check("medium_ctx512_training")

    def test_inference_is_as_it_was_recorded(self) -> None:
        self.check("medium_ctx1024_inference")


class Comparison(unittest.TestCase):
    """Tests of compare.py itself."""

    @staticmethod
    def snapshot(*events: "tuple[str, int]", alive: int = 0) -> dict:
        return {"device_traces": [[], [{"action": action, "size": size} for action, size in events]],
                "segments": [{"total_size": 4096, "blocks": [{"state": "active_allocated", "size": alive}]}]}

    def test_the_peak_is_walked_back_from_the_end(self) -> None:
        snapshot = self.snapshot(("alloc", 512), ("alloc", 1024), ("free_requested", 512), ("free_completed", 512), alive=1024)
        self.assertEqual(compare.peak_allocated(snapshot), 1536)

    def test_a_history_that_goes_on_longer_is_not_the_same(self) -> None:
        one = self.snapshot(("alloc", 512), alive=512)
        other = self.snapshot(("alloc", 512), ("alloc", 512), alive=1024)
        row = compare._snapshots(one, other)
        self.assertLess(row.same_events, row.events)

    def test_frees_that_follow_one_another_may_swap(self) -> None:
        allocated = (("alloc", 512), ("alloc", 1024))
        one = self.snapshot(*allocated, ("free_requested", 512), ("free_requested", 1024), ("alloc", 512), alive=512)
        swapped = self.snapshot(*allocated, ("free_requested", 1024), ("free_requested", 512), ("alloc", 512), alive=512)
        other = self.snapshot(*allocated, ("free_requested", 1024), ("alloc", 512), ("free_requested", 512), alive=512)
        self.assertTrue(compare._snapshots(one, swapped).frees_swapped)
        self.assertFalse(compare._snapshots(one, one).frees_swapped)
        self.assertFalse(compare._snapshots(one, other).frees_swapped)

    def test_printed_figures_are_known_by_what_they_are_of(self) -> None:
        patterns = [r"ctx (?P<length>\d+): (?P<allocated_mib>[\d.]+) of (?P<reserved_gib>[\d.]+)"]
        row = compare.compare("text", b"ctx 128: 100 of 2\nctx 256: 200 of 4", b"ctx 256: 202 of 4\nctx 128: 1 of 1\nctx 128: 100 of 1.9",
                              patterns, patterns)
        self.assertEqual((row.allocated, row.reserved, row.figures), (200 << 20, 4 << 30, 2))
        self.assertAlmostEqual(row.allocated_error, 0.01)
        self.assertAlmostEqual(row.reserved_error, -0.05)

    def test_a_program_that_prints_nothing_of_it_has_no_row(self) -> None:
        with self.assertRaises(ValueError):
            compare.compare("text", b"peak 5", b"killed", [r"peak (?P<allocated_mib>\d+)"], [r"peak (?P<allocated_mib>\d+)"])

    def test_a_recording_that_wants_to_run_code_is_refused(self) -> None:
        import pickle

        with self.assertRaises(pickle.UnpicklingError):
            compare.load_snapshot(pickle.dumps(Path("x")))


if __name__ == "__main__":
    recorded_run.main()
