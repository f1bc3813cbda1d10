#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hooks of JAX's plug-in, without JAX: a program with a plug-in of the same interface. The oracle is the plug-in's own count of bytes in use."""

import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import Event, RecordingTest, ask, target  # noqa: E402

GPU_0, GPU_1 = 0x100, 0x101
MISSING, HOOKED = 0, 1
TABLE = "JAX's_table_of_functions_(PJRT)"
OWN = 4096  # bytes that the plug-in's allocator holds for itself on each device


class HooksTest(RecordingTest):
    def record(self, plugin: str = "stand_in_cuda_plugin") -> None:
        command = [target("jax_target"), target(f"lib{plugin}.so")]
        done = recorded_run.record(self.folder / "run.vms", command)
        self.assertEqual(done.code, 0, done.stderr.decode())
        self.said = dict(line.split() for line in done.stdout.decode().splitlines())
        self.trace = self.folder / "run.vms"
        plain = subprocess.run(command, capture_output=True, check=True)
        self.assertEqual(done.stdout, plain.stdout, "the program is undisturbed")

    def of(self, kind: str, device: int = GPU_1) -> List[Event]:
        return [event for event in recorded_run.events(self.trace, kind) if event.number(2) == device]

    def coverage(self) -> Dict[str, Tuple[int, str]]:
        return {event.fields[0]: (event.number(1), event.fields[2]) for event in recorded_run.events(self.trace, "coverage")}

    def totals(self) -> Dict[str, int]:
        """The bytes of all recorded blocks of device 1 when the step ended, the most before, and at the end."""
        live: Dict[int, int] = {}
        found = {"step": -1, "peak": 0}
        for event in recorded_run.events(self.trace, "alloc", "free", "mark"):
            if event.type == "mark":
                found["step"] = sum(live.values())
            elif event.number(2) == GPU_1 and event.type == "alloc":
                self.assertNotIn(event.number(0), live)
                live[event.number(0)] = event.number(1)
                found["peak"] = max(found["peak"], sum(live.values()))
            elif event.number(2) == GPU_1:
                del live[event.number(0)]
        return {**found, "end": sum(live.values())}

    def test_the_blocks_add_up_to_the_bytes_in_use(self) -> None:
        self.record()
        self.assertEqual(self.coverage()[TABLE][0], HOOKED)
        totals = self.totals()
        self.assertEqual(totals["step"], int(self.said["step"]))
        self.assertEqual(totals["end"], int(self.said["end"]))
        self.assertEqual(totals["peak"], OWN + 768 + 8192, "what compilation tries is the peak of this program")

    def test_an_execution_has_its_temporaries_and_results_take_over_donated_memory(self) -> None:
        self.record()
        temporaries = [event for event in self.of("alloc") if event.number(5) == 1000 and event.number(0) >> 40 != 0x70]
        self.assertEqual([event.number(1) for event in temporaries], [1024, 1024], "one for each execution, also for the one that failed")
        at_peak = {owner["name"] for owner in ask("report", str(self.trace), "--device", "cuda:1")["owners"] if owner["kind"] == "stack"}
        self.assertIn("jit_step [autotuning]", at_peak)
        addresses = [event.number(0) for event in self.of("alloc")]
        renewed = [address for address in set(addresses) if addresses.count(address) == 2 and address >> 40 == 0x70]
        self.assertEqual(len(renewed), 1, "the result in the memory of the donated argument")
        self.assertEqual([event.number(5) for event in self.of("alloc") if event.number(0) == renewed[0]], [1000, 1000])

    def test_arguments_and_results_are_labeled(self) -> None:
        self.record()
        labels = [(event.number(2), event.fields[4], event.number(1)) for event in recorded_run.events(self.trace, "label")][1:]
        self.assertEqual(labels[:4], [(1, "params.w", 1000), (4, "state.mu_of_params.w", 1000), (5, "x", 700), (1, "params.w", 1000)])

    def test_memory_of_the_host_and_of_others_is_no_block(self) -> None:
        self.record()
        requested = {event.number(5) or event.number(1) for event in self.of("alloc")}
        self.assertFalse(requested.intersection({5000, 512}))

    def test_a_failed_execution_is_out_of_memory(self) -> None:
        self.record()
        self.assertEqual(self.said["failed"], "1")
        self.assertEqual([(event.number(0), event.number(3)) for event in recorded_run.events(self.trace, "out_of_memory")], [(1000, GPU_1)])

    def test_a_table_of_an_unknown_version_is_left_alone(self) -> None:
        self.record("stand_in_cuda_plugin_of_another_version")
        self.assertEqual(self.coverage()[TABLE], (MISSING, "the_plug-in's_version_of_the_interface_is_unknown"))
        self.assertEqual(self.of("alloc"), [])


if __name__ == "__main__":
    recorded_run.main()
