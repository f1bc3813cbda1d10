# SPDX-License-Identifier: Apache-2.0
"""Compares the rows of a device in `vramscope report` with the simulated device's own ledger and PyTorch's own counters, to the byte.
Also tests how `vramscope explain` explains them."""
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, ask, clean_environment, run, vramscope  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "program.py"
CONTEXT, PYTORCH = "", "libc10_cuda.so"  # as the ledger calls them; the rest is the program's own
CODE = ("kernels", "printf", "cublasCreate")  # calls of the ledger


class DeviceRows(RecordingTest):
    def simulated(self, **variables: str) -> Tuple[Path, List[Dict[str, Any]]]:
        """The trace of the program on the device, and its notes."""
        trace, notes = self.folder / "run.vms", self.folder / "notes.jsonl"
        command = [vramscope(), "dryrun", "--gpu", "a100-40gb", "--steps", "all", "--depth", "light", "-o", str(trace), "--json", "--",
                   recorded_run.python(), str(PROGRAM), str(notes)]
        done = run(command, env=clean_environment(**variables), timeout=900)
        if done.code == 2 and b"PyTorch" in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.code, 1, "the last allocation does not fit\n" + done.stderr.decode())
        if ask("info", str(trace))["driver"]["calls"] == 0:
            self.skipTest("this build does not record calls of the CUDA driver")
        return trace, [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]

    def report(self, trace: Path, notes: List[Dict[str, Any]]) -> Dict[str, Any]:
        at = [word for note in notes for word in ("--at", f"mono:{note['monotonic_ns']}")]
        return ask("report", str(trace), *at)

    def assert_rows_are_the_ledger(self, notes: List[Dict[str, Any]], answer: Dict[str, Any]) -> None:
        self.assertGreater(len(notes), 12)
        for note, moment in zip(notes, answer["moments"]):
            live: Dict[str, int] = {}
            for row in note["ledger"]["rows"]:
                library = CONTEXT if row["call"] in CODE else row["library"]
                live[library] = live.get(library, 0) + row["live_bytes"]
            rows = moment["driver"]
            with self.subTest(moment=note["moment"]):
                self.assertEqual(moment["device_used_bytes"], note["ledger"]["live_bytes"])
                self.assertEqual(sum(rows.values()), note["ledger"]["live_bytes"])
                self.assertEqual(rows["context"], live[CONTEXT])
                self.assertEqual(rows["pytorch_allocated"], note["allocated"])
                self.assertEqual(rows["pytorch_allocated"] + rows["pytorch_cached"], live[PYTORCH])
                self.assertEqual(live[PYTORCH], note["reserved"])
                self.assertEqual(rows["user"] + rows["rounding"], note["ledger"]["live_bytes"] - live[CONTEXT] - live[PYTORCH])
                self.assertEqual(rows["unattributed"], 0)
        self.assertEqual(answer["devices"][0]["peak_device_used_bytes"], notes[-1]["ledger"]["peak_bytes"])
        for anomaly in ("driver_double_allocs", "driver_unknown_frees", "blocks_outside_segments", "segment_mismatches",
                        "driver_mismatches", "driver_below_rows"):
            self.assertEqual(answer["anomalies"][anomaly], 0, anomaly)

    def test_segments_of_cuda_malloc(self) -> None:
        trace, notes = self.simulated()
        answer = self.report(trace, notes)
        self.assert_rows_are_the_ledger(notes, answer)
        self.assertGreaterEqual(answer["host_memory"]["pinned"]["peak_pytorch_bytes"], 8 << 20, "a batch")

        explained = ask("explain", str(trace))
        self.assertEqual(explained["device_used_bytes"], answer["peak"]["device_used_bytes"])
        self.assertEqual(explained["difference_bytes"], explained["device_used_bytes"] - explained["allocated_bytes"])
        self.assertEqual(sum(row["bytes"] for row in explained["between"]), explained["difference_bytes"])
        text = run([vramscope(), "explain", str(trace)]).stdout.decode()
        self.assertIn("cached by PyTorch", " ".join(text.split()))
        self.assertIn("Context and code", text)

    def test_without_a_cache_all_that_pytorch_took_are_its_tensors(self) -> None:
        trace, notes = self.simulated(PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        explained = ask("explain", str(trace))
        self.assertGreaterEqual(explained["allocated_bytes"], 300 << 20, "the large tensor")
        self.assertEqual(explained["difference_bytes"], explained["device_used_bytes"] - explained["allocated_bytes"])
        self.assertNotIn("pytorch_cached", [row["row"] for row in explained["between"]])
        self.assertIn("PYTORCH_NO_CUDA_MEMORY_CACHING is set", explained["explanation"])
        self.assertIn("so no block on a GPU is recorded", run([vramscope(), "info", str(trace)]).stdout.decode())

    def test_expandable_segments(self) -> None:
        settings = "expandable_segments:True"
        trace, notes = self.simulated(PYTORCH_CUDA_ALLOC_CONF=settings, PYTORCH_ALLOC_CONF=settings)
        self.assert_rows_are_the_ledger(notes, self.report(trace, notes))


if __name__ == "__main__":
    recorded_run.main()
