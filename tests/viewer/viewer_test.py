#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer without a display: scripts that use it by the names of its elements, pictures, and files that it must refuse."""
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

from viewing import MIB, TRAINING, VRAMSCOPE, WRITER, ViewerTest, failed_run, picture, view


class Script(ViewerTest):
    def test_a_session_over_the_timeline(self) -> None:
        self.run_script([
            "expect files.0.loaded = true",
            "expect moment_text = step 1, backward",  # it opens at the peak
            "expect begin_ns > 0",  # and on the training steps
            "state " + self.path("peak.json"), "key home", "expect begin_ns = 0",
            "wheel timeline 0.5 0.5 4",
            "expect begin_ns > 1000000",
            "key a",
            "key d",
            "key w",
            "key home",
            "expect begin_ns = 0",
            "click timeline 0.1 0.5",
            "expect moment_ns < 700000",
            "key ]",
            "expect moment_text = step 1, backward",
            "drag timeline 0.3 0.5 0.6 0.5",
            "expect range.begin_ns > 1500000",
            "expect range.end_ns < 3600000",
            "key z",
            "expect begin_ns > 1500000",
            "key backspace",
            "expect begin_ns = 0",
            "key alt+right",
            "expect begin_ns > 1500000",
            "key alt+left",
            "expect begin_ns = 0",
            "key escape",
            "expect range = null",
            "click category.activation",
            "expect shown_categories.0 = activation",
            "click category.activation",
            "expect shown_categories.0 = parameter",
            "key ctrl+f",
            "text category:parameter size>1KiB",
            "expect filter = category:parameter size>1KiB",
            "expect live_rows > 0",
            "expect live_rows < 100",
            "text  size>many",
            "expect live_error ~ size>many",
            "key escape",
            "key f1",
            "wait 2",
            "expect help = true",
            "shot " + self.path("help.png"),
            "key f1",
            "expect help = false",
            "click timeline 0.1 0.5",
            "key space",
            "expect playing = true",
            "click speed",
            "expect speed = 1.0",
            "wait 20",  # a third of a second: more than the run has left
            "expect playing = false",
            "expect moment_text = step 1, backward",
            "click theme",
            "expect dark = false",
            "move timeline 0.4 0.5",
            "expect hover_ns > 2000000",
            "shot " + self.path("light.png"),
            "dragright timeline 0.5 0.5 0.9 0.5",
            "drag overview 0.5 0.5 0.6 0.5",
        ], TRAINING)
        with open(self.path("peak.json"), encoding="utf-8") as file:
            state = json.load(file)
        report = json.loads(subprocess.run([VRAMSCOPE, "report", "--json", TRAINING], stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual(state["allocated_bytes"], report["peak"]["allocated_bytes"])
        self.assertEqual(state["moment_ns"], report["peak"]["time_ns"])
        self.assertEqual(state["live_bytes"], report["peak"]["allocated_bytes"])
        self.assertNotEqual(picture(self.path("help.png"))[2], picture(self.path("light.png"))[2])

    def test_addresses_fragmentation_and_a_request_that_failed(self) -> None:
        snapshot = self.path("failed.json")
        with open(snapshot, "w", encoding="utf-8") as file:
            json.dump(failed_run(self.path("train.py")), file)
        with open(self.path("train.py"), "w", encoding="utf-8") as file:
            file.write("".join(f"line {i}\n" for i in range(1, 12)))
        self.run_script([
            "expect tab = oom",  # the run ended out of memory, so the viewer opens with this tab
            "expect layout = true",
            "shot " + self.path("oom.png"),
            "click tab.map",
            "expect tab = map",
            "click map 0.2 0.5",
            "shot " + self.path("map.png"),
            "expect legend.0 ~ train.py:7",
            "click coloring",
            "click coloring.size",
            "expect coloring = size",
            "expect legend.0 = up to 8 MiB",
            "key c",
            "expect coloring = stream",
            "expect legend.0 = default stream",
            "goto color:stack",
            "expect legend.0 = forward (train.py:7)",
            "key n",
            "expect pins = true",
            "move map 0.5 0.1",
            "shot " + self.path("lines.png"),
            "click pins",
            "expect pins = false",
            "goto color:category",
            "click tab.address-time",
            "wait answered",
            "expect address_time.blocks = 3",
            "expect address_time.merged = 0",
            "click address-time 0.98 0.1",  # the upper 8 MiB of 20
            "expect block = 3",
            "click frame.0",
            "expect source = line 7",
            "click source.editor", f"expect said = vscode://file{self.path('train.py')}:7",
            "shot " + self.path("source.png"),
            "click frame.1",
            "expect source ~ not on this machine",
            "click frame.1",
            "expect source = null",
            "expect moment > 3",
            "wheel address-time 0.5 0.5 4",
            "expect begin_ns > 0",
            "key home",
            "key c",
            "wait answered",
            "shot " + self.path("address-time.png"),
            "key escape",
            "click tab.fragmentation",
            "shot " + self.path("fragmentation.png"),
            "click tab.timeline",
            "expect tab = timeline",
            "click back",
            "expect tab = fragmentation",
            "click forward",
            "expect tab = timeline",
            "goto end",
            "expect allocated_bytes = " + str(16 * MIB),
            "expect live_rows = 2",
            "open " + TRAINING,
            "wait loaded",
            "expect files.1.loaded = true",
            "expect device ~ cpu",
            "click file.0",
            "expect device = cuda:0",
            "click tab.compare",
            "wait answered",
            "expect compare ~ Peak -",
            "shot " + self.path("compare.png"),
            "state " + self.path("compared.json"),
            "click compare.swap",
            "wait answered",
            "expect compare ~ Peak +",
            "click compare.swap", "wait answered", "click compare.table",
            "open " + TRAINING,
            "wait loaded",
            "click compare.swap",  # the file that came last was after: now it is before
            "click file.1",
            "wait answered",
            "expect compare ~ Peak unchanged",
            "move compare.steps 0.5 0.5",
        ], snapshot, "--size", "1600x1300")
        with open(self.path("compared.json"), encoding="utf-8") as file:
            compared = json.load(file)["compare"]
        diff = subprocess.run([VRAMSCOPE, "diff", snapshot, TRAINING], stdout=subprocess.PIPE, check=True, text=True).stdout
        # The viewer writes three digits, the command one decimal.
        self.assertEqual(re.sub(r"(\d+)(\.\d+)? ([KMG]iB)", r"\1 \3", compared), re.sub(r"(\d+)(\.\d+)? ([KMG]iB)", r"\1 \3", diff.splitlines()[0]))
        pictures = [picture(self.path(name + ".png"))[2] for name in ("oom", "map", "lines", "address-time", "fragmentation", "compare")]
        self.assertEqual(len(set(pictures)), 6)

    def test_a_file_that_is_being_written_is_followed(self) -> None:
        growing, seen = self.path("growing.vms"), self.path("seen.json")
        with open(TRAINING, "rb") as file:
            data = file.read()
        with open(growing, "wb") as file:
            file.write(data[:len(data) // 2])  # some whole blocks, and a part of one
        writer = subprocess.Popen([sys.executable, "-c", WRITER, seen, TRAINING, growing])
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        self.run_script([
            "expect files.0.loaded = true",
            "expect files.0.events < 800",
            "expect files.0.live = false",
            "key c",
            "key ctrl+f",
            "text category:activation",
            "key escape",
            "goto 1000000",
            "expect moment_ns = 903210",
            "state " + seen,
            "wait events 800",
            "expect files.0.live = false",  # it is complete
            "expect moment_ns = 903210",
            "expect live_rows > 0",
            "expect coloring = age",
            "click tab.address-time",
            "wait answered",
            "expect address_time.blocks > 0",
        ], growing)

    def test_what_is_listed_is_saved_beside_the_trace(self) -> None:
        trace = self.path("run.vms")
        shutil.copy(TRAINING, trace)
        lines = ["goto peak", "key ctrl+f", "text category:activation", "expect live_rows > 0", "state " + self.path("state.json"), "click save",
                 "expect saved ~ run.live-", "click save", "expect saved ~ -2.csv"]
        self.run_script(lines, trace)
        with open(self.path("state.json"), encoding="utf-8") as file:
            state = json.load(file)
        saved = [self.path(f"run.live-{state['moment']}{number}.csv") for number in ("", "-2")]
        rows = []
        for path in saved:
            with open(path, encoding="utf-8", newline="") as file:
                rows.append(list(csv.DictReader(file)))
        self.assertEqual(rows[0], rows[1])
        self.assertEqual(len(rows[0]), state["live_rows"])
        self.assertEqual(sum(int(row["bytes"]) for row in rows[0]), state["live_bytes"])
        self.assertEqual({row["category"] for row in rows[0]}, {"activation"})

    def test_where_nothing_can_be_saved_a_sentence_says_so(self) -> None:
        trace = self.path("a" * 251 + ".vms")  # no name can be longer
        shutil.copy(TRAINING, trace)
        self.run_script(["click save", "expect warning ~ cannot be written"], trace)

    def test_what_was_opened_last_is_offered(self) -> None:
        self.run_script(["expect files.0.loaded = true"], TRAINING)
        self.run_script([
            "wait 2",
            "click recent.0",
            "wait loaded",
            "expect files.0.name = v1_training.vms",
            "expect files.0.loaded = true",
        ])

    def test_frames_of_a_script_are_counted_by_view(self) -> None:
        times = self.path("times.json")
        self.run_script(["click tab.map", "repeat 7 wait 3", "repeat 2 key .", "click tab.timeline", "wait 5"],
                        "--frame-times", times, TRAINING)
        with open(times, encoding="utf-8") as file:
            told = json.load(file)
        # A key is two frames. A click is three, seen in the view that it leaves: the move to the tab, the press, the release.
        self.assertEqual(told["views"]["map"]["frames"], 7 * 3 + 2 * 2 + 3)
        for view_times in told["views"].values():
            self.assertLessEqual(view_times["median_ms"], view_times["p99_ms"])
            self.assertLessEqual(view_times["p99_ms"], view_times["longest_ms"])
        opening = [told["opening"][name]["seconds"] for name in ("first_picture", "timeline", "everything")]
        self.assertEqual(opening, sorted(opening))
        self.assertGreater(told["memory"]["events"], 700)
        refused = view("--frame-times", times, TRAINING)
        self.assertEqual((refused.returncode, "--script" in refused.stderr), (2, True))

    def test_a_script_that_is_wrong_says_where(self) -> None:
        script = self.path("wrong.txt")
        for line, sentence in [("click nowhere", '"nowhere" is not on the screen'), ("expect dark = false", "dark is true"), ("jump", "no command")]:
            with open(script, "w", encoding="utf-8") as file:
                file.write("# a comment\n\n" + line + "\n")
            done = view("--script", script, TRAINING)
            self.assertEqual(done.returncode, 2)
            self.assertIn(script + ":3: ", done.stderr)
            self.assertIn(sentence, done.stderr)


class WithoutADeepStep(ViewerTest):
    def test_each_view_says_why_it_is_empty(self) -> None:
        self.run_script([
            "click tab.whatif",
            "wait answered",
            "expect whatif.subject = false",
            "expect whatif.why_not ~ host memory",
            "click tab.leaks",
            "wait answered",
            "expect leaks = null",
            "click tab.owners",
            "click owners.stack",
        ], TRAINING)


class Pictures(ViewerTest):
    def test_size_and_scale(self) -> None:
        for scale, theme in (("1", "dark"), ("2", "light")):
            path = self.path(f"{theme}.png")
            done = view("--screenshot", path, "--size", "640x400", "--scale", scale, "--theme", theme, "--goto", "step:1,peak", TRAINING)
            self.assertEqual(done.returncode, 0, done.stderr)
            width, height, rows = picture(path)
            self.assertEqual((width, height), (640 * int(scale), 400 * int(scale)))
            self.assertGreater(len(set(rows)), 30, "nothing is drawn")

    def test_bad_input_is_one_sentence(self) -> None:
        broken = self.path("broken.vms")
        with open(broken, "wb") as file:
            file.write(b"not a trace at all")
        cases = [
            (["--screenshot", self.path("x.png"), broken], "broken.vms"),
            (["--screenshot", self.path("x.png"), self.path("absent.vms")], "absent.vms"),
            (["--screenshot", "/nowhere/x.png", TRAINING], "/nowhere/x.png"),
            (["--screenshot", self.path("x.png"), "--goto", "step:77", TRAINING], "no step 77"),
            (["--screenshot", self.path("x.png"), "--goto", "color:shape", TRAINING], "category, age, size"),
            (["--screenshot", self.path("x.png"), "--size", "big", TRAINING], "--size"),
            (["--screenshot", self.path("x.png"), "--view", "nothing", TRAINING], "--view"),
        ]
        for arguments, expected in cases:
            done = view(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Trouble(ViewerTest):
    def test_a_file_that_is_none_is_refused_in_the_window(self) -> None:
        with open(TRAINING, "rb") as file:
            training = file.read()
        files = {
            "empty.vms": b"",
            "text.vms": b"not a trace at all",
            "header.vms": training[:40],
            "newer.vms": training[:8] + b"\x63\x00" + training[10:60] + struct.pack("<I", zlib.crc32(training[:8] + b"\x63\x00" + training[10:60])),
            "cut.pickle": b"\x80\x04\x95\xff\xff\xff\xff\x00\x00\x00\x00}",
            "bomb.pickle": b"\x80\x02cos\nsystem\n(S'touch pwned'\ntR.",
            "list.json": b"[1, 2",
        }
        lines = []
        for number, (name, data) in enumerate(files.items()):
            with open(self.path(name), "wb") as file:
                file.write(data)
            lines += [f"open {self.path(name)}", "wait loaded", f"expect files.{number}.loaded = false", f"expect files.{number}.error ~ {name}",
                      f"click file.{number}"]
        self.run_script(lines + ["shot " + self.path("refused.png"), "open " + TRAINING, "wait loaded", f"expect files.{len(files)}.loaded = true"])
        self.assertFalse(os.path.exists("pwned"))

    def test_a_trace_that_was_cut_says_so_above_what_it_shows(self) -> None:
        with open(TRAINING, "rb") as file:
            data = file.read()
        with open(self.path("cut.vms"), "wb") as file:
            file.write(data[:len(data) * 2 // 3])
        self.run_script([
            "expect files.0.loaded = true",
            "expect warning ~ cut",
            "expect files.0.events > 100",
            "shot " + self.path("cut.png"),
            "open " + TRAINING,
            "wait loaded",
            "click file.1",
            "expect warning = ",
            "shot " + self.path("whole.png"),
        ], self.path("cut.vms"))

    def test_it_closes_while_a_file_is_read(self) -> None:
        large = self.path("large.vms")
        make = os.path.join(os.environ["VRAMSCOPE_BINARY_DIR"], "trace_reader", "make_trace")
        subprocess.run([make, large, "training", "5", "400000", "65536"], check=True)
        self.run_script(["open " + large, "key ctrl+q"])  # ends at once
        self.run_script(["open " + large, "open " + large, "wait 1", "click file.1"])

    def test_a_font_that_is_not_there_gives_way_to_another(self) -> None:
        shown = []
        for font in ("/nowhere/at-all.ttf", TRAINING):  # absent; no font
            done = view("--font", font, "--screenshot", self.path("font.png"), "--size", "640x400", TRAINING)
            self.assertEqual(done.returncode, 0, done.stderr)
            shown.append(picture(self.path("font.png")))
        done = view("--screenshot", self.path("font.png"), "--size", "640x400", TRAINING)
        self.assertEqual(shown, [picture(self.path("font.png"))] * 2)


class Remembered(ViewerTest):
    def test_the_window_comes_back_as_it_was_left(self) -> None:
        self.run_script(["expect dark = true", "key t", "expect dark = false", "key ctrl+=", "key ctrl+=", "expect text_size > 1.2", "wait 2",
                         "shot " + self.path("large.png")], TRAINING)
        self.run_script(["expect dark = false", "expect text_size > 1.2", "key ctrl+0", "expect text_size = 1.0", "wait 2",
                         "shot " + self.path("usual.png")], TRAINING)
        self.run_script(["expect dark = false", "expect text_size = 1.0"], "--theme", "light", TRAINING)
        self.run_script(["expect dark = true"], "--theme", "dark", TRAINING)  # the option wins
        self.assertNotEqual(picture(self.path("large.png"))[2], picture(self.path("usual.png"))[2])


if __name__ == "__main__":
    unittest.main()
