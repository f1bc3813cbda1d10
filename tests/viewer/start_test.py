#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer's first moments: what moves while the first answers arrive, and what it prints where there is no display."""
import os
import subprocess
import unittest

from viewing import TRAINING, VIEW, VRAMSCOPE, ViewerTest


class Start(ViewerTest):
    def test_the_timeline_stays_where_it_is_when_the_summary_arrives(self) -> None:
        for _ in range(10):  # the summary is computed on a thread: it arrived between a look at the timeline and the wheel once in four times
            self.run_script(["expect tab = summary", "move timeline 0.5 0.02", "wait answered", "expect hover_ns > 0"], TRAINING)

    def test_without_a_display_it_prints_one_sentence(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("DISPLAY", "WAYLAND_", "XDG_"))}
        viewer = VIEW if VIEW != [VRAMSCOPE, "view"] else [VRAMSCOPE + "-viewer"]  # `vramscope view` would serve the page
        done = subprocess.run([*viewer, TRAINING], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"^vramscope: a window cannot be opened: .*vramscope serve FILE.*\n$")  # and no message of libwayland


if __name__ == "__main__":
    unittest.main()
