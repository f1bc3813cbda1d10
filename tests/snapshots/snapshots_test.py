#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing snapshots, compared with Python's own pickle and PyTorch's own viewer."""
import ast
import glob
import gzip
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from typing import Any, Dict, List

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import recorded_run  # noqa: E402

SNAPSHOTS = os.path.join(HERE, "..", "..", "..", "shared", "data", "snapshots")
VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([VRAMSCOPE, *arguments], capture_output=True, text=True)


def with_defaults(snapshot: Dict[str, Any]) -> Dict[str, Any]:
    """A form that is equal for snapshots with the same content: absent frames are empty, old keys have their new names, tuples are lists."""
    def frames(of: Dict[str, Any]) -> List[Any]:
        listed = of.get("frames") or (of["history"][0]["frames"] if of.get("history") else [])
        return [(f["name"], f["filename"], f["line"]) for f in listed]

    segments = []
    for segment in snapshot["segments"]:
        at = segment["address"]
        blocks = []
        for block in segment["blocks"]:
            at = block.get("address", at)
            requested = block.get("requested_size", block["history"][0]["real_size"] if block.get("history") else None)
            blocks.append((at, block["size"], requested, block["state"], frames(block)))
            at += block["size"]
        pool = segment.get("segment_pool_id")
        segments.append((segment["device"], segment["address"], segment["total_size"], segment["allocated_size"], segment["active_size"],
                         segment.get("requested_size"), segment["stream"], segment["segment_type"], pool and list(pool),
                         segment.get("is_expandable", False), frames(segment), blocks))
    keys = ("action", "addr", "device_free", "size", "stream", "time_us", "compile_context", "user_metadata")
    traces = [[tuple(event.get(key) for key in keys) + (frames(event),) for event in trace] for trace in snapshot.get("device_traces", [])]
    return {"segments": sorted(segments), "traces": traces, "settings": snapshot.get("allocator_settings"),
            "annotations": snapshot.get("external_annotations", [])}


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def load(path: str) -> Dict[str, Any]:
    with open(path, "rb") as file:
        return pickle.load(file)


