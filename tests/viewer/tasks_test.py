#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks of a user of the viewer, and how many clicks they take: each task is a script whose clicks, drags and keys are counted. Then the parts that
these tasks lead to: search through the whole run, notes, links, pictures, and a way back from every move."""
import json
import os
import pickle
import shutil
import signal
import subprocess
import threading
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import List

from viewing import TRAINING, VRAMSCOPE, ViewerTest, failed_run, picture, view

ACTS = ("click", "doubleclick", "drag", "key", "wheel")


class Tasks(ViewerTest):
    def setUp(self) -> None:
        super().setUp()
        self.trace = self.path("run.vms")
        shutil.copyfile(TRAINING, self.trace)
        self.snapshot = self.path("oom.pickle")
        with open(self.snapshot, "wb") as file:
            pickle.dump(failed_run("/nowhere/model.py"), file)

    def task(self, most: int, lines: List[str], *files: str) -> None:
        """The script reaches what it expects with at most `most` clicks; typing a word does not count."""
        acts = sum(line.startswith(ACTS) for line in lines)
        self.assertLessEqual(acts, most, lines)
        self.run_script(lines, *(files or (self.trace,)))

    def test_every_view_can_be_reached_in_a_narrow_window(self) -> None:
        lines = []
        for tab in ("owners", "map", "fragmentation", "oom", "leaks", "compare", "whatif", "ranks", "timeline", "summary"):
            lines += ["click tab." + tab, "expect tab = " + tab]
        # The menu after the tabs lists all views. The wheel scrolls the tabs.
        lines += ["click tabs.all", "wait 2", "click tab.ranks", "expect tab = ranks", "wheel tab.ranks 0.5 0.5 40", "wait 2", "click tab.summary 0.9 0.5"]
        self.run_script(lines, "--size", "700x500", self.trace)

    def test_nothing_is_cut_in_the_window_of_a_phone(self) -> None:
        self.expect_nothing_cut({"oom": ["expect view_rows > 1"], "fragmentation": []}, self.snapshot)
        events = ["key i", "wait 2", "click table.events", "wait answered"]
        self.expect_nothing_cut({"timeline": events, "owners": ["key f1"], "map": ["key ctrl+o"]}, self.trace)

    def test_nothing_is_cut_in_the_narrowest_window(self) -> None:
        views = ("summary", "timeline", "owners", "map", "address-time", "leaks", "compare")
        self.expect_nothing_cut({view: [] for view in views}, self.trace, self.snapshot, width=320)

    def test_each_task_takes_the_clicks_it_should(self) -> None:
        peak = json.loads(subprocess.run([VRAMSCOPE, "report", "--json", self.trace], stdout=subprocess.PIPE, check=True).stdout)["peak"]
        self.task(0, [f"expect live_bytes = {peak['allocated_bytes']}", "expect live_rows > 10"])  # what is live at the peak
        self.task(1, ["click live.row.0", "expect block > 0"])  # what is this block
        self.task(1, ["click tab.fragmentation", "wait answered", "expect view_rows > 1"], self.snapshot)  # why fragmented, and what pins
        self.task(0, ["expect files.1.loaded = true", "expect compared.0 = 0", "expect compared.1 = 1"], self.trace, self.snapshot)
        self.task(1, ["open " + self.snapshot, "wait loaded", "click tab.compare", "wait answered", "expect compare ~ Peak +"])  # the new one is "after"
        self.task(1, ["click play", "expect playing = true"])
        # A block by name or kind, in the whole run: more than were ever alive at one time.
        self.task(1, ["key ctrl+shift+f", "text category:activation", "wait answered", "expect listed = run", "expect matched > 60"])
        self.task(1, ["drag timeline 0.2 0.5 0.6 0.5", "wait answered", "expect listed = range", "expect matched > 100"])  # the blocks of a time
        self.task(1, ["click view.copy", "expect copied = category,bytes,bytes_at_peak", "expect said = table copied"])
        self.task(1, ["click view.png", "wait 4", "expect said ~ .png"])
        self.task(1, ["key ctrl+o", "text run.vms", "wait 2"])  # a file from within; the folder of the open one is offered
        self.task(1, ["drag timeline 0.05 0.5 0.5 0.5", "wait 2", "move change.line.0", "expect range.begin_ns > 0"])  # measure between two moments
        self.task(2, ["key b", "text the spike", "key enter", "expect notes.0.text = the spike"])  # a note: a key, words, Enter

    def test_the_table_searches_the_whole_run(self) -> None:
        self.run_script([
            "click table.run", "wait answered", "expect listed = run", "expect matched > 300",
            "click copy", "expect copied ~ number,bytes,category", "state " + self.path("all.json"),
            "click category.parameter", "wait answered", "expect filter = category:parameter", "expect matched < 300",
            "click category.parameter", "expect filter = ",
            "click table.events", "expect listed = events", "key e", "expect listed = range",
            "key ctrl+f", "text category:activation", "expect live_rows < 300", "text  nosuchname", "expect live_rows = 0", "key escape",
        ], self.trace)
        with open(self.path("all.json"), encoding="utf-8") as file:
            state = json.load(file)
        facts = json.loads(subprocess.run([VRAMSCOPE, "info", "--json", self.trace], stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual(state["matched"], facts["devices"][0]["allocations"])

    def test_notes_are_kept_beside_the_trace_and_travel_in_links(self) -> None:
        self.run_script(["key b", "text the spike", "key enter", "expect notes.0.text = the spike", "expect link ~ note:the%20spike",
                         "state " + self.path("state.json")], self.trace)
        with open(self.trace + ".notes.json", encoding="utf-8") as file:
            self.assertEqual([note["text"] for note in json.load(file)["notes"]], ["the spike"])
        with open(self.path("state.json"), encoding="utf-8") as file:
            link = json.load(file)["link"]
        # Another copy of the trace, without the notes: the link brings it along.
        other = self.path("other.vms")
        shutil.copyfile(self.trace, other)
        self.run_script(["goto " + link.split("@", 1)[1] + ",view:owners,filter:category:parameter", "expect notes.0.text = the spike",
                         "expect tab = owners", "expect filter = category:parameter"], other)
        self.assertFalse(os.path.exists(other + ".notes.json"))
        self.run_script(["expect notes.0.text = the spike", "click note.remove.0", "expect notes ~ []"], self.trace)
        with open(self.trace + ".notes.json", "w", encoding="utf-8") as file:
            file.write("[1, 2]")
        self.run_script(["key b", "text mine", "key enter", "expect message ~ not a list of notes"], self.trace)

    def test_pictures_of_a_view(self) -> None:
        self.run_script(["click tab.timeline", "click view.png", "wait 4", "key ctrl+shift+s", "wait 4", "click tab.owners", "click view.svg", "wait 4",
                         "state " + self.path("state.json")], "--size", "1000x700", self.trace)
        with open(self.path("state.json"), encoding="utf-8") as file:
            moment = json.load(file)["moment"]
        width, height, rows = picture(self.path(f"run.timeline-{moment}.png"))
        self.assertTrue(400 < width < 1000 and 200 < height < 700, (width, height))
        self.assertGreater(len(set(rows)), 30)
        for name in ("timeline", "owners"):
            root = ElementTree.parse(self.path(f"run.{name}-{moment}.svg")).getroot()
            texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
            self.assertTrue(any("MiB" in text or "KiB" in text for text in texts), texts)
            self.assertGreater(sum(1 for _ in root.iter("{http://www.w3.org/2000/svg}path")), 5)

    def test_back_undoes_every_move(self) -> None:
        still = ["wait 50"]  # moves in quick succession count as one
        self.run_script([
            *still, "state " + self.path("first.json"),
            "click timeline 0.1 0.5", *still, "wheel timeline 0.5 0.5 4", *still, "key ]", *still, "drag timeline 0.2 0.5 0.4 0.5", *still,
            "dragright timeline 0.7 0.5 0.3 0.5", *still, "click live.row.0", *still, "key 2", "expect tab = owners", *still,
            *(["key backspace"] * 8), "state " + self.path("last.json"),
        ], self.trace)
        first, last = (json.loads(Path(self.path(name)).read_text(encoding="utf-8")) for name in ("first.json", "last.json"))
        for key in ("tab", "begin_ns", "end_ns", "moment", "block", "range"):
            self.assertEqual(first[key], last[key], key)

    def test_parts_fold_and_views_have_numbers(self) -> None:
        self.run_script([
            "key i", "expect details = false", "key l", "expect table = false", "wait 2", "shot " + self.path("folded.png"),
            "click fold.details", "expect details = true", "click fold.table", "expect table = true",
            "key 3", "expect tab = map", "key 9", "expect tab = whatif", "key j", "expect tab = ranks", "key m", "expect tab = summary", "key 1",
            "expect tab = timeline",
            "doubleclick timeline 0.9 0.5", "expect moment_text = step 1, backward",
            "click close.0", "expect files = []",
        ], self.trace)
        self.run_script(["expect details = true"], self.trace)

    def test_copied_tables_are_csv(self) -> None:
        script = []
        for name, head in (("owners", "path,bytes,blocks,category"), ("fragmentation", "address,segment_bytes,held_back_bytes,pinned_by,pin_bytes"),
                           ("oom", "what,category,bytes,blocks"), ("map", "number,bytes,category,name,module,op,step,born_ns,address,line,freed_ns")):
            script += [f"click tab.{name}", "wait answered", "click view.copy", "expect copied = " + head, "expect view_rows > 1"]
        self.run_script(script, self.snapshot)


# A stand-in for `ssh`: runs the command here, and writes down its arguments.
SSH = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
for command; do :; done
exec sh -c "$command"
"""


