# SPDX-License-Identifier: Apache-2.0
"""CUPTI as a second way to watch the driver, with a stand-in for libcupti that, like the real one, accepts only one subscriber.

The oracle is the program: it knows which driver calls it made, and prints the results of its own CUPTI client.
"""
import sys
from pathlib import Path
from typing import Dict, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import Finished, RecordingTest, clean_environment, run, target

DEVICE = 1 << 8 | 3  # the stand-in's context is on CUDA device 3
MIB = 1 << 20


class Cupti(RecordingTest):
    def watch(self, what: str, mode: str = "on", **environment: str) -> Finished:
        self.trace = self.folder / "run.vms"
        return recorded_run.record(self.trace, [target("cupti_client"), what], ["--cupti", mode], env=clean_environment(**environment))

    def coverage(self) -> Dict[str, Tuple[int, str]]:
        return {event.fields[0]: (event.number(1), event.fields[2]) for event in recorded_run.events(self.trace, "coverage")}

    def taken(self) -> List[int]:
        return [event.number(1) for event in recorded_run.events(self.trace, "driver_alloc") if event.number(7) == 0]

    def test_every_call_is_recorded_as_the_hooks_would(self) -> None:
        self.assertEqual(self.watch("alone").code, 0)
        events = list(recorded_run.events(self.trace, "driver_alloc", "driver_free", "driver_map"))
        allocs = [(e.fields[4], e.number(0), e.number(1), e.number(3), e.number(6) & 0xff, e.number(6) >> 8, e.number(7))
                  for e in events if e.type == "driver_alloc"]
        self.assertEqual(sorted(allocs), sorted([
            ("cuMemAlloc_v2", 0x10000, 1000, 0, 1, 0, 0),
            ("cuMemAlloc_v2", 0, 0, 0, 1, 0, 2),
            ("cuMemAllocPitch_v2", 0x1000, 512 * 7, 0, 1, 0, 0),
            ("cuMemAllocAsync", 0x2000, 4096, 77, 3, 0, 0),
            ("cuMemAllocFromPoolAsync", 0x3000, 8192, 78, 3, 0x99, 0),
            ("cuMemCreate", 0xabc, 2 * MIB, 0, 4, 0, 0),
            ("cuMemHostRegister_v2", 0x555000, 65536, 0, 14, 0, 0),
            ("module_global_(CUPTI)", 0x60000, 64, 0, 10, 0, 0)]))
        frees = [(e.fields[3], e.number(0), e.number(5)) for e in events if e.type == "driver_free"]
        self.assertEqual(frees, [("cuMemRelease", 0xabc, 0), ("cuMemHostUnregister", 0x555000, 0), ("cuMemFree_v2", 0xdead, 0),
                                 ("cuMemFree_v2", 0xdead, 1), ("cuMemFree_v2", 0x10000, 0)])
        maps = [(e.number(0), e.number(1), e.number(3), e.number(4)) for e in events if e.type == "driver_map"]
        self.assertEqual(maps, [(0x7000000, 2 * MIB, 1, 0xabc), (0x7000000, 2 * MIB, 0, 0)])
        self.assertEqual({e.number(2) for e in events}, {DEVICE})

    def test_activity_records_are_read_and_compared(self) -> None:
        self.watch("alone")
        state, text = self.coverage()["CUPTI_and_the_driver's_hooks"]
        allocated = 1000 + 512 * 7 + 4096 + 8192 + 2 * MIB
        self.assertIn(f"callbacks:_5_allocations_of_{allocated}_bytes,_2_frees", text)
        self.assertIn(f"activity_records:_1_allocations_of_1000_bytes,_1_frees,_{1000 - allocated}_bytes", text)
        counters = [(e.fields[0], e.number(1), e.number(2)) for e in recorded_run.events(self.trace, "counter")]
        self.assertIn(("CUPTI:_bytes_kept_by_a_memory_pool", 32 * MIB, DEVICE), counters)
        self.assertIn(("CUPTI:_device_memory_alive", 0, 1 << 8 | 0xff), counters)
        self.assertIn("callbacks_of_28_driver_functions,_activity_records_read", self.coverage()["CUPTI"][1])
        # The text output shows it too.
        info = run([recorded_run.vramscope(), "info", str(self.trace)]).stdout.decode()
        self.assertIn("5 allocations of", info)

    def test_another_client_gets_the_slot_and_gives_it_back(self) -> None:
        for what in ("subscribes", "finalizes"):
            plain = run([target("cupti_client"), what])
            self.assertIn("subscribe 0, second 39, callbacks 2", plain.stdout.decode())
            recorded = self.watch(what)
            self.assertEqual(recorded.stdout, plain.stdout)
            self.assertEqual(self.taken(), [1, 4])  # 2 was taken while the other client held the slot
            self.assertIn("yielded_1_times", self.coverage()["CUPTI"][1])

    def test_another_clients_activity_buffers_are_left_to_it(self) -> None:
        plain = run([target("cupti_client"), "buffers"])
        self.assertEqual(self.watch("buffers").stdout, plain.stdout)
        self.assertEqual(self.taken(), [1, 2])

    def test_the_trace_says_when_cupti_cannot_be_had(self) -> None:
        self.watch("alone", STAND_IN_CUPTI_RESULT="39")
        self.assertEqual(self.coverage()["CUPTI"][0], 0)
        self.assertIn("another_client", self.coverage()["CUPTI"][1])
        self.watch("alone", STAND_IN_CUPTI_RESULT="999")
        self.assertIn("no_driver", self.coverage()["CUPTI"][1])

    def test_of_an_unknown_version_only_callbacks_are_used(self) -> None:
        self.watch("alone", STAND_IN_CUPTI_VERSION="990000")
        self.assertIn("not_known_and_not_read", self.coverage()["CUPTI"][1])
        self.assertIn(1000, self.taken())
        self.assertEqual(list(recorded_run.events(self.trace, "counter")), [])

    def test_auto_and_off_leave_the_slot_alone(self) -> None:
        for mode in ("auto", "off"):
            self.watch("alone", mode)
            self.assertNotIn("CUPTI", self.coverage())
            self.assertEqual(self.taken(), [])


if __name__ == "__main__":
    recorded_run.main()
