#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `vramscope frag` with a brute-force recomputation from the same snapshots, and with PyTorch's own figures."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from typing import Any, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle  # noqa: E402

VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]
SNAPSHOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data/snapshots")
MOMENTS = int(os.environ.get("VRAMSCOPE_TEST_MOMENTS", "8"))  # random moments of each snapshot; 100 for the published check
SEED = int(os.environ.get("VRAMSCOPE_TEST_SEED", random.randrange(1 << 30)))


def ask(verb: str, path: str, *options: str, code: int = 0) -> Dict[str, Any]:
    done = subprocess.run([VRAMSCOPE, verb, path, "--json", *options], stdout=subprocess.PIPE, check=False)
    assert done.returncode == code, f"{verb} {path} ended with {done.returncode}"
    answer: Dict[str, Any] = json.loads(done.stdout)
    return answer


def frag(path: str, *options: str) -> Dict[str, Any]:
    return ask("frag", path, *options)


def dry_run(trace: str, *command: str) -> None:
    """Records the command on a simulated device. How it ends does not matter."""
    subprocess.run([VRAMSCOPE, "dryrun", "--gpu", "rtx-3060", "-o", trace, "--", os.environ["VRAMSCOPE_TEST_PYTHON"], *command],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


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
                if name == "inconsistent":  # its own sums are not those of its blocks
                    blocks = [b for s in segments for b in s["blocks"]]
                    self.assertEqual(end["allocated_bytes"], sum(b["size"] for b in blocks if b["state"] == "active_allocated"))
                    self.assertGreater(end["troubles"]["outside_segments"], 0)
                    continue
                self.assertEqual(end["troubles"]["first_event"], None)
                self.assertEqual(end["allocated_bytes"], sum(s["allocated_size"] for s in segments))
                self.assertEqual(end["active_bytes"], sum(s["active_size"] for s in segments))
                if "requested_size" in segments[0]:
                    self.assertEqual(end["requested_bytes"], sum(s["requested_size"] for s in segments))
                self.assertEqual(sum(answer["runs"] for answer in end["free_runs"]), sum(b["state"] == "inactive" for s in segments for b in s["blocks"]))

    def test_without_a_history_the_autopsy_says_what_is_not_known(self) -> None:
        autopsy = ask("oom", shared("oom_segments_only.pickle"), code=3)
        self.assertEqual((autopsy["verdict"], autopsy["request"], autopsy["trials"]), ("unknown", None, []))
        self.assertEqual(len(autopsy["unknown"]), 3)
        self.assertEqual(autopsy["state"]["free_bytes"], autopsy["free"]["same_domain_bytes"] + autopsy["free"]["other_size_class_bytes"])


class AProgramThatFails(unittest.TestCase):
    """One program on the simulated device, recorded by vramscope and by PyTorch, with PyTorch's own allocator as the oracle."""

    # Expandable segments last: all other settings are reset by PyTorch itself when it gets new ones.
    SETTINGS = ("max_split_size_mb:512", "max_split_size_mb:128", "roundup_power2_divisions:8", "expandable_segments:True")
    folder: "tempfile.TemporaryDirectory[str]"

    @classmethod
    def setUpClass(cls) -> None:
        if "VRAMSCOPE_TEST_PYTHON" not in os.environ:
            raise unittest.SkipTest("VRAMSCOPE_TEST_PYTHON is not set")
        cls.folder = tempfile.TemporaryDirectory()
        cls.base = os.path.join(cls.folder.name, "run")
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")
        dry_run(cls.base + ".vms", program, cls.base, *cls.SETTINGS)
        with open(cls.base + ".json", encoding="utf-8") as file:
            cls.facts: Dict[str, Any] = json.load(file)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def check_end(self, path: str, facts: Dict[str, Any]) -> Dict[str, Any]:
        end = frag(path, "--at", "end")
        stats = facts["stats"]
        for key, name in (("reserved_bytes", "reserved_bytes"), ("allocated_bytes", "allocated_bytes"), ("active_bytes", "active_bytes"),
                          ("requested_bytes", "requested_bytes")):
            self.assertEqual(end[key], stats[name + ".all.current"], key)
        self.assertEqual(end["decomposition"]["releasable_bytes"], facts["released"], "what empty_cache gave back")
        self.assertGreater(facts["released"], 0)
        self.assertGreater(end["stranded_bytes"], 0)
        self.assertGreater(len({domain["stream"] for domain in end["domains"]}), 1)
        for moment in end["moments"]:
            self.assertTrue(sums_up(moment))
        self.assertEqual(sum(count for key, count in end["troubles"].items() if key != "first_event"), 0)
        return end

    def test_the_end_is_what_memory_stats_counts_and_empty_cache_returns(self) -> None:
        end = self.check_end(self.base + ".pickle", self.facts["default"])
        self.assertEqual(end["stranded_bytes"], self.facts["default"]["stats"]["inactive_split_bytes.all.current"])

    def test_in_expandable_memory_too(self) -> None:
        end = self.check_end(self.base + ".last.pickle", self.facts["last"])
        self.assertTrue(all(segment["expandable"] for segment in end["segments"]))

    def test_the_trace_says_of_each_failure_what_the_snapshot_says(self) -> None:
        of_snapshot = ask("oom", self.base + ".pickle")
        of_trace = ask("oom", self.base + ".vms", "--number", str(of_snapshot["failures"]))
        for key in ("verdict", "reproduced", "shortfall_bytes"):
            self.assertEqual(of_trace[key], of_snapshot[key], key)
        for key in ("rounded_bytes", "segment_bytes"):
            self.assertEqual(of_trace["request"][key], of_snapshot["request"][key])
        for key in ("driver_bytes", "largest_block_bytes"):
            self.assertEqual(of_trace["free"][key], of_snapshot["free"][key])
        for key in ("reserved_bytes", "allocated_bytes", "requested_bytes", "decomposition"):
            self.assertEqual(of_trace["state"][key], of_snapshot["state"][key])
        self.assertGreater(of_trace["state"]["decomposition"]["rounding_512_bytes"], 0)
        self.assertGreater(len({domain["stream"] for domain in of_trace["state"]["domains"]}), 1, "streams are recorded")
        self.assertEqual([segment["held_back_bytes"] for segment in of_trace["segments"]], [segment["held_back_bytes"] for segment in of_snapshot["segments"]])

    def test_pytorch_under_each_setting_ends_as_the_replay_says(self) -> None:
        autopsy = ask("oom", self.base + ".pickle")
        self.assertEqual(autopsy["verdict"], "setting")
        self.assertTrue(autopsy["reproduced"])
        replayed = {trial["settings"]: trial["result"] for trial in autopsy["trials"]}
        self.assertEqual({settings: replayed[settings] for settings in self.SETTINGS}, self.facts["ends"])
        self.assertEqual(set(self.facts["ends"].values()) >= {"fits", "fails"}, True, "both answers occur")

    def test_a_run_that_was_killed_right_after_is_examined_to_its_end(self) -> None:
        autopsy = ask("oom", self.base + ".vms")
        self.assertEqual(autopsy["request"]["rounded_bytes"], 64 << 30)
        self.assertEqual(autopsy["verdict"], "true_shortage")
        free = autopsy["free"]["driver_bytes"] + autopsy["state"]["free_bytes"]
        self.assertEqual(autopsy["shortfall_bytes"], (64 << 30) - free)


class ARecordedSample(unittest.TestCase):
    def test_at_any_moment_the_layout_has_the_bytes_that_the_report_has(self) -> None:
        if "VRAMSCOPE_TEST_PYTHON" not in os.environ:
            self.skipTest("VRAMSCOPE_TEST_PYTHON is not set")
        sample = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/gpt.py")
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "gpt.vms")
            dry_run(trace, sample, "--device", "cuda", "--steps", "3")
            end = ask("info", trace)["last_time_ns"]
            chance = random.Random(SEED)
            times = [str(chance.randrange(end)) for _ in range(MOMENTS)]
            words = ["peak", "reserved", "step:2", "end", "event:500"]
            asked = [word for moment in times + words for word in ("--at", moment)]
            layout = frag(trace, "--at", "reserved", *asked)
            report = ask("report", trace, *asked)
            replayed = ask("replay", trace)
        moments = {moment["at"]: moment for moment in layout["moments"]}
        for expected in report["moments"]:
            found = moments[expected["at"]]
            with self.subTest(at=expected["at"], seed=SEED):
                self.assertEqual(found["allocated_bytes"], expected["allocated_bytes"])
                self.assertEqual(found["reserved_bytes"], expected["reserved_bytes"] or 0)
                self.assertEqual(found["trace_event"] <= expected["trace_event"], True, "the last event of the allocator at or before it")
                self.assertTrue(sums_up(found))
        self.assertEqual(sum(count for key, count in layout["troubles"].items() if key != "first_event"), 0)
        self.assertEqual(replayed["events_exact"], replayed["events_total"], replayed["first_divergence"])
        self.assertGreater(layout["decomposition"]["rounding_512_bytes"], 0, "requests are recorded")
        self.assertTrue(any(pin["name"] for segment in layout["segments"] for pin in segment["pinned_by"]), "tensors have names")


if __name__ == "__main__":
    unittest.main(verbosity=2)
