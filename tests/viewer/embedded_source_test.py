#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record --embed-source: the viewer shows the line of a frame even if its file was moved or changed, and tells which text it shows."""
import os
import subprocess
import unittest

from viewing import VRAMSCOPE, ViewerTest

PROGRAM = """
import torch

weight = torch.ones(1 << 18, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    kept = torch.zeros(1 << 21)  # eight MiB
    (weight * 2).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
LINE = "kept = torch.zeros(1 << 21)  # eight MiB"


class EmbeddedSource(ViewerTest):
    def record(self, *options: str) -> subprocess.CompletedProcess:
        python = os.environ.get("VRAMSCOPE_TEST_PYTHON")
        if not python:
            raise unittest.SkipTest("set VRAMSCOPE_TEST_PYTHON to a Python that has PyTorch")
        with open(self.path("train.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        return subprocess.run([VRAMSCOPE, "record", "--device", "cpu", "--depth", "all", *options, "-o", self.path("run.vms"), "--", python,
                               self.path("train.py")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)

    def see(self, *expected: str) -> None:
        """Opens the innermost frame of the largest block that the second step allocated."""
        self.run_script(["goto step:2,peak", "key ctrl+f", "text step>1", "key escape", "click live.row.0", "click frame.0",
                         *expected], self.path("run.vms"))

    def test_the_line_stays_when_the_file_goes(self) -> None:
        done = self.record("--stacks", "python", "--embed-source")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.see("expect source ~ " + LINE, "expect source_from = From disk, as it was recorded.")
        with open(self.path("train.py"), "w", encoding="utf-8") as file:
            file.write("# a comment\n" + PROGRAM)
        self.see("expect source ~ " + LINE, "expect source_from ~ the file has changed", "shot " + self.path("changed.png"))
        os.rename(self.path("train.py"), self.path("elsewhere.py"))
        self.see("expect source ~ " + LINE, "expect source_from ~ From the trace", "expect source_from ~ not on this machine")

    def test_without_it_the_trace_has_no_source(self) -> None:
        done = self.record("--stacks", "python")
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(self.path("run.vms"), "rb") as file:
            self.assertNotIn(b"eight MiB", file.read())
        os.remove(self.path("train.py"))
        self.see("expect source ~ not on this machine", "expect source_from = null")

    def test_without_stacks_there_is_nothing_to_embed(self) -> None:
        done = self.record("--embed-source")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Add --stacks python", done.stdout)
        self.assertFalse(os.path.exists(self.path("run.vms")))


if __name__ == "__main__":
    unittest.main()
