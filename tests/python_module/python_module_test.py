#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`import vramscope`: its answers equal the command's in every field, and its tables add up to them. Tested on three runs and, if they are next to the
checkout, three snapshots of real trainings. Here the Arrow structs are read by their specification; tests/python_module/readers.py reads them with
pandas, polars, DuckDB and pyarrow."""
import ctypes
import doctest
import gc
import importlib
import importlib.util
import os
import pickle
import sys
import unittest
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import package  # noqa: E402, F401
import recorded_run  # noqa: E402
from recorded_run import SOURCE, RecordingTest  # noqa: E402

import vramscope  # noqa: E402
from vramscope import library  # noqa: E402

EXAMPLE = SOURCE / "trace_format/testdata/v1_training.vms"
SNAPSHOTS = SOURCE.parent / "shared/data/snapshots"
CATEGORIES = 13


class Figures(RecordingTest):
    """One file: all answers and tables."""

    def check(self, path: Path) -> Tuple[vramscope.Run, Dict[str, Any]]:
        run, expected = vramscope.open(path), recorded_run.ask("report", str(path))
        self.assertEqual(run.report(), expected)
        self.assertEqual(run.peak, expected["peak"])
        self.assertEqual(run.steps, expected["steps"])
        for key, value in expected["peak"].items():
            self.assertEqual(getattr(run.peak, key), value)
        self.assertEqual(run.info(), recorded_run.ask("info", str(path)))
        moments = recorded_run.ask("report", str(path), "--at", "peak", "--at", "end", "--blocks")["moments"]
        self.assertEqual(run.at("peak, end", blocks=True), moments)
        self.check_blocks(run, expected, moments[0])
        self.check_series(run, expected)
        self.check_events(run)
        self.check_segments(run, expected)
        return run, expected

    def check_blocks(self, run: vramscope.Run, report: Dict[str, Any], peak: Dict[str, Any]) -> None:
        rows = list(run.blocks().rows())
        chosen = next(device for device in report["devices"] if device["chosen"])
        live = [row for row in rows if row["peak_category"] is not None]
        self.assertEqual([(row["block"], row["address"], row["bytes"], row["peak_category"]) for row in live],
                         [(block["number"], block["address"], block["bytes"], block["category"]) for block in peak["blocks"]])
        sums = Counter({category: 0 for category in peak["categories"]})
        for row in live:
            sums[row["peak_category"]] += row["bytes"]
        sums["unattributed"] += peak["allocated_bytes"] - sum(row["bytes"] for row in live)  # whose allocation was not seen
        self.assertEqual(dict(sums), peak["categories"])
        self.assertEqual(sum(row["device"] == chosen["device"] and row["process"] == (chosen["process"] or 0) for row in rows), chosen["allocations"])

    def check_series(self, run: vramscope.Run, report: Dict[str, Any]) -> None:
        rows = list(run.series().rows())
        for row in rows:
            self.assertEqual(sum(list(row.values())[-CATEGORIES:]), row["allocated_bytes"])
        self.assertEqual(max(row["allocated_bytes"] for row in rows), report["peak"]["allocated_bytes"])
        at_peak = [row for row in rows if row["event"] <= report["peak"]["trace_event"]][-1]
        self.assertEqual({key: at_peak[key] for key in report["peak"]["categories"]}, report["peak"]["categories"])
        self.assertEqual(at_peak["reserved_bytes"], report["peak"]["reserved_bytes"])
        for step in report["steps"]:
            inside = [row["allocated_bytes"] for row in run.series(step=step["step"]).rows()]
            before = [row["allocated_bytes"] for row in rows if row["time_ns"] <= step["begin_ns"] and row["step"] != step["step"]][-1:]
            self.assertEqual(max(inside + before), step["peak"]["allocated_bytes"], f"step {step['step']}")

    def check_events(self, run: vramscope.Run) -> None:
        events, info = run.events(), run.info()
        kinds = Counter(events.column("type"))
        self.assertEqual({kind: count for kind, count in info["events_by_type"].items() if count}, dict(kinds))
        self.assertEqual(len(run.operators()), kinds["op_begin"])

    def check_segments(self, run: vramscope.Run, report: Dict[str, Any]) -> None:
        chosen, peak = report["selection"], report["peak"]
        rows = [row for row in run.segments().rows() if row["device"] == chosen["device"] and row["process"] == (chosen["process"] or 0)]
        if rows and peak["reserved_bytes"] is not None:
            held = [row for row in rows if row["begin_ns"] <= peak["time_ns"] and (row["end_ns"] is None or row["end_ns"] > peak["time_ns"])]
            self.assertEqual(sum(row["bytes"] for row in held), peak["reserved_bytes"])


class RunsTest(Figures):
    def test_a_golden_trace(self) -> None:
        run, _ = self.check(EXAMPLE)
        with self.assertRaisesRegex(vramscope.Error, "there are no segments on cpu"):
            run.oom()

    def test_a_golden_trace_with_every_kind_of_event(self) -> None:
        self.check(SOURCE / "trace_format/testdata/v1_3_every_type.vms")

    def test_a_run_on_a_simulated_gpu(self) -> None:
        path = self.folder / "gpu.vms"
        done = recorded_run.run([recorded_run.vramscope(), "dryrun", "--gpu", "rtx-4090", "-o", str(path), "--", recorded_run.python(),
                                 str(HERE / "training.py")])
        self.assertTrue(path.exists(), done.stderr.decode())
        run, report = self.check(path)
        self.assertEqual(len(report["steps"]), 6)
        known = set(run.stacks().column("stack"))
        self.assertGreater(len(known), 10)
        self.assertEqual(set(run.blocks().column("stack")) - {None} - known, set())
        self.assertGreater(len(run.segments()), 0)
        self.assertGreater(len(run.operators()), 20)
        self.assertEqual(len(report["out_of_memory"]), 1)
        self.assertEqual(run.leaks(), recorded_run.ask("leaks", str(path)))
        self.assertEqual(run.leaks().bytes_per_step, 4096)
        self.assertEqual(run.oom(), recorded_run.ask("oom", str(path)))
        self.assertEqual(run.frag(), recorded_run.ask("frag", str(path)))
        self.assertEqual(run.explain(), recorded_run.ask("explain", str(path)))
        change = ["--optimizer", "sgd", "--by", "transform"]
        self.assertEqual(run.whatif(optimizer="sgd", by="transform"), recorded_run.ask("whatif", str(path), *change))
        self.assertEqual(run.plan(fit="24GiB", by="transform"), recorded_run.ask("plan", str(path), "--fit", "24GiB", "--by", "transform"))
        self.assertIs(run.plan(fit="24GiB", by="transform").fits_as_recorded, True)
        nothing = run.plan(fit="40MiB", by="transform")
        self.assertEqual((nothing.exit_code, nothing.plans), (1, []))
        self.assertIn("<iframe", run._repr_html_())

    def test_snapshots(self) -> None:
        paths = [SNAPSHOTS / name for name in ("forward_bf16_ctx128.pickle", "medium_ctx128_training.pickle", "inconsistent.pickle")]
        if not SNAPSHOTS.is_dir():
            self.skipTest(f"{SNAPSHOTS} is not there")
        for path in paths:
            with self.subTest(path.name):
                run, _ = self.check(path)
                self.assertEqual(run.frag(), recorded_run.ask("frag", str(path)))


class CapsulesTest(unittest.TestCase):
    """A reader that follows https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html to the letter."""

    def pointer(self, capsule: Any, name: bytes) -> int:
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        return int(get(capsule, name))

    def test_a_capsule_outlives_its_table_and_is_released_once(self) -> None:
        schema_capsule, array_capsule = vramscope.open(EXAMPLE).events().__arrow_c_array__()
        gc.collect()
        schema = library.ArrowSchema.from_address(self.pointer(schema_capsule, b"arrow_schema"))
        array = library.ArrowArray.from_address(self.pointer(array_capsule, b"arrow_array"))
        self.assertEqual((schema.format, schema.n_children, array.length), (b"+s", 11, 800))
        first = array.children[0].contents
        self.assertEqual((ctypes.c_int64 * 800).from_address(first.buffers[1])[799], 800)
        moved = library.ArrowArray()  # the receiver takes the array: copy the struct, clear the original's release
        ctypes.memmove(ctypes.byref(moved), ctypes.byref(array), ctypes.sizeof(moved))
        array.release = None
        del schema_capsule, array_capsule, first
        gc.collect()
        self.assertEqual((ctypes.c_int64 * 800).from_address(moved.children[0].contents.buffers[1])[0], 1)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(moved.release)(ctypes.addressof(moved))
        self.assertIsNone(moved.release)

    def test_a_stream_is_one_batch(self) -> None:
        class Stream(ctypes.Structure):
            _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]

        capsule = vramscope.open(EXAMPLE).blocks().__arrow_c_stream__()
        stream = Stream.from_address(self.pointer(capsule, b"arrow_array_stream"))
        following = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(stream.get_next)
        lengths: List[int] = []
        while True:
            array = library.ArrowArray()
            self.assertEqual(following(ctypes.addressof(stream), ctypes.addressof(array)), 0)
            if not array.release:
                break
            lengths.append(array.length)
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(array.release)(ctypes.addressof(array))
        self.assertEqual(lengths, [332])

    def test_views_keep_the_table(self) -> None:
        view = vramscope.open(EXAMPLE).events().columns["event"]
        gc.collect()
        self.assertEqual((view.format, view.readonly, sum(view)), ("q", True, 800 * 801 // 2))


class UseTest(unittest.TestCase):
    def test_numpy_shares_the_memory(self) -> None:
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        blocks = vramscope.open(EXAMPLE).blocks()
        arrays = blocks.to_numpy()
        for name in blocks.column_names:
            values = arrays[name].tolist()
            self.assertEqual(values, blocks.column(name), name)
        address = numpy.asarray(blocks.columns["bytes"]).__array_interface__["data"][0]
        self.assertEqual(arrays["bytes"].__array_interface__["data"][0], address)

    def test_bad_files_and_questions_are_sentences(self) -> None:
        with self.assertRaisesRegex(vramscope.Error, "neither a trace nor a snapshot"):
            vramscope.open(__file__)
        with self.assertRaisesRegex(vramscope.Error, "No such file"):
            vramscope.open("missing.vms")
        run = vramscope.open(EXAMPLE)
        with self.assertRaisesRegex(vramscope.Error, "cuda:7"):
            run.series(device="cuda:7")
        with self.assertRaisesRegex(vramscope.Error, "no option --nonsense"):
            run.whatif(nonsense=1)
        with self.assertRaisesRegex(vramscope.Error, "no column 'nonsense'.*bytes"):
            run.blocks().column("nonsense")
        for name in ("", "a\0b"):
            with self.assertRaisesRegex(vramscope.Error, "not the name of a file"):
                vramscope.open(name)
        for moment in (None, 3.5, [None]):
            with self.assertRaisesRegex(TypeError, "a moment is"):
                run.at(moment)  # type: ignore[arg-type]
        self.assertEqual(run.at([]), [])

    def test_a_run_answers_after_a_change_of_folder_and_in_a_copy(self) -> None:
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(EXAMPLE.parent)
        run = vramscope.open(EXAMPLE.name)
        os.chdir("/")
        peak = run.peak.allocated_bytes
        again = pickle.loads(pickle.dumps(run))
        with self.assertRaisesRegex(TypeError, "to_arrow"):
            pickle.dumps(run.blocks())
        self.assertEqual((again.peak.allocated_bytes, len(again.blocks())), (peak, len(run.blocks())))

    def test_closing_leaves_tables_and_answers(self) -> None:
        with vramscope.open(EXAMPLE) as run:
            blocks = run.blocks()
            peak = run.peak.allocated_bytes
        run.close()
        self.assertEqual(sum(row["bytes"] for row in blocks.rows() if row["peak_category"]), peak)
        with self.assertRaisesRegex(vramscope.Error, "is closed"):
            run.blocks()

    def test_docstrings(self) -> None:
        for name in ("answer", "run", "table"):
            module = importlib.import_module("vramscope." + name)
            runner = doctest.DocTestRunner()
            for test in doctest.DocTestFinder().find(module, extraglobs={"vramscope": vramscope, "example": str(EXAMPLE)}):
                if "numpy" not in test.name or importlib.util.find_spec("numpy"):
                    runner.run(test)
            self.assertGreater(runner.tries, 0, name)
            self.assertEqual(runner.failures, 0, name)


if __name__ == "__main__":
    recorded_run.main()
