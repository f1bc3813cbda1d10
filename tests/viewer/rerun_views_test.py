#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Re-runs that are stored with a trace: the viewer and reports show them without a Python, with the figures of `vramscope whatif`."""
import json
import os
import subprocess
import tempfile
import unittest
from typing import Any, Dict

from viewing import HERE, VRAMSCOPE, ViewerTest
import drawn  # from tests/, which viewing adds to the path

PYTHON = os.environ.get("VRAMSCOPE_TEST_PYTHON", "")
TRAIN = os.path.join(HERE, "..", "rerun", "train.py")


@drawn.share(2)
class KeptReruns(ViewerTest):
    trace = ""  # with the usual re-runs
    plain = ""  # without any

    @classmethod
    def setUpClass(cls) -> None:
        if not PYTHON:
            raise unittest.SkipTest("set VRAMSCOPE_TEST_PYTHON to a Python that has PyTorch")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.environment = {**os.environ, "XDG_CONFIG_HOME": folder.name, "VRAMSCOPE_PYTHON": PYTHON}
        cls.trace, cls.plain = (os.path.join(folder.name, name) for name in ("run.vms", "plain.vms"))
        for trace, more in ((cls.trace, ["--variants", "now"]), (cls.plain, ["--variants", "none"])):
            done = subprocess.run([VRAMSCOPE, "dryrun", "--gpu", "rtx-4090", "--steps", "8", "--program", "on", *more, "-o", trace, "--", PYTHON, TRAIN],
                                  env=cls.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=900)  # a line of stderr may come within a character of stdout
            assert done.returncode == 0, done.stdout
        # From here on nothing can run a program.
        nothing = os.path.join(folder.name, "nothing")
        os.mkdir(nothing)
        cls.environment.update(PATH=nothing, VRAMSCOPE_PYTHON="/nonexistent")

    def ask(self, *words: str) -> Dict[str, Any]:
        done = subprocess.run([VRAMSCOPE, *words, "--json"], env=self.environment, capture_output=True, text=True, timeout=600)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def state(self, name: str) -> Dict[str, Any]:
        with open(self.path(name + ".json"), encoding="utf-8") as file:
            return json.load(file)["whatif"]

    def test_every_figure_is_that_of_the_command_line(self) -> None:
        def choose(rerun: str) -> list:
            return ["click whatif.rerun", "click whatif.rerun." + rerun, "wait answered"]

        cases = {
            "recorded": [],
            "bf16": ["--amp", "bf16"],
            "checkpointed": ["--amp", "bf16", "--checkpoint", "all"],
            "three": ["--amp", "bf16", "--checkpoint", "all", "--optimizer", "sgd:foreach"],
            "half": ["--batch", "0.5x", "--checkpoint", "all", "--optimizer", "sgd:foreach"],
            "settings": ["--precision", "bf16", "--alloc-conf", "expandable_segments:True"],
        }
        kinds = {"recorded": "recorded", "bf16": "re-run"}
        self.run_script([
            "click tab.whatif", "wait answered", "state " + self.path("recorded.json"),
            *choose("amp=bf16"), "state " + self.path("bf16.json"), "shot " + self.path("bf16.png"),
            "click whatif.checkpoint.all", "wait answered", "state " + self.path("checkpointed.json"),
            "click whatif.optimizer", "click whatif.optimizer.sgd", "wait answered", "state " + self.path("three.json"),
            *choose("batch=0.5x"), "state " + self.path("half.json"),
            "click whatif.reset", *choose("precision=bf16"), "click whatif.expandable", "wait answered", "state " + self.path("settings.json"),
            *choose("recorded"), "expect whatif.asked = [\"alloc-conf=expandable_segments:True\"]", "expect whatif.kind = transformed",
        ], self.trace, environment=self.environment)
        for name, levers in cases.items():
            with self.subTest(name):
                shown, told = self.state(name), self.ask("whatif", self.trace, *levers)
                after = told["after"]["peak"]
                self.assertEqual(shown["after"], {"allocated_bytes": after["allocated_bytes"], "reserved_bytes": after["reserved_peak_bytes"]})
                self.assertEqual(shown["kind"], told["kind"])
                self.assertEqual(shown["kind"], kinds.get(name, "transformed"))
                self.assertEqual(shown["notes"], told["notes"])
                self.assertEqual(shown["command"].split()[3:], levers)
        self.assertLess(self.state("checkpointed")["after"]["allocated_bytes"], self.state("bf16")["after"]["allocated_bytes"])
        self.assertEqual([choice["kept"] for choice in self.state("recorded")["reruns"]], [True] * 4)

    def test_bf16_with_checkpoints_takes_three_clicks(self) -> None:
        self.run_script([
            "click tab.whatif", "wait answered", "click whatif.first.amp=bf16", "click whatif.checkpoint.all", "wait answered",
            "expect whatif.asked.0 = amp=bf16", "expect whatif.asked.1 = checkpoint=all", "shot " + self.path("three.png"),
            "click whatif.first.amp=bf16", "wait answered", "expect whatif.asked = [\"checkpoint=all\"]",  # a second click takes it back
        ], self.trace, environment=self.environment)

    def test_nothing_is_cut_in_the_narrowest_window(self) -> None:
        plans = ["click whatif.fit.into", "text 1GiB", "key enter", "wait answered"]
        self.expect_nothing_cut({"whatif": ["click whatif.first.amp=bf16", "click whatif.checkpoint.all", "wait answered", *plans]}, self.trace,
                                width=320, environment=self.environment)

    def test_a_change_that_was_not_run_is_named_with_its_command(self) -> None:
        self.run_script([
            "click tab.whatif", "wait answered", "click whatif.rerun", "click whatif.rerun.amp=fp16", "wait answered",
            "expect whatif.kind = none", "expect whatif.not_kept.sentence ~ this file has no re-run with it", "state " + self.path("none.json"),
            "click whatif.look_again", "wait answered", "expect whatif.kind = none",
            "click whatif.reset", "wait answered", "expect whatif.kind = recorded",
        ], self.plain, environment=self.environment)
        self.assertEqual(self.state("none")["not_kept"]["command"], f"vramscope whatif {self.plain} --amp fp16")

    def test_a_trace_without_a_program_says_why(self) -> None:
        training = self.path("old.vms")
        subprocess.run([VRAMSCOPE, "dryrun", "--gpu", "rtx-4090", "--steps", "8", "--program", "off", "-o", training, "--", PYTHON, TRAIN],
                       env={**self.environment, "PATH": os.environ["PATH"]}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=600)
        self.run_script([
            "click tab.whatif", "wait answered", "click whatif.rerun", "click whatif.rerun.amp=bf16", "wait answered",
            "expect whatif.not_kept.sentence ~ contains no program", "expect whatif.not_kept.command ~ try --dry --gpu rtx-4090 --amp bf16",
        ], training, environment=self.environment)

    def test_plans_have_what_was_kept(self) -> None:
        answer = self.ask("whatif", self.trace, "--amp", "bf16", "--checkpoint", "all")
        peak, at_most = answer["after"]["peak"], answer["error_band"]["reserved_at_most_bytes"]
        size = str(at_most + (peak["device_used_bytes"] or peak["reserved_peak_bytes"]) - peak["reserved_peak_bytes"]) + "B"
        self.run_script([
            "click tab.whatif", "wait answered", "click whatif.fit.into", "text " + size, "click whatif.fit.find", "wait answered",
            "state " + self.path("plans.json"),
        ], self.trace, environment=self.environment)
        shown, told = self.state("plans")["fit"]["plans"], self.ask("plan", self.trace, "--top", "5", "--by", "transform", "--fit", size)["plans"]
        computed = [plan for plan in shown if "amp=" not in plan["changes"]]
        self.assertEqual([(plan["reserved_bytes"], plan["reserved_at_most_bytes"]) for plan in computed],
                         [(plan["after"]["peak"]["reserved_peak_bytes"], plan["reserved_at_most_bytes"]) for plan in told])
        rerun = [plan for plan in shown if "amp=bf16" in plan["changes"]]
        self.assertEqual(len(rerun), 1, shown)
        answer = self.ask("whatif", self.trace, *(word for change in rerun[0]["changes"].split() for word in ("--" + change).split("=", 1)))
        self.assertEqual((rerun[0]["reserved_bytes"], rerun[0]["reserved_at_most_bytes"]),
                         (answer["after"]["peak"]["reserved_peak_bytes"], answer["error_band"]["reserved_at_most_bytes"]))

    def test_reports_have_them_beside_what_is_computed(self) -> None:
        advice = self.ask("report", self.trace)["advice"]
        self.assertEqual({one["kind"] for one in advice["changes"]}, {"re-run", "transformed"})
        for one in advice["changes"]:
            after = self.ask("whatif", self.trace, "--compare", one["change"])["cases"][0]["after"]["peak"]
            self.assertEqual((one["allocated_bytes"], one["reserved_bytes"]), (after["allocated_bytes"], after["reserved_peak_bytes"]), one["change"])
        self.assertEqual({one["kind"] for one in self.ask("report", self.plain)["advice"]["changes"]}, {"transformed"})
        told = subprocess.run([VRAMSCOPE, "report", self.trace], env=self.environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("re-run: ", told)


if __name__ == "__main__":
    unittest.main()