@unittest.skipUnless(os.path.isdir(SNAPSHOTS), "no real snapshots beside this checkout")
class RealSnapshots(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = sorted(glob.glob(os.path.join(SNAPSHOTS, "*.pickle")))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def out(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def test_nothing_of_a_snapshot_is_lost_on_the_way_through(self) -> None:
        for path in self.paths:
            copy = self.out(os.path.basename(path))
            self.assertEqual(run("convert", path, copy).returncode, 0)
            with self.subTest(snapshot=os.path.basename(path)):
                self.assertEqual(with_defaults(load(copy)), with_defaults(load(path)))

    def test_every_protocol_packing_and_form_reads_the_same(self) -> None:
        path = os.path.join(SNAPSHOTS, "small_from_empty.pickle")
        snapshot = load(path)
        forms = {f"protocol{n}.pickle": pickle.dumps(snapshot, n) for n in range(1, 6)}
        forms["packed.pickle.gz"] = gzip.compress(forms["protocol4.pickle"])
        forms["snapshot.json"] = json.dumps(snapshot).encode()
        expected = with_defaults(snapshot)
        for name, form in forms.items():
            with open(self.out(name), "wb") as file:
                file.write(form)
            converted = run("convert", self.out(name), self.out("again.pickle"))
            with self.subTest(form=name):
                self.assertEqual(converted.stderr, "")
                self.assertEqual(with_defaults(load(self.out("again.pickle"))), expected)

    def test_nothing_is_written_beside_the_input_and_nothing_half(self) -> None:
        before = sorted(os.listdir(SNAPSHOTS))
        run("report", os.path.join(SNAPSHOTS, "small_from_empty.pickle"))
        self.assertEqual(sorted(os.listdir(SNAPSHOTS)), before)
        with open(self.out("cut.pickle"), "wb") as file:
            file.write(content(os.path.join(SNAPSHOTS, "small_from_empty.pickle"))[:40000])
        kept = self.out("kept.vms")
        with open(kept, "w") as file:
            file.write("as it was")
        failed = run("convert", self.out("cut.pickle"), kept)
        self.assertEqual(failed.returncode, 2)
        self.assertIn("cut off after 40000 bytes", failed.stderr)
        self.assertEqual(content(kept), b"as it was")
        self.assertEqual(glob.glob(kept + ".*"), [])

    def test_a_packed_trace_is_named_as_such(self) -> None:
        trace = self.out("whole.vms")
        self.assertEqual(run("convert", os.path.join(SNAPSHOTS, "medium_ctx128_training.pickle"), trace).stderr, "")
        with open(self.out("packed.vms.gz"), "wb") as file:
            file.write(gzip.compress(content(trace)))
        for verb in ("frag", "pack", "replay"):
            refused = run(verb, self.out("packed.vms.gz"))
            self.assertEqual(refused.returncode, 2)
            self.assertIn("packed vramscope trace; unpack it first", refused.stderr)

    def test_what_a_hostile_pickle_names_is_refused_by_name_and_does_not_run(self) -> None:
        class Hostile:
            def __reduce__(self):
                return os.system, (f"touch {mark}",)
        mark = self.out("it_ran")
        for protocol in range(2, 6):
            with open(self.out("hostile.pickle"), "wb") as file:
                file.write(pickle.dumps({"segments": [], "device_traces": [Hostile()]}, protocol))
            refused = run("report", self.out("hostile.pickle"))
            with self.subTest(protocol=protocol):
                self.assertEqual(refused.returncode, 2)
                self.assertRegex(refused.stderr, r"(posix|os)\.system, which no memory snapshot needs")
        self.assertFalse(os.path.exists(mark))

    def test_the_peaks_are_those_of_the_files(self) -> None:
        for name, reserved_mib in (("small_from_empty", 3606), ("medium_ctx128_training", 6900)):
            report = json.loads(run("report", "--json", os.path.join(SNAPSHOTS, name + ".pickle")).stdout)
            with self.subTest(snapshot=name):
                self.assertEqual(report["selection"]["device"], "cuda:0")
                self.assertEqual(report["devices"][0]["peak_reserved_bytes"], reserved_mib << 20)
        inconsistent = run("report", os.path.join(SNAPSHOTS, "inconsistent.pickle"))
        self.assertIn("contradicts itself", inconsistent.stdout)

    def test_report_counts_a_blocks_bytes_as_the_replay_does(self) -> None:
        for path in self.paths:
            replay = run("replay", "--json", path)
            if replay.returncode != 0:  # no history, or one that contradicts itself
                continue
            with self.subTest(snapshot=os.path.basename(path)):
                replayed = json.loads(replay.stdout)
                report = json.loads(run("report", "--json", path).stdout)
                self.assertEqual(report["peak"]["allocated_bytes"], replayed["peak"]["allocated_bytes"])
                self.assertEqual(report["devices"][0]["peak_reserved_bytes"], replayed["peak"]["reserved_peak_bytes"])

    def test_whatif_answers_other_settings_as_replay_does_and_refuses_the_rest(self) -> None:
        path, settings = os.path.join(SNAPSHOTS, "small_from_empty.pickle"), "max_split_size_mb:32"
        replayed = json.loads(run("replay", path, "--settings", settings, "--json").stdout)["peak"]
        answered = run("whatif", path, "--alloc-conf", settings, "--json")
        self.assertEqual(answered.returncode, 0)
        answer = json.loads(answered.stdout)
        for key in ("allocated_bytes", "reserved_bytes", "reserved_peak_bytes"):
            self.assertEqual(answer["after"]["peak"][key], replayed[key])
        self.assertLess(answer["after"]["peak"]["reserved_peak_bytes"], answer["before"]["peak"]["reserved_peak_bytes"])
        compared = run("whatif", path, "--compare", f"alloc-conf={settings}", "--compare", "batch=0.5x", "--json")
        self.assertEqual(compared.returncode, 3)
        cases = json.loads(compared.stdout)["cases"]
        self.assertEqual(cases[0]["after"], answer["after"])
        self.assertIn("vramscope record", cases[1]["refused"][0]["reason"])
        self.assertIn("vramscope record", run("whatif", path, "--batch", "0.5x").stdout)

    def test_pytorchs_own_viewer_opens_what_was_written(self) -> None:
        python = os.environ.get("VRAMSCOPE_TEST_PYTHON", "")
        if not python or not recorded_run.has_package(python, "torch"):
            self.skipTest("no PyTorch here")
        source = os.path.join(SNAPSHOTS, "small_from_empty.pickle")
        for arguments in ((source, self.out("a.vms")), (self.out("a.vms"), self.out("b.pickle")),
                          (self.out("a.vms"), self.out("peak.pickle"), "--at", "peak"), (source, self.out("c.pickle"))):
            self.assertEqual(run("convert", *arguments).stderr, "")
        viewed = subprocess.run([python, os.path.join(HERE, "view_snapshots.py"), source, self.out("b.pickle"), self.out("peak.pickle"),
                                 self.out("c.pickle")], capture_output=True, text=True)
        self.assertEqual(viewed.returncode, 0, viewed.stderr)
        views = [ast.literal_eval(line) for line in viewed.stdout.splitlines() if line.startswith("{")]
        original, by_trace, peak, copied = views
        self.assertEqual(copied, original)
        for key in ("active", "segments"):
            self.assertEqual(by_trace[key], original[key])
        self.assertGreater(peak["active"], original["active"])  # the peak is not the end


if __name__ == "__main__":
    unittest.main()
