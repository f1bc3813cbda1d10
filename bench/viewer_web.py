#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the viewer in Chromium with the native one: opening time, frame times and memory for the same script.

    VRAMSCOPE_BIN=build/release/bin/vramscope python3 bench/viewer_web.py run.vms [SCRIPT]

The last rows are for the page opened as users open it: the time until it shows the curve of the events read so far, the time until it shows the
timeline by category, and the CPU time of the page's process until then.
A frame time is the time from the state to the draw lists, as with --frame-times. In the browser it includes handing them to WebGL.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS / "viewer"), str(TESTS / "html_report")]
from browser import Browser  # noqa: E402
from web_test import VRAMSCOPE, Served, run_in_page  # noqa: E402

SCRIPT = """wait loaded
click tab.timeline
repeat 24 wheel timeline 0.31 0.5 1
repeat 12 dragright timeline 0.7 0.5 0.3 0.5
repeat 24 wheel timeline 0.6 0.5 -1
drag timeline 0.2 0.5 0.4 0.5
key escape
repeat 30 key ]
key home
click tab.owners
repeat 20 key ]
click tab.map
repeat 20 key ]
click tab.address-time
repeat 12 wheel address-time 0.4 0.5 1
wait answered
click tab.fragmentation
wait answered
repeat 10 key ]
"""


def native(trace: str, script: str) -> Dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "script").write_text(script)
        subprocess.run([VRAMSCOPE, "view", "--script", str(path / "script"), "--frame-times", str(path / "times"), "--size", "1600x1000", "--renderer",
                        "software", trace], check=True, env={**os.environ, "XDG_STATE_HOME": folder})
        return json.loads((path / "times").read_text())


def in_browser(trace: str, script: str) -> Dict[str, Any]:
    with Served(trace) as served, Browser(1600, 1000, webgl=True) as browser:
        answer = run_in_page(browser, served.link, script, [trace], (1600, 1000), 1)
        return json.loads(answer["frame-times"])


# Records the times when the worker sends a picture and when it first names a place. Only pictures of the whole file name one.
WATCH = """
window.pictures = []; window.opened = null; window.named = null;
window.Worker = class extends Worker {
  constructor(...all) {
    super(...all);
    this.addEventListener('message', ({data}) => {
      if (data.picture) pictures.push(performance.now());
      if ('title' in data && data.title.includes('.')) opened ??= performance.now();
      if ('place' in data && data.place.includes('@')) named ??= performance.now();
    });
  }
};
"""


def page_processor_seconds() -> float:
    """CPU time of this program's descendants that render pages."""
    parents, seconds = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
            shows = b"--type=renderer" in (process / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(process.name)] = int(fields[1])
        if shows:
            seconds[int(process.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    return sum(taken for pid, taken in seconds.items() if is_ours(pid))


def as_people_do(trace: str) -> Dict[str, float]:
    with Served(trace) as served, Browser(1600, 1000, webgl=True) as browser:
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        browser.open(served.link)
        while not browser.evaluate("named"):
            time.sleep(0.2)
        curve = browser.evaluate("pictures.find((at) => at > opened)")
        return {"curve": curve / 1e3, "timeline": browser.evaluate("named") / 1e3, "CPU time": page_processor_seconds()}


def main() -> None:
    trace = sys.argv[1]
    script = Path(sys.argv[2]).read_text() if len(sys.argv) > 2 else SCRIPT
    desktop, web = native(trace, script), in_browser(trace, script)
    print(f"{'':34}{'native':>12}{'browser':>12}{'ratio':>8}")

    def row(name: str, unit: str, a: float, b: float) -> None:
        print(f"{name:34}{a:>9.2f} {unit:2}{b:>9.2f} {unit:2}{b / a:>8.2f}")

    for step in ("first_picture", "timeline", "everything"):
        row("opened: " + step.replace("_", " "), "s", desktop["opening"][step]["seconds"], web["opening"][step]["seconds"])
    row("memory", "MB", desktop["memory"]["most_resident_bytes"] / 1e6, web["memory"]["most_resident_bytes"] / 1e6)
    for view, frames in desktop["views"].items():
        for figure in ("median_ms", "p99_ms"):
            row(f"frames, {view}: {figure[:-3]}", "ms", frames[figure], web["views"][view][figure])
    for step, seconds in as_people_do(trace).items():
        print(f"{'the page: ' + step:46}{seconds:>9.2f} s")


main()
