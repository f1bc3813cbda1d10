#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hooks of TensorFlow's allocators, without TensorFlow: a program with a library that has the same symbols. The oracle is what the program prints."""

import sys
from pathlib import Path
from typing import Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import Event, RecordingTest, ask, target  # noqa: E402

CPU, GPU_1 = 0x0FF, 0x101
PROVEN, MISSING = 2, 0
OPERATORS = "TensorFlow's_operator_of_each_allocation"


class HooksTest(RecordingTest):
    def record(self, program: str) -> None:
        done = recorded_run.record(self.folder / "run.vms", [target(program)])
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.said = [line.split() for line in done.stdout.decode().splitlines()]
        self.trace = self.folder / "run.vms"

    def blocks(self) -> List[Event]:
        return list(recorded_run.events(self.trace, "alloc"))

    def coverage(self) -> Dict[str, Tuple[int, str]]:
        return {event.fields[0]: (event.number(1), event.fields[2]) for event in recorded_run.events(self.trace, "coverage")}

    def test_every_tensor_is_recorded_and_nothing_else(self) -> None:
        self.record("tensorflow_target")
        expected = [(int(address), GPU_1 if device == "gpu" else CPU) for device, address, *_ in self.said if device != "failed"]
        self.assertEqual([(event.number(0), event.number(2)) for event in self.blocks()], expected)
        self.assertEqual([event.number(1) for event in self.blocks()], [4096, 300_032, 1024, 5120], "rounded as the allocator rounds")
        self.assertEqual([event.number(5) for event in self.blocks()], [0, 300_000, 1000, 5000], "as requested, if that is less")
        self.assertEqual([event.number(0) for event in recorded_run.events(self.trace, "free")], [address for address, _ in expected])

    def test_a_block_has_the_operator_that_allocated_it(self) -> None:
        self.record("tensorflow_target")
        self.assertEqual(self.coverage()[OPERATORS][0], PROVEN)
        stacks = {owner["name"]: owner["bytes"] for owner in ask("report", str(self.trace), "--device", "cuda:1")["owners"] if owner["kind"] == "stack"}
        self.assertEqual(stacks, {"gradient_tape/mlp/fc1/MatMul_1": 1024, "conv [temp]": 5120})

    def test_regions_are_segments_and_a_failure_that_matters_is_out_of_memory(self) -> None:
        self.record("tensorflow_target")
        segments = [(event.number(1), event.number(2), event.number(4)) for event in recorded_run.events(self.trace, "segment")]
        self.assertEqual(segments, [(300_288, CPU, 1), (300_288, CPU, 0), (1280, GPU_1, 1), (5376, GPU_1, 1), (1280, GPU_1, 0), (5376, GPU_1, 0)])
        failed = list(recorded_run.events(self.trace, "out_of_memory"))
        self.assertEqual([(event.number(0), event.number(3)) for event in failed], [(3 << 20, GPU_1)])

    def test_an_annotation_of_another_layout_is_not_read(self) -> None:
        self.record("tensorflow_target_of_another_layout")
        self.assertEqual(self.coverage()[OPERATORS], (MISSING, "its_layout_in_this_release_of_TensorFlow_is_unknown"))
        self.assertEqual([event.number(1) for event in self.blocks()], [4096, 300_032, 1024, 5120])
        self.assertEqual({event.number(4) for event in self.blocks()}, {0})


if __name__ == "__main__":
    recorded_run.main()
