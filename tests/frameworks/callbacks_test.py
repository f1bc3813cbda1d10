#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vramscope's callbacks in the trainers: their figures reach the trainer's loggers, and a snapshot or a trace is left when memory runs out. Also its
pytest plugin, and its magics in a notebook.

    VRAMSCOPE_FRAMEWORKS_PYTHON    a Python with PyTorch and these packages; default: build/venv-frameworks"""
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from frameworks_test import python  # noqa: E402

PACKAGE = Path(recorded_run.vramscope()).parent.parent / "share/vramscope/site-packages"
FIGURES = {"vramscope/peak_allocated_bytes", "vramscope/reserved_bytes", "vramscope/fragmentation"}
GROWTH = "vramscope/growth_bytes_per_step"
STEPS, GROWS_BY = 6, 4096


class WithPackage(recorded_run.RecordingTest):
    """Runs programs that import the package of the build under test."""

    def skip_without(self, *packages: str) -> None:
        for package in packages:
            if not recorded_run.has_package(python(), package):
                self.skipTest(f"{package} is not installed for {python()}")

    def run_with_package(self, *command: str) -> recorded_run.Finished:
        environment = recorded_run.clean_environment(VRAMSCOPE_BIN=recorded_run.vramscope(), HF_HUB_OFFLINE="1")
        return recorded_run.run(list(command), env={**environment, "PYTHONPATH": str(PACKAGE)}, cwd=str(self.folder))


@drawn.share(4)
class CallbacksTest(WithPackage):
    def check(self, framework: str) -> None:
        self.skip_without(framework)
        done = self.run_with_package(recorded_run.vramscope(), "dryrun", "--gpu", "rtx-4090", "-o", str(self.folder / "run.vms"), "--", python(),
                                     str(HERE / "callbacks.py"), framework, str(self.folder))
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("found ")]
        self.assertEqual(len(lines), 1, done.stdout.decode() + done.stderr.decode())
        found = json.loads(lines[0][len("found "):])
        self.assertEqual(found["failed"], "out of memory")
        self.assertIs(found["history"], framework != "lightning")  # the others call no callback when training fails
        self.assertEqual(len(found["logged"]), STEPS)
        for step, figures in enumerate(found["logged"], 1):
            self.assertLessEqual(FIGURES, set(figures))
            self.assertEqual(GROWTH in figures, step >= 5, step)
        own = GROWS_BY / 2 if framework == "keras" else 0  # its metrics grow a little
        self.assertAlmostEqual(found["logged"][-1][GROWTH], GROWS_BY, delta=own)
        self.assertGreater(found["logged"][-1]["vramscope/reserved_bytes"], found["logged"][-1]["vramscope/peak_allocated_bytes"])
        self.assertNotIn("is left out", done.stderr.decode())
        (snapshot,) = self.folder.glob("vramscope-oom-*.pickle")
        self.assertEqual(recorded_run.ask("oom", str(snapshot))["request"]["rounded_bytes"], 1 << 40)

    def test_transformers(self) -> None:
        self.check("transformers")

    def test_lightning(self) -> None:
        self.check("lightning")

    def test_keras(self) -> None:
        self.check("keras")

    def test_the_last_steps_as_a_trace(self) -> None:
        self.skip_without("torch")
        done = self.run_with_package(recorded_run.vramscope(), "dryrun", "--gpu", "rtx-4090", "-o", str(self.folder / "run.vms"), "--", python(),
                                     str(HERE / "last_steps.py"), str(self.folder))
        self.assertIn(b"out of memory\n", done.stdout, done.stderr.decode())
        self.assertNotIn("is left out", done.stderr.decode())
        (trace,) = self.folder.glob("vramscope-oom-*.vms")
        self.assertIn(f"the last steps are in {trace}", done.stderr.decode())
        self.assertEqual(recorded_run.ask("oom", str(trace))["request"]["rounded_bytes"], 1 << 40)
        self.assertEqual(len([step for step in recorded_run.ask("report", str(trace))["steps"] if step["complete"]]), 3)

    def test_a_notebook(self) -> None:
        self.skip_without("nbclient", "ipykernel", "torch")
        done = self.run_with_package(python(), str(HERE / "notebook.py"), str(self.folder))
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("found ")]
        self.assertEqual(len(lines), 1, done.stdout.decode() + done.stderr.decode())
        _, _, page, report, failed, info, unknown = json.loads(lines[0][len("found "):])
        self.assertIn("<iframe srcdoc=", page)
        self.assertIn("Peak ", report)
        self.assertIn("its own", failed)
        self.assertIn(f"what it allocated until then is in {self.folder / 'kept.vms'}", failed)
        self.assertIn("<iframe srcdoc=", failed)
        self.assertIn(str(self.folder / "kept.vms"), info)
        self.assertIn("no option --nonsense", unknown)
        self.assertTrue((self.folder / "kept.vms").exists())

    def test_pytest_plugin(self) -> None:
        self.skip_without("pytest", "torch")
        traces = self.folder / "traces"
        done = self.run_with_package(python(), "-m", "pytest", "-p", "vramscope.pytest_plugin", "-p", "no:cacheprovider", "-q", "-rA", "--strict-markers",
                                     "--vramscope-folder", str(traces), str(HERE / "limited/limited_test.py"))
        text = done.stdout.decode()
        results = {name: verdict for verdict, name in re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", text, re.MULTILINE)}
        self.assertEqual(results, {
            "test_within": "PASSED", "test_leaves_nothing": "PASSED", "test_without_a_limit": "PASSED", "test_too_large": "FAILED",
            "test_leaks": "FAILED", "test_fails_by_itself": "FAILED", "test_with_a_wrong_mark": "FAILED"}, text + done.stderr.decode())
        self.assertIn("The test allocated 2.0 MiB at one time, 1.0 MiB more than 1.0 MiB: ", text)
        self.assertIn("The test left 4.0 KiB in 1 blocks allocated; the limit is 1.0 KiB.", text)
        self.assertIn("KeyError: 'its own'", text)
        self.assertIn("not 'lots'", text)
        self.assertEqual(len(list(traces.iterdir())), 5)


if __name__ == "__main__":
    recorded_run.main()
