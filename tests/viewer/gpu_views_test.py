#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Views of a training run on the simulated GPU, compared with what the command line reports about the same trace."""
import json
import os
import subprocess
import tempfile
import unittest
from typing import Dict, List

from viewing import GROWING, TRAINING, VRAMSCOPE, ViewerTest, picture
import drawn  # from tests/, which viewing adds to the path


@drawn.share(2)
class TrainingOnAGpu(ViewerTest):
    """Views that ask the library about operators and steps: a program on the simulated GPU."""

    trace = ""

    @classmethod
    def setUpClass(cls) -> None:
        python = os.environ.get("VRAMSCOPE_TEST_PYTHON")
        if not python:
            raise unittest.SkipTest("set VRAMSCOPE_TEST_PYTHON to a Python that has PyTorch")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.trace = os.path.join(folder.name, "grows.vms")
        program = os.path.join(folder.name, "grows.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(GROWING)
        done = subprocess.run([VRAMSCOPE, "dryrun", "--gpu", "rtx-4090", "--steps", "all", "-o", cls.trace, "--", python, program], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=900)
        assert done.returncode == 0, done.stdout

    def test_the_lines_over_the_timeline_and_the_tensor_in_a_block(self) -> None:
        self.run_script([
            "click tab.timeline",
            "wait answered",
            "expect lines.capacity = shown",
            "click timeline.line.capacity",  # far above a small model: the axis now reaches up to it
            "expect lines.capacity = reached",
            "click timeline.line.capacity",
            "expect lines.capacity = shown",
            "click line.reserved",
            "expect lines.reserved = hidden",
            "click line.reserved",
            "expect lines.reserved = shown",
            "expect moment_text ~ step",  # a click on a name is no click on a time
            "click live.row.1",  # row 0 is a workspace, which has no shape
            "wait answered",
            "click card.Freed",
            "click card.Tensor",
            "click card.copy",
            "state " + self.path("card.json"),
        ], self.trace, "--goto", "peak")
        with open(self.path("card.json"), encoding="utf-8") as file:
            self.assertIsNotNone(json.load(file)["block"])

    def test_nothing_is_cut_in_the_window_of_a_phone(self) -> None:
        views: Dict[str, List[str]] = {tab: [] for tab in ("summary", "timeline", "owners", "map", "address-time", "fragmentation", "leaks", "compare")}
        views["whatif"] = ["click whatif.fit.into", "text 1MiB", "key enter", "wait answered", "expect whatif.subject = true"]
        self.expect_nothing_cut(views, self.trace, self.trace)

    def test_one_session_over_all_views(self) -> None:
        near = ["key w"] * 14  # 300 times nearer to the moment: within one step
        steps = [
            # The timeline with its ranges.
            "goto step:4,peak", "click tab.timeline", "expect moment_text = step 4, backward", "expect lanes > 2", "move theme", *near,
            "move lane.0 0.5 0.5", "expect hover_range = one turn", "click lane.0 0.5 0.5", "expect range.begin_ns > 0",
            "key r", "key r", "key r", "move lane.1 0.5 0.5", "key z", "key backspace", "key escape", "expect range = null",
            # Owners of blocks.
            "click tab.owners", "expect tab = owners", "click owners.module", "expect owners.shown_bytes > 1000000",
            "click owners 0.3 0.075", "expect owners.zoom != []", "key u", "expect owners.zoom = []", "click owners.treemap",
            # Addresses of blocks.
            "click tab.map", "wait answered", "expect layout = true", "click map 0.02 0.2", "key c", "expect coloring = age", "key c", "key n",
            "expect pins = true",
            "goto color:category",
            # Addresses over time.
            "click tab.address-time", "wait answered", "expect address_time.blocks > 10", "move address-time 0.5 0.6", "wheel address-time 0.5 0.5 3",
            "key home", "wait answered", "expect address_time.blocks > 10",
            # Memory that is reserved and not used.
            "click tab.fragmentation", "wait answered", "expect settings_tried.0.peak_reserved_bytes > 0", "move fragmentation.settings.0",
            "click fragmentation.series 0.5 0.5",
            # Out of memory: this run had enough memory, and the view says so.
            "click tab.oom", "expect tab = oom",
            # What grows.
            "click tab.leaks", "wait answered", "expect leaks ~ 1.00 MiB a step", "click leaks.growing.0", "expect live_rows > 5",
            # Compared with itself.
            "click tab.compare", "open " + self.trace, "wait loaded", "click file.1", "click tab.compare", "wait answered",
            "expect compare ~ Peak unchanged", "click compare.swap", "wait answered",
            # What if.
            "click tab.whatif", "wait answered", "expect whatif.subject = true", "click whatif.checkpoint.all", "wait answered",
            "expect whatif.asked.0 = checkpoint=all", "click whatif.reset",
            # The parts that all views share.
            "click tab.timeline", "goto step:5,peak", "click live.row.0", "expect block != null", "key ctrl+f", "text category:parameter", "key escape",
            "expect filter = op:aten::zeros", "expect live_rows < 40", "key ]", "expect moment_text = step 6, backward", "key .", "key ,",
            "click back", "click forward",
            "click help", "expect help = true", "key escape", "expect help = false", "shot " + self.path("all.png"),
        ]
        self.assertGreater(len(steps), 100)
        self.run_script(steps, self.trace)

    def test_what_if_answers_as_the_command_line_does(self) -> None:
        self.run_script([
            "click tab.whatif",
            "wait answered",
            "expect whatif.subject = true",
            "expect whatif.asked = []",
            "state " + self.path("before.json"),
            "click whatif.checkpoint.all",
            "wait answered",
            "expect whatif.asked.0 = checkpoint=all",
            "click whatif.optimizer",
            "click whatif.optimizer.sgd",
            "click whatif.zero-grad",
            "wait answered",
            "expect whatif.asked.1 = optimizer=sgd:foreach",
            "expect whatif.asked.2 = zero-grad=keep",
            "state " + self.path("three.json"),
            "shot " + self.path("whatif.png"),
            "click whatif.reset",
            "click whatif.module.layers.1",
            "wait answered",
            "expect whatif.asked = [\"checkpoint=layers.1\"]",
            "click whatif.module.layers",  # some are ticked: now all are
            "wait answered",
            "expect whatif.asked = [\"checkpoint=all\"]",
            "click whatif.checkpoint.none",
            "click whatif.reset",
            "click whatif.settings",
            "text no_such_key:1",
            "wait answered",
            "expect whatif.refused.0 ~ no_such_key",
            "move whatif.step 0.5 0.5",
            "click whatif.reset",
            "wait answered",
            "expect whatif.asked = []",
            "click theme",
            "shot " + self.path("light.png"),
        ], self.trace)
        states = {}
        for name, levers in (("before", []), ("three", ["--optimizer", "sgd", "--checkpoint", "all", "--zero-grad", "keep"])):
            with open(self.path(name + ".json"), encoding="utf-8") as file:
                states[name] = json.load(file)["whatif"]
            told = subprocess.run([VRAMSCOPE, "whatif", "--json", *levers, self.trace], stdout=subprocess.PIPE, check=True, text=True).stdout
            after = json.loads(told)["after"]["peak"]
            self.assertEqual(states[name]["after"], {"allocated_bytes": after["allocated_bytes"], "reserved_bytes": after["reserved_peak_bytes"]})
        self.assertEqual(states["before"]["before"], states["before"]["after"])
        self.assertEqual(len(states["three"]["code"]), 3)

    def test_plans_that_fit_are_those_of_the_command_line(self) -> None:
        self.run_script([
            "click tab.whatif",
            "wait answered",
            "click whatif.fit.into",
            "text much",
            "key enter",
            "wait answered",
            "expect whatif.fit.why_not ~ size in GiB",
            "click whatif.fit.into",
            "key ctrl+a",
            "text 545MiB",
            "click whatif.fit.find",
            "wait answered",
            "state " + self.path("plans.json"),
            "expect whatif.fit.plans.0.reserved_bytes > 0",
            "shot " + self.path("plans.png"),
            "click whatif.fit.plan.1",
            "wait answered",
            "state " + self.path("set.json"),
            "click whatif.fit.into",
            "key ctrl+a",
            "text 1MiB",
            "key enter",
            "wait answered",
            "expect whatif.fit.plans = []",
            "state " + self.path("nothing.json"),
            "shot " + self.path("nothing.png"),
            "click whatif.fit.into",
            "key ctrl+a",
            "text 24",
            "click whatif.fit.find",
            "wait answered",
            "expect whatif.fit.fits_already = true",
            "click whatif.fit.close",
            "expect whatif.fit.fits_already = false",
        ], self.trace)
        states = {}
        for name, size in (("plans", "545MiB"), ("nothing", "1MiB")):
            with open(self.path(name + ".json"), encoding="utf-8") as file:
                states[name] = json.load(file)["whatif"]["fit"]
            done = subprocess.run([VRAMSCOPE, "plan", "--json", "--by", "transform", "--top", "5", "--fit", size, self.trace], stdout=subprocess.PIPE,
                                  text=True)
            told = json.loads(done.stdout)
            self.assertEqual(states[name]["limit_bytes"], told["reserved_limit_bytes"])
            self.assertEqual(states[name]["shortfall_bytes"], told["shortfall_bytes"])
            self.assertEqual([(plan["allocated_bytes"], plan["reserved_bytes"], plan["reserved_at_most_bytes"]) for plan in states[name]["plans"]],
                             [(plan["after"]["peak"]["allocated_bytes"], plan["after"]["peak"]["reserved_peak_bytes"], plan["reserved_at_most_bytes"])
                              for plan in told["plans"]])
        self.assertGreater(states["nothing"]["shortfall_bytes"], 0)
        with open(self.path("set.json"), encoding="utf-8") as file:
            whatif = json.load(file)["whatif"]
        self.assertEqual(whatif["after"]["reserved_bytes"], states["plans"]["plans"][0]["reserved_bytes"])
        self.assertEqual(len(whatif["asked"]), len(states["plans"]["plans"][0]["changes"].split()))

    def test_owners_follow_the_moment_and_a_click_zooms(self) -> None:
        self.run_script([
            "goto step:4,peak",
            "click tab.owners",
            "state " + self.path("all.json"),
            "click owners 0.3 0.075",  # the second row: layers
            "expect owners.zoom = [\"layers\"]",
            "state " + self.path("layers.json"),
            "move owners 0.2 0.15",
            "shot " + self.path("flame.png"),
            "click owners.treemap",
            "shot " + self.path("treemap.png"),
            "key u",
            "expect owners.zoom = []",
            "click owners 0.3 0.5",
            "expect owners.zoom != []",
            "click owners.path.0",
            "expect owners.zoom = []",
            "click owners.category",
            "click owners 0.2 0.3",
            "expect owners.zoom != []",
            "click owners.stack",
            "expect owners.zoom = []",
            "click owners.operator",
            "goto 0",
            "expect owners.shown_bytes < 40000000",
        ], self.trace)
        states = {}
        for name in ("all", "layers"):
            with open(self.path(name + ".json"), encoding="utf-8") as file:
                states[name] = json.load(file)
        self.assertEqual(states["all"]["owners"]["shown_bytes"], states["all"]["allocated_bytes"])
        self.assertLess(states["layers"]["owners"]["shown_bytes"], states["all"]["allocated_bytes"])
        self.assertNotEqual(picture(self.path("flame.png"))[2], picture(self.path("treemap.png"))[2])

    def test_leaks_are_those_of_the_command_line(self) -> None:
        self.run_script([
            "click tab.leaks",
            "wait answered",
            "state " + self.path("leaks.json"),
            "shot " + self.path("leaks.png"),
            "click leaks.growing.0",
            "expect live_rows > 5",  # it goes to the end of the last step, with what is kept in the table
            "expect moment_text = step 9, optimizer",
            "move leaks.growth 0.5 0.5",
        ], self.trace)
        with open(self.path("leaks.json"), encoding="utf-8") as file:
            headline = json.load(file)["leaks"]
        told = subprocess.run([VRAMSCOPE, "leaks", self.trace], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual(headline.replace("1.00 MiB", "1.0 MiB"), told.splitlines()[0])  # three digits, one decimal
        self.assertIn("1.00 MiB a step", headline)

    def test_fragmentation_over_time_and_under_other_settings(self) -> None:
        self.run_script([
            "click tab.fragmentation",
            "wait answered",
            "state " + self.path("tried.json"),
            "shot " + self.path("before.png"),
            "click fragmentation.series 0.3 0.5",  # the moment that all follows
            "expect moment_ns < 1000000000000",
            "expect moment_text ~ step",
            "move fragmentation.settings.1",
            "shot " + self.path("after.png"),
        ], self.trace)
        with open(self.path("tried.json"), encoding="utf-8") as file:
            state = json.load(file)
        self.assertGreater(len(state["settings_tried"]), 3)
        for tried in state["settings_tried"]:
            told = subprocess.run([VRAMSCOPE, "replay", "--json", "--settings", tried["settings"], self.trace], stdout=subprocess.PIPE,
                                  check=True, text=True).stdout
            self.assertEqual(tried["peak_reserved_bytes"], json.loads(told)["peak"]["reserved_peak_bytes"], tried["settings"])
        self.assertNotEqual(picture(self.path("before.png"))[2], picture(self.path("after.png"))[2])


class FirstPicture(ViewerTest):
    def test_the_axes_the_lines_and_the_card_of_a_block(self) -> None:
        self.run_script([
            "wait answered",
            "expect tab = summary",
            "click summary.headline",  # leads to the peak
            "expect tab = timeline",
            "expect moment_text = step 1, backward",
            "key ctrl+0",
            "expect time_axis = time",
            "key x",
            "expect time_axis = event",
            "click time.axis",
            "expect time_axis = step",
            "expect begin_ns > 0",
            "wheel timeline 0.5 0.5 6",
            "drag overview 0.5 0.5 0.1 0.5",
            "key x",
            "expect time_axis = time",
            "key backspace",
            "expect time_axis = step",
            "key home",
            "key x",
            "click tab.summary",
            "wait answered",
            "click summary.growth",
            "expect tab = leaks",
            "key backspace",
            "expect tab = summary",
            "goto step:1,peak",
            "click live.row.0",
            "wait answered",
            "expect block > 0",
            "click card.Born",  # the moment of its birth
            "state " + self.path("born.json"),
            "goto end",
        ], TRAINING)
        with open(self.path("born.json"), encoding="utf-8") as file:
            born = json.load(file)
        self.assertNotEqual(born["moment_text"], "outside of all steps")


if __name__ == "__main__":
    unittest.main()
