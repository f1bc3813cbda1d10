#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small snapshots, each with a fact that is easily reported wrong: clocks, failures, stacks, halves of frees, notes, pinned memory."""
import json
import os
import pickle
import re
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, "..", "..", "..", "shared", "cases", "snapshots")
VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]
MIB = 1 << 20


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([VRAMSCOPE, *arguments], capture_output=True, text=True, timeout=300)


def path(name: str) -> str:
    return os.path.join(INPUTS, name + ".pickle")


def load(file: str) -> Dict[str, Any]:
    with open(file, "rb") as opened:
        return pickle.load(opened)


def answer(verb: str, name: str, *options: str) -> Dict[str, Any]:
    done = run(verb, path(name), "--json", *options)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def blocks(file: str) -> List[Tuple[Any, ...]]:
    """The segments of a snapshot, with what their blocks are."""
    return sorted((segment["device"], segment["address"], segment["total_size"], segment["stream"], segment["segment_type"],
                   [(block["size"], block["state"]) for block in segment["blocks"]]) for segment in load(file)["segments"])


def line_of(name: str) -> List[str]:
    return [owner["name"] for owner in answer("report", name)["owners"] if owner["kind"] == "stack"]


@unittest.skipUnless(os.path.isdir(INPUTS), "no small snapshots beside this checkout")
class Facts(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def out(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def test_all_devices_of_a_file_have_one_clock(self) -> None:
        at = answer("frag", "two_gpus", "--at", "1000001000")
        self.assertEqual((at["allocated_bytes"], at["reserved_bytes"]), (100 * MIB, 100 * MIB))

    def test_without_times_an_event_number_is_the_moment(self) -> None:
        report = answer("report", "no_times", "--device", "cuda:1")
        self.assertEqual((report["times"], report["peak"]["time_ns"]), ("event_numbers", 2))
        self.assertIn("at event 2", run("report", path("no_times"), "--device", "cuda:1").stdout)
        self.assertEqual(answer("frag", "no_times", "--device", "cuda:1", "--at", "2")["allocated_bytes"], 100 * MIB)
        self.assertEqual(answer("frag", "no_times", "--device", "cuda:1", "--at", "4")["allocated_bytes"], 0)

    def test_wholly_free_segments_serve_a_new_request(self) -> None:
        self.assertGreaterEqual(answer("oom", "rel")["free"]["returned_bytes"], 20 << 30)
        text = run("oom", path("rel")).stdout
        self.assertRegex(text, r"up to 20\.0 GiB +served by a new segment")
        self.assertNotIn("in one piece", text)

    def test_a_trace_that_was_made_of_a_snapshot_has_its_layout(self) -> None:
        for name in ("two_gpus", "rel", "one_step", "owner_stack", "skip_free_requested", "pend"):
            trace = self.out(f"{name}.vms")
            self.assertEqual(run("convert", path(name), trace).returncode, 0)
            for moment in ("reserved", "end"):
                ours, theirs = (json.loads(run("frag", file, "--json", "--at", moment).stdout) for file in (trace, path(name)))
                with self.subTest(snapshot=name, moment=moment):
                    for key in ("device", "reserved_bytes", "allocated_bytes", "requested_bytes", "decomposition", "peak_reserved_bytes"):
                        self.assertEqual(ours[key], theirs[key], key)

    def test_a_snapshot_that_went_through_a_trace_has_its_blocks(self) -> None:
        for file in sorted(Path(path("pend")).parent.glob("*.pickle")):
            trace, again = self.out(f"{file.stem}.vms"), self.out(f"{file.stem}.again.pickle")
            self.assertEqual([run("convert", *pair).returncode for pair in ((str(file), trace), (trace, again))], [0, 0])
            with self.subTest(snapshot=file.stem):
                self.assertEqual(blocks(again), blocks(str(file)))

    def test_recorded_figures_are_recorded_and_a_rerun_has_its_own_row(self) -> None:
        for name in ("rel", "pend", "owner_stack"):
            whatif = answer("whatif", name, "--alloc-conf", "expandable_segments:True")
            recorded = answer("frag", name)
            with self.subTest(snapshot=name):
                self.assertEqual(whatif["before"]["peak"]["reserved_peak_bytes"], recorded["peak_reserved_bytes"])
                self.assertIn("reserved_bytes", whatif["rerun"]["peak"])

    def test_what_the_optimizer_keeps_is_its_state_in_the_only_step_too(self) -> None:
        categories = answer("report", "one_step")["peak"]["categories"]
        self.assertAlmostEqual(categories["optimizer_state"] / MIB, 48.0, delta=0.2)
        self.assertAlmostEqual(categories["temporary_optimizer"] / MIB, 24.0, delta=0.2)

    def test_events_that_are_left_out_are_no_contradiction(self) -> None:
        for name in ("skip_free_requested", "only_free_completed"):
            with self.subTest(snapshot=name):
                replay = answer("replay", name)
                self.assertEqual(replay["events_exact"], replay["events_total"])
                self.assertTrue(replay["final_state_exact"])
                self.assertEqual(answer("report", name)["damage"]["sentence"], "")

    def test_paths_of_windows_are_paths(self) -> None:
        self.assertEqual(line_of("windows_paths"), ["main (C:\\proj\\train.py:12)"])
        self.assertEqual(line_of("linux_paths"), ["main (/proj/train.py:12)"])

    def test_the_stack_beside_an_owner_is_that_of_the_largest_share(self) -> None:
        owner = next(one for one in answer("report", "owner_stack")["owners"] if one["kind"] == "stack")
        self.assertEqual((owner["name"], owner["bytes"]), ("BmmBackward0", 432 * MIB))
        self.assertIn("at::_ops::bmm::call", owner["frames"])

    def test_what_a_program_writes_on_its_memory_is_shown_and_kept(self) -> None:
        names = {owner["name"]: owner["bytes"] for owner in answer("report", "meta")["owners"] if owner["kind"] == "name"}
        self.assertEqual(names["KV cache of request 42"], 64 * MIB)
        self.assertEqual(names["phase:forward-A"], 16 * MIB)
        self.assertIn("KV cache of request 42", run("report", path("meta")).stdout)
        database = self.out("meta.db")
        self.assertEqual(run("convert", path("meta"), database).returncode, 0)
        with sqlite3.connect(database) as rows:
            self.assertEqual(rows.execute("SELECT bytes FROM blocks_named WHERE name = 'KV cache of request 42'").fetchall(), [(64 * MIB,)])
        self.assertEqual(run("convert", path("meta"), self.out("meta.vms")).returncode, 0)
        self.assertEqual(run("convert", self.out("meta.vms"), self.out("again.pickle")).returncode, 0)
        for copy in (path("meta"), self.out("again.pickle")):
            noted = [(event["action"], event["addr"], event["user_metadata"]) for event in load(copy)["device_traces"][0]
                     if event["action"] in ("alloc", "annotate", "free_requested")]
            self.assertIn(("annotate", 123145325379584, "KV cache of request 42"), noted)
            self.assertIn(("alloc", 123145325379584, '{"req":"42","kind":"kv"}'), noted)
            self.assertIn(("free_requested", 123145323286528, "phase:forward-A"), noted)

    def test_pinned_host_memory_is_host_memory(self) -> None:
        self.assertEqual(answer("report", "host")["host_memory"]["pinned"]["peak_bytes"], 32 * MIB)
        self.assertRegex(run("report", path("host")).stdout, r"[Pp]inned.*32\.0 MiB|32\.0 MiB.*[Pp]inned")
        copy = self.out("host.pickle")
        self.assertEqual(run("convert", path("host"), copy).returncode, 0)
        for key in ("host_segments", "host_traces"):
            self.assertEqual(len(load(copy)[key]), len(load(path("host"))[key]))

    def test_blocks_that_wait_for_another_stream_are_named(self) -> None:
        waiting = answer("frag", "pend", "--at", "end")["waiting"]
        self.assertEqual([(one["bytes"], one["stream"], one["waits_for_streams"]) for one in waiting], [(64 * MIB, 0, [94842246313712])])
        sentence = re.compile(r"64\.0 MiB of <module> \(/proj/sim/pend\.py:4\), allocated on stream 0, wait for stream 0x5642")
        self.assertRegex(run("frag", path("pend"), "--at", "end").stdout, sentence)
        self.assertRegex(run("oom", path("pend")).stdout, sentence)


if __name__ == "__main__":
    unittest.main()
