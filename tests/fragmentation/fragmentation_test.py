#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope frag` against a brute-force recomputation of the same snapshots, and against what PyTorch says of itself."""

import json
import os
import random
import subprocess
import sys
import unittest
from typing import Any, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle  # noqa: E402

VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]
SNAPSHOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data/snapshots")
MOMENTS = int(os.environ.get("VRAMSCOPE_TEST_MOMENTS", "8"))  # random moments of each snapshot; 100 for the published check
SEED = int(os.environ.get("VRAMSCOPE_TEST_SEED", random.randrange(1 << 30)))


def frag(path: str, *options: str) -> Dict[str, Any]:
    done = subprocess.run([VRAMSCOPE, "frag", path, "--json", *options], stdout=subprocess.PIPE, check=True)
    answer: Dict[str, Any] = json.loads(done.stdout)
    return answer


def shared(name: str) -> str:
    path = os.path.join(SNAPSHOTS, name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{path} is not here: recordings of others are not part of the repository")
    return path


def sums_up(moment: Dict[str, Any]) -> bool:
    whole: int = moment["reserved_bytes"] - moment["requested_bytes"]
    return sum(moment["decomposition"].values()) == whole


class SharedSnapshots(unittest.TestCase):
    NAMES = (
        "medium_ctx128_training",
        "medium_ctx512_training",
        "medium_ctx128_inference",
        "medium_ctx1024_inference",
        "small_from_empty",
        "forward_fp32_ctx128",
        "forward_bf16_ctx128",
        "oom_segments_only",
        "inconsistent",
    )

    def random_times(self, snapshot: Dict[str, Any]) -> List[int]:
        events = snapshot["device_traces"][0]
        chance = random.Random(SEED)
        start = events[0].get("time_us", 0) if events else 0
        return sorted({(event["time_us"] - start) * 1000 for event in chance.choices(events, k=MOMENTS) if "time_us" in event})

    def test_the_decomposition_sums_to_the_byte_on_every_shared_snapshot(self) -> None:
        for name in self.NAMES:
            path = shared(name + ".pickle")
            times = self.random_times(oracle.load(path))
            answer = frag(path, *(word for time in times for word in ("--at", str(time))))
            with self.subTest(name=name, seed=SEED):
                for moment in [answer, *answer["moments"]]:
                    self.assertTrue(sums_up(moment), moment)

    def test_each_cause_is_what_a_recomputation_from_the_pickle_says(self) -> None:
        for name in self.NAMES:
            if name == "inconsistent":  # has no state to go back to; its end is checked below
                continue
            path = shared(name + ".pickle")
            snapshot = oracle.load(path)
            times = self.random_times(snapshot)
            answer = frag(path, *(word for time in times for word in ("--at", str(time))), "--points", "0")
            asked = {moment["event"]: moment for moment in answer["moments"]}
            slow = oracle.Memory(snapshot)
            for event in sorted(asked):
                slow.forward_to(event)
                with self.subTest(name=name, event=event, seed=SEED):
                    self.assertEqual(asked[event]["reserved_bytes"], slow.reserved())
                    self.assertEqual(asked[event]["requested_bytes"], slow.requested())
                    self.assertEqual(asked[event]["decomposition"], {**asked[event]["decomposition"], **slow.causes()})

    def test_the_end_is_what_pytorch_wrote_beside_the_blocks(self) -> None:
        for name in self.NAMES:
            path = shared(name + ".pickle")
            segments = oracle.load(path)["segments"]
            end = frag(path, "--at", "end")
            with self.subTest(name=name):
                self.assertEqual(end["reserved_bytes"], sum(s["total_size"] for s in segments))
                if name == "inconsistent":
                    continue
                self.assertEqual(end["allocated_bytes"], sum(s["allocated_size"] for s in segments))
                self.assertEqual(end["active_bytes"], sum(s["active_size"] for s in segments))
                if "requested_size" in segments[0]:
                    self.assertEqual(end["requested_bytes"], sum(s["requested_size"] for s in segments))
                self.assertEqual(sum(answer["runs"] for answer in end["free_runs"]), sum(b["state"] == "inactive" for s in segments for b in s["blocks"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
