#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that uses vramscope/annotate.h runs as usual without a recorder. With one, its names are in the trace. It can be built against an
installation by CMake and by pkg-config."""
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List, Tuple

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

import recorded_run
from recorded_run import RecordingTest, ask, clean_environment, run, target, vramscope

NVTX = 8  # RangeKind
USER = 9  # MarkKind
NAMED = 8  # Role
QUIET = "no child 1, no signal 1"
RANGES = ["work", "inner", "across_threads"]

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(user CXX)
find_package(vramscope REQUIRED)
add_executable(user user.cc)
target_link_libraries(user PRIVATE vramscope::annotate)
"""
PROGRAM = """
#include <vramscope/annotate.h>
int main() { const vramscope::Range range("main"); return vramscope::is_recording(); }
"""


class AnnotateTest(RecordingTest):
    def begins(self, trace: Path) -> List[str]:
        return [event.fields[1] for event in recorded_run.events(trace, "range_begin") if event.number(0) == NVTX]

    def marks(self, trace: Path) -> List[Tuple[str, int]]:
        return [(event.fields[2], event.number(1)) for event in recorded_run.events(trace, "mark") if event.number(0) == USER]

    def names(self, trace: Path) -> List[Tuple[str, int]]:
        return [(event.fields[4], event.number(1)) for event in recorded_run.events(trace, "label") if event.number(2) == NAMED]

    def assert_balanced(self, trace: Path) -> None:
        begins, ends = ([event for event in recorded_run.events(trace, kind) if event.number(0) == NVTX] for kind in ("range_begin", "range_end"))
        self.assertEqual(sorted(event.fields[1] for event in ends if event.fields[1] != "-"),
                         sorted(event.fields[1] for event in begins if event.number(2) == 0))
        self.assertEqual([event.number(2) for event in ends if event.number(2)], [event.number(2) for event in begins if event.number(2)])

    def test_without_a_recorder_nothing_happens(self) -> None:
        done = run([target("annotated"), str(self.folder / "a.vms"), str(self.folder / "b.vms")])
        idle = "id 0, recording 0"
        self.assertEqual(done.stdout.decode().splitlines(), [idle, idle, "start 0, stop 0", idle, "start 0, stop 0", "in C 0", QUIET])
        self.assertEqual((done.code, done.stderr, os.listdir(self.folder)), (7, b"", []))

    def test_ranges_marks_and_names_are_in_the_trace(self) -> None:
        trace = self.folder / "run.vms"
        done = recorded_run.record(trace, [target("annotated")], ["--device", "cpu"])
        self.assertEqual(done.code, 7, done.stderr.decode())
        self.assertEqual(done.stdout.decode().splitlines(), ["id 1, recording 1", "in C 1", QUIET])
        self.assertEqual(self.begins(trace), [*RANGES, "in_C"])
        self.assert_balanced(trace)
        self.assertEqual(self.marks(trace), [("request", 42), ("step", 7)])
        self.assertEqual(self.names(trace), [("kv_cache", 4096), ("own_pool", 65536)])
        ranges = {held["name"]: held for held in ask("report", str(trace))["nvtx_ranges"]}
        self.assertEqual(ranges["work"]["peak_allocated_bytes"], 4096)
        self.assertEqual(ask("info", str(trace))["nvtx"]["named_memory"], {"kv cache": 1, "own pool": 1})

    def test_a_recorded_program_goes_on_when_it_starts_and_stops_itself(self) -> None:
        trace = self.folder / "run.vms"
        done = recorded_run.record(trace, [target("annotated"), str(self.folder / "a.vms")], ["--device", "cpu"])
        self.assertEqual(done.code, 7, done.stderr.decode())
        self.assertIn("start 1, stop 0", done.stdout.decode(), "it is recorded already, by a recorder that is not its own to stop")
        self.assertEqual(self.begins(trace), [*RANGES, *RANGES, "in_C"])
        self.assertEqual(os.listdir(self.folder), ["run.vms"])

    def test_a_dormant_program_records_itself_twice(self) -> None:
        traces = [self.folder / "first.vms", self.folder / "second.vms"]
        done = run([vramscope(), "record", "--dormant", "--", target("annotated"), *map(str, traces)])
        self.assertEqual(done.code, 7, done.stderr.decode())
        idle, busy, started = "id 0, recording 0", "id 1, recording 1", "start 1, stop 1"
        self.assertEqual(done.stdout.decode().splitlines(), [idle, busy, started, busy, started, "in C 0", QUIET])
        self.assertEqual(done.stderr, b"")
        for trace in traces:
            self.assertEqual(self.begins(trace), RANGES)
            self.assert_balanced(trace)
            self.assertEqual(self.marks(trace), [("request", 42)])
            self.assertEqual(self.names(trace), [("kv_cache", 4096)])

    def test_a_dormant_program_is_told_of_a_place_that_cannot_be_written(self) -> None:
        done = run([vramscope(), "record", "--dormant", "--", target("annotated"), str(self.folder / "none/run.vms")])
        self.assertEqual((done.code, done.stderr), (7, b""))
        self.assertIn("start 0, stop 0", done.stdout.decode())


class InstalledTest(RecordingTest):
    """The header, as cmake --install puts it."""

    def setUp(self) -> None:
        super().setUp()
        self.prefix = self.folder / "prefix"
        build = Path(vramscope()).resolve().parent.parent
        if not (build / "cmake_install.cmake").exists():
            self.skipTest("not a build folder")
        self.call("cmake", "--install", str(build), "--component", "annotate", "--prefix", str(self.prefix))
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        (self.folder / "user.cc").write_text(PROGRAM)

    def call(self, *command: str, **changes: str) -> str:
        if shutil.which(command[0]) is None:
            self.skipTest(f"there is no {command[0]} here")
        done = subprocess.run(command, cwd=self.folder, env=clean_environment(**changes), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_find_package_finds_it(self) -> None:
        self.call("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.call("cmake", "--build", "build")
        self.assertEqual(run([str(self.folder / "build/user")]).code, 0)

    def test_pkg_config_finds_it(self) -> None:
        (description,) = self.prefix.rglob("vramscope.pc")
        flags = self.call("pkg-config", "--cflags", "--libs", "vramscope", PKG_CONFIG_PATH=str(description.parent)).split()
        self.call("c++", "user.cc", "-o", "user", *flags)
        self.assertEqual(run([str(self.folder / "user")]).code, 0)


if __name__ == "__main__":
    recorded_run.main()
