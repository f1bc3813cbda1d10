# SPDX-License-Identifier: Apache-2.0
"""Runs the pytest plugin of samples/ci over a training that keeps its budget and one that does not. Also reads the workflow of docs/ci.md with a
YAML parser: vramscope must accept every command of its own in it. Skipped where pytest is not installed."""
import importlib.util
import re
import shutil
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import recorded_run
from recorded_run import SAMPLES, SOURCE, RecordingTest, clean_environment, python

TESTS = """
TRAIN = [{python!r}, {sample!r}, "--device", "cpu", "--steps", "3"]

def test_fits(gpu_memory):
    assert gpu_memory(TRAIN, "--peak-below", "1GiB").exists()

def test_is_too_large(gpu_memory):
    gpu_memory(TRAIN, "--peak-below", "1KiB")

def test_fails_by_itself(gpu_memory):
    gpu_memory([{python!r}, "-c", "raise SystemExit(3)"], "--peak-below", "1GiB")
"""


def is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class Plugin(RecordingTest):
    @unittest.skipUnless(is_there("pytest"), "pytest is not installed")
    def test_a_broken_rule_is_a_failed_test_that_says_so(self) -> None:
        shutil.copy(SAMPLES / "ci/conftest.py", self.folder)
        (self.folder / "test_memory.py").write_text(TESTS.format(python=python(), sample=str(SAMPLES / "mlp_small.py")), encoding="utf-8")
        environment = clean_environment(VRAMSCOPE_BIN=recorded_run.vramscope())
        done = recorded_run.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "--gpu-memory-out", "memory"], cwd=self.folder,
                                env=environment, timeout=300)
        text = done.stdout.decode()
        self.assertEqual(done.code, 1, text + done.stderr.decode())
        self.assertRegex(text, r"test_fits PASSED")
        self.assertRegex(text, r"test_is_too_large FAILED")
        self.assertRegex(text, r"test_fails_by_itself FAILED")
        self.assertRegex(text, r"1 KiB|1\.0 KiB|1KiB")  # the rule that is broken
        self.assertIn("exit 3", text)
        kept = sorted(path.name for path in (self.folder / "memory").iterdir())
        self.assertEqual([name for name in kept if "test_fits" in name], ["test_memory_py_test_fits.vms", "test_memory_py_test_fits.xml"])
        report = ElementTree.parse(self.folder / "memory/test_memory_py_test_is_too_large.xml").getroot()
        self.assertEqual(len(report.findall(".//failure")), 1)


class Workflow(unittest.TestCase):
    def workflow(self) -> Any:
        if not is_there("yaml"):
            self.skipTest("PyYAML is not installed")
        import yaml

        found = re.findall(r"```yaml\n(.*?)```", (SOURCE / "docs/ci.md").read_text(encoding="utf-8"), re.DOTALL)
        self.assertEqual(len(found), 1)
        return yaml.safe_load(found[0])

    def test_it_is_a_workflow_that_runs_what_vramscope_understands(self) -> None:
        workflow = self.workflow()
        self.assertEqual(workflow[True], "pull_request")  # the key `on`, which YAML 1.1 reads as true
        self.assertEqual(workflow["permissions"], {"contents": "read", "pull-requests": "write"})
        steps = workflow["jobs"]["memory"]["steps"]
        for step in steps:
            self.assertTrue(("run" in step) != ("uses" in step), step)
        script = "\n".join(step.get("run", "") for step in steps).replace("\\\n", " ")
        commands = re.findall(r"(?m)^ *vramscope (.*)$", script)
        self.assertEqual([command.split()[0] for command in commands], ["dryrun", "dryrun", "check"])
        for command in commands:
            words = command.split(" -- ")[0].split()
            done = recorded_run.run([recorded_run.vramscope(), *words, "--help"])
            self.assertEqual((done.code, done.stderr), (0, b""), command)
        written = [word for command in commands for word in command.split() if re.fullmatch(r"memory\.(xml|md)", word)]
        self.assertEqual(written, ["memory.xml", "memory.md"])
        self.assertIn("memory.xml", steps[-1]["with"]["path"])


if __name__ == "__main__":
    recorded_run.main()
