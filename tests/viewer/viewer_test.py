#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer without a display: scripts that use it by the names of its elements, pictures, and files that it must refuse."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from typing import Any, Dict, List, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]
TRAINING = os.path.join(HERE, "..", "..", "trace_format", "testdata", "v1_training.vms")
MIB = 1 << 20


STATE = tempfile.TemporaryDirectory()  # what the viewer remembers from one start to the next


def view(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([VRAMSCOPE, "view", "--renderer", "software", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=600)
                          text=True, timeout=120, env={**os.environ, "XDG_STATE_HOME": STATE.name})


def picture(path: str) -> Tuple[int, int, bytes]:
    """Width, height and the filtered rows of a PNG."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    width, height = struct.unpack(">II", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    return width, height, zlib.decompress(packed)


def failed_run(source: str) -> Dict[str, Any]:
    """A snapshot of PyTorch: 20 MiB with 4 free in the middle, and a request for 6 that nobody could serve. All from line 7 of a file."""
    at = 0x7F0000000000
    frames = [{"name": "forward", "filename": source, "line": 7}, {"name": "main", "filename": "/nowhere/main.py", "line": 3}]

    def event(action: str, address: int, size: int, time: int, **more: int) -> Dict[str, Any]:
        return {"action": action, "addr": at + address * MIB, "size": size * MIB, "stream": 0, "time_us": time, "frames": frames, **more}

    events = [event("segment_alloc", 0, 20, 1), event("alloc", 0, 8, 2), event("alloc", 8, 4, 3), event("alloc", 12, 8, 4),
              event("free_requested", 8, 4, 5), event("free_completed", 8, 4, 6), event("oom", 0, 6, 7, device_free=1 * MIB)]
    blocks = [{"address": at + start * MIB, "size": size * MIB, "requested_size": size * MIB, "state": state, "frames": frames}
              for start, size, state in ((0, 8, "active_allocated"), (8, 4, "inactive"), (12, 8, "active_allocated"))]
    segment = {"device": 0, "address": at, "total_size": 20 * MIB, "allocated_size": 16 * MIB, "active_size": 16 * MIB, "stream": 0,
               "segment_type": "large", "segment_pool_id": [0, 0], "is_expandable": False, "frames": [], "blocks": blocks}
    return {"segments": [segment], "device_traces": [events], "allocator_settings": {}}


# Three blocks that autograd keeps something of, and a list that keeps 1 MiB of every step.
GROWING = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(3))
    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(9):
    x = torch.randn(512, 256).cuda()
    kept.append(torch.zeros(1 << 18, device="cuda"))
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
# Appends the rest of a file as soon as somebody has seen its first part.
WRITER = """
import os, sys, time
seen, whole, growing = sys.argv[1:]
while not os.path.exists(seen):
    time.sleep(0.02)
with open(whole, "rb") as source, open(growing, "ab") as target:
    source.seek(target.tell())
    target.write(source.read())
"""


class ViewerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def run_script(self, lines: List[str], *arguments: str) -> None:
        script = self.path("script.txt")
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        done = view("--script", script, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)


class Script(ViewerTest):
    def test_a_session_over_the_timeline(self) -> None:
        self.run_script([
            "expect files.0.loaded = true",
            "expect moment_text = step 1, backward",  # it opens at the peak
            "state " + self.path("peak.json"),
            "expect begin_ns = 0",
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
            "expect tab = oom",  # it ended so: that is what it opens with
            "expect layout = true",
            "shot " + self.path("oom.png"),
            "click tab.map",
            "expect tab = map",
            "click map 0.2 0.5",
            "shot " + self.path("map.png"),
            "expect legend.0 = Unattributed",
            "click colouring",
            "click colouring.size",
            "expect colouring = size",
            "expect legend.0 = up to 8 MiB",
            "key c",
            "expect colouring = stream",
            "expect legend.0 = default stream",
            "goto colour:stack",
            "expect legend.0 = forward (train.py:7)",
            "key n",
            "expect pins = true",
            "move map 0.5 0.1",
            "shot " + self.path("lines.png"),
            "click pins",
            "expect pins = false",
            "goto colour:category",
            "click tab.address-time",
            "wait answered",
            "expect address_time.blocks = 3",
            "expect address_time.merged = 0",
            "click address-time 0.98 0.1",  # the upper 8 MiB of 20
            "expect block = 3",
            "click frame.0",
            "expect source = line 7",
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
            "expect compare ~ Peak +",
            "shot " + self.path("compare.png"),
            "click compare.swap",
            "expect device ~ cpu",
            "wait answered",
            "state " + self.path("compared.json"),
            "click compare.table",
            "open " + TRAINING,
            "open " + TRAINING,
            "wait loaded",
            "click file.2",
            "click compare.swap",  # now file 2 stands for before
            "click file.3",
            "wait answered",
            "expect compare ~ Peak unchanged",
            "move compare.steps 0.5 0.5",
        ], snapshot)
        with open(self.path("compared.json"), encoding="utf-8") as file:
            compared = json.load(file)["compare"]
        diff = subprocess.run([VRAMSCOPE, "diff", snapshot, TRAINING], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual(compared, diff.splitlines()[0])
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
            "expect colouring = age",
            "click tab.address-time",
            "wait answered",
            "expect address_time.blocks > 0",
        ], growing)

    def test_what_was_opened_last_is_offered(self) -> None:
        self.run_script(["expect files.0.loaded = true"], TRAINING)
        self.run_script([
            "wait 2",
            "click recent.0",
            "wait loaded",
            "expect files.0.name = v1_training.vms",
            "expect files.0.loaded = true",
        ])

    def test_a_script_that_is_wrong_says_where(self) -> None:
        script = self.path("wrong.txt")
        for line, sentence in [("click nowhere", '"nowhere" is not on the screen'), ("expect dark = false", "dark is true"), ("jump", "no command")]:
            with open(script, "w", encoding="utf-8") as file:
                file.write("# a comment\n\n" + line + "\n")
            done = view("--script", script, TRAINING)
            self.assertEqual(done.returncode, 2)
            self.assertIn(script + ":3: ", done.stderr)
            self.assertIn(sentence, done.stderr)


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
        done = subprocess.run([VRAMSCOPE, "dryrun", "--gpu", "rtx-4090", "-o", cls.trace, "--", python, program], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        assert done.returncode == 0, done.stdout

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
            "click whatif.amp",
            "click whatif.amp.bf16",
            "click whatif.zero-grad",
            "wait answered",
            "expect whatif.asked.0 = amp=bf16",
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
            "drag whatif.batch 0.5 0.5 0.98 0.5",
            "wait answered",
            "expect whatif.after.allocated_bytes > 60000000",
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
        for name, levers in (("before", []), ("three", ["--amp", "bf16", "--checkpoint", "all", "--zero-grad", "keep"])):
            with open(self.path(name + ".json"), encoding="utf-8") as file:
                states[name] = json.load(file)["whatif"]
            told = subprocess.run([VRAMSCOPE, "whatif", "--json", *levers, self.trace], stdout=subprocess.PIPE, check=True, text=True).stdout
            after = json.loads(told)["after"]["peak"]
            self.assertEqual(states[name]["after"], {key: after[key] for key in ("allocated_bytes", "reserved_bytes")})
        self.assertEqual(states["before"]["before"], states["before"]["after"])
        self.assertEqual(len(states["three"]["code"]), 3)

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
        self.assertEqual(headline, told.splitlines()[0])
        self.assertIn("1.0 MiB a step", headline)

    def test_fragmentation_over_time_and_under_other_settings(self) -> None:
        self.run_script([
            "click tab.fragmentation",
            "wait answered",
            "state " + self.path("tried.json"),
            "shot " + self.path("before.png"),
            "click fragmentation.series 0.3 0.5",  # the moment that all follows
            "expect moment_ns < 1000000000000",
            "expect moment_text = outside of all steps",
            "move fragmentation.settings.1",
            "shot " + self.path("after.png"),
        ], self.trace)
        with open(self.path("tried.json"), encoding="utf-8") as file:
            state = json.load(file)
        self.assertGreater(len(state["settings_tried"]), 3)
        for tried in state["settings_tried"]:
            told = subprocess.run([VRAMSCOPE, "replay", "--json", "--settings", tried["settings"], self.trace], stdout=subprocess.PIPE,
                                  check=True, text=True).stdout
            self.assertEqual(tried["peak_reserved_bytes"], json.loads(told)["peak"]["reserved_bytes"], tried["settings"])
        self.assertNotEqual(picture(self.path("before.png"))[2], picture(self.path("after.png"))[2])


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

    def test_every_view_can_be_reached_in_a_narrow_window(self) -> None:
        lines = []
        for tab in ("owners", "map", "fragmentation", "oom", "leaks", "compare", "whatif", "timeline"):
            lines += ["click tab." + tab, "expect tab = " + tab]
        script = self.path("narrow.txt")
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        done = view("--script", script, "--size", "700x500", TRAINING)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_bad_input_is_one_sentence(self) -> None:
        broken = self.path("broken.vms")
        with open(broken, "wb") as file:
            file.write(b"not a trace at all")
        cases = [
            (["--screenshot", self.path("x.png"), broken], "broken.vms"),
            (["--screenshot", self.path("x.png"), self.path("absent.vms")], "absent.vms"),
            (["--screenshot", "/nowhere/x.png", TRAINING], "/nowhere/x.png"),
            (["--screenshot", self.path("x.png"), "--goto", "step:77", TRAINING], "no step 77"),
            (["--screenshot", self.path("x.png"), "--goto", "colour:shape", TRAINING], "category, age, size"),
            (["--screenshot", self.path("x.png"), "--size", "big", TRAINING], "--size"),
            (["--screenshot", self.path("x.png"), "--view", "nothing", TRAINING], "--view"),
        ]
        for arguments, expected in cases:
            done = view(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
