#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace that is converted to a snapshot agrees with PyTorch's own snapshot of the same run."""
import pickle
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402

PROGRAM = str(Path(__file__).resolve().parent / "agreement_program.py")
Events = List[Tuple[Any, ...]]


def load(path: Path) -> Dict[str, Any]:
    with open(path, "rb") as file:
        return pickle.load(file)


def events(snapshot: Dict[str, Any], *actions: str) -> Events:
    return [(event["action"], event.get("addr", event.get("device_free")), event["size"], event["stream"])
            for event in snapshot["device_traces"][0] if event["action"] in actions]


def segments(snapshot: Dict[str, Any]) -> Events:
    return sorted((segment["address"], segment["total_size"], segment["allocated_size"], segment["active_size"], segment["requested_size"],
                   segment["stream"], segment["segment_type"], segment["is_expandable"],
                   [(block["size"], block["state"]) for block in segment["blocks"]]) for segment in snapshot["segments"])


def python_stacks(snapshot: Dict[str, Any]) -> List[List[Tuple[str, str, int]]]:
    return [[(frame["name"], frame["filename"], frame["line"]) for frame in event["frames"]]
            for event in snapshot["device_traces"][0] if event["action"] == "alloc"]


class Agreement(recorded_run.RecordingTest):
    def test_a_converted_trace_agrees_with_the_snapshot_that_pytorch_writes(self) -> None:
        for conf in ("", "expandable_segments:True"):
            with self.subTest(settings=conf):
                self.compare(conf)

    def compare(self, conf: str) -> None:
        theirs, trace, ours = (self.folder / (conf[:10] + name) for name in ("theirs.pickle", "run.vms", "ours.pickle"))
        command = [recorded_run.vramscope(), "dryrun", "--gpu", "rtx-4090", "--steps", "all", "--depth", "all", "--stacks", "python", "-o", str(trace),
                   "--", recorded_run.python(), PROGRAM, str(theirs)]
        recorded_run.run(command, env=recorded_run.clean_environment(PYTORCH_CUDA_ALLOC_CONF=conf))  # its exit code is not 0: a request fails
        converted = recorded_run.run([recorded_run.vramscope(), "convert", str(trace), str(ours)])
        self.assertEqual(converted.code, 0, converted.stderr.decode())
        whole, made = load(theirs), load(ours)
        for action in ("segment_alloc", "segment_map", "segment_free", "segment_unmap", "alloc", "free_requested", "free_completed", "oom"):
            self.assertEqual(events(made, action), events(whole, action), action)
        self.assertEqual(segments(made), segments(whole))
        self.assertEqual(made["allocator_settings"], whole["allocator_settings"])
        recorded = python_stacks(made)
        told = python_stacks(whole)
        known = [number for number, stack in enumerate(recorded) if stack]
        self.assertGreater(len(known), len(recorded) // 2)
        for number in known:
            self.assertEqual(recorded[number], told[number])


if __name__ == "__main__":
    recorded_run.main()