class Remote(ViewerTest):
    def setUp(self) -> None:
        super().setUp()
        with open(self.path("ssh"), "w", encoding="utf-8") as file:
            file.write(SSH)
        os.chmod(self.path("ssh"), 0o755)
        self.with_ssh = {**os.environ, "PATH": self.folder.name + ":" + os.environ["PATH"], "TMPDIR": self.folder.name}

    def followers(self) -> List[str]:
        """The commands that print what is appended to a file of this test, on what stands in for the other machine."""
        commands = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if self.folder.name in command and "tail -c" in command:
                commands.append(command)
        return commands

    def wait_for_followers(self, wanted: bool) -> None:
        end = time.monotonic() + 30
        while bool(self.followers()) != wanted:
            self.assertLess(time.monotonic(), end, self.followers())
            time.sleep(0.02)

    def test_a_file_of_another_machine(self) -> None:
        there = self.path("it's there.vms")
        shutil.copyfile(TRAINING, there)
        self.run_script(["expect files.0.loaded = true", "expect files.0.name = it's there.vms"], "ssh://me@far:2222" + there, environment=self.with_ssh)
        with open(self.path("asked"), encoding="utf-8") as file:
            self.assertTrue(file.readline().startswith("-p 2222 -- me@far cat -- "))
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.startswith("vramscope-ssh")], [])

    def test_it_is_followed_while_it_grows(self) -> None:
        with open(TRAINING, "rb") as file:
            data = file.read()
        there = self.path("live.vms")
        with open(there, "wb") as file:
            file.write(data[: len(data) // 2])

        def grow() -> None:
            with open(there, "ab") as more:
                more.write(data[len(data) // 2 :])

        timer = threading.Timer(2, grow)
        timer.start()
        self.addCleanup(timer.join)
        self.run_script(["wait loaded", "wait events 800"], "ssh://far" + there, environment=self.with_ssh)
        self.wait_for_followers(False)

    def test_nothing_stays_there_if_the_viewer_is_killed(self) -> None:
        there = self.path("run.vms")
        shutil.copyfile(TRAINING, there)
        with open(self.path("script.txt"), "w", encoding="utf-8") as file:
            file.write("wait loaded\nwait events 1000000")
        viewer = subprocess.Popen([VRAMSCOPE, "view", "--renderer", "software", "--script", self.path("script.txt"), "ssh://far" + there],
                                  env={**self.with_ssh, "XDG_STATE_HOME": self.path("state")}, start_new_session=True)
        try:
            self.wait_for_followers(True)
            viewer.kill()
            viewer.wait(timeout=60)
            self.wait_for_followers(False)
        finally:
            os.killpg(viewer.pid, signal.SIGKILL)  # also the part that shows the file

    def test_what_is_wrong_is_one_sentence(self) -> None:
        for word, expected in (("ssh://far" + self.path("absent.vms"), "could not be fetched"), ("ssh://-oProxyCommand=x/a.vms", "must be like"),
                               ("ssh://far", "must be like"), ("ssh://far:x/a.vms", "must be like")):
            done = view("--screenshot", self.path("x.png"), word, environment=self.with_ssh)
            self.assertEqual(done.returncode, 2, word)
            self.assertIn(expected, done.stderr)
        for words, expected in ((["--bind", "0.0.0.0"], "needs --token"), (["--bind", "far"], "must be an IP address"), (["--token", "short"], "at least 16")):
            done = subprocess.run([VRAMSCOPE, "serve", *words, TRAINING], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
