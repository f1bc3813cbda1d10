#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real window, with real key and mouse events, on a virtual X server. Skipped where Xvfb or xdotool is not installed."""
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from typing import Callable, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]
TRAINING = os.path.join(HERE, "..", "..", "trace_format", "testdata", "v1_training.vms")


def until(what: Callable[[], Optional[str]], seconds: float = 300) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


class Window(unittest.TestCase):
    def setUp(self) -> None:
        read, write = os.pipe()
        # -noreset: otherwise the server resets when its last client leaves, and refuses a new one meanwhile: the viewer, after xdotool's first look.
        self.server = subprocess.Popen(["Xvfb", "-noreset", "-displayfd", str(write), "-screen", "0", "1280x800x24"], pass_fds=[write],
                                       stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        self.addCleanup(lambda: (self.server.terminate(), self.server.wait()))
        self.environment = {**os.environ, "DISPLAY": ":" + number}

    def xdotool(self, *words: str) -> str:
        return subprocess.run(["xdotool", *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()

    def test_keys_and_mouse_reach_it_and_it_closes(self) -> None:
        viewer = subprocess.Popen([VRAMSCOPE, "view", "--size", "1000x700", TRAINING], env=self.environment, stderr=subprocess.PIPE)
        self.addCleanup(lambda: viewer.poll() is None and viewer.kill())

        def shown() -> str:
            if viewer.poll() is not None:
                self.fail(f"it ended before it was shown, with {viewer.returncode}: {viewer.stderr.read().decode()}")
            return self.xdotool("search", "--onlyvisible", "--pid", str(viewer.pid))

        window = until(shown)

        def name() -> str:
            return self.xdotool("getwindowname", window)

        self.xdotool("windowfocus", window)
        self.xdotool("key", "--delay", "80", "1")  # from the summary to the timeline
        # The title shows the moment: the viewer opens at the peak.
        peak = until(lambda: name() if "v1_training.vms" in name() else "")
        self.assertIn("step 1, backward", peak)
        self.xdotool("mousemove", "--window", window, "150", "250")
        self.xdotool("click", "--delay", "80", "1")
        clicked = until(lambda: name() if name() != peak else "")
        self.xdotool("key", "--delay", "80", "p")
        self.assertEqual(until(lambda: name() if name() != clicked else ""), peak)
        # Thirty short taps, each one event: none is lost (keyboard_and_fonts.h).
        event = int(re.search(r"event (\d+)", peak).group(1))
        self.xdotool("key", "--delay", "60", *["comma"] * 30)
        until(lambda: "1" if f"event {event - 30} " in name() else "")
        self.xdotool("key", "--delay", "80", "ctrl+q")
        self.assertEqual(viewer.wait(timeout=900), 0)


if __name__ == "__main__":
    if not shutil.which("Xvfb") or not shutil.which("xdotool"):
        print("skipped: Xvfb or xdotool is not installed (apt-get install xvfb xdotool)")
        sys.exit(77)
    unittest.main()
