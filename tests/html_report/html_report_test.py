# SPDX-License-Identifier: Apache-2.0
"""`vramscope report --html` of a run on the simulated device, opened from a file in a real headless browser: it shows the terminal's
numbers, loads nothing, causes no error, responds to mouse and keys, and shows names that are markup as plain text.

VRAMSCOPE_TEST_PICTURES=FOLDER keeps pictures of the page, light, dark and on paper.
"""
import base64
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from recorded_run import SOURCE, ask, clean_environment, main, python, run, vramscope  # noqa: E402

from browser import CHROMIUM, Browser, executable  # noqa: E402

PROGRAM = Path(__file__).resolve().parent / "hostile_names.py"


class HtmlReport(unittest.TestCase):
    folder: Path
    page: Path
    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        executable(CHROMIUM)
        scratch = tempfile.TemporaryDirectory(prefix="vramscope-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        cls.trace = cls.folder / "run <b>.vms"
        cls.page = cls.folder / "run.html"
        cls.succeed([vramscope(), "dryrun", "--gpu", "a100-40gb", "-o", str(cls.trace), "--", python(), str(PROGRAM)])
        cls.succeed([vramscope(), "report", str(cls.trace), "--html", str(cls.page)])
        cls.terminal = cls.succeed([vramscope(), "report", str(cls.trace)])
        cls.browser = cls.enterClassContext(Browser()) if hasattr(cls, "enterClassContext") else Browser().__enter__()
        if not hasattr(cls, "enterClassContext"):
            cls.addClassCleanup(cls.browser.__exit__, None, None, None)
        cls.browser.open(cls.page)
        cls.browser.settle()

    @staticmethod
    def succeed(command: List[str]) -> str:
        done = run(command, timeout=600, env=clean_environment(LC_ALL="C.UTF-8", COLUMNS="100"))
        if done.code != 0:
            raise AssertionError(f"{command}: {done.stdout.decode()}{done.stderr.decode()}")
        return done.stdout.decode()

    def setUp(self) -> None:
        self.browser.evaluate("document.activeElement.blur(), scrollTo(0, 0)")

    def box(self, selector: str) -> Any:
        """Scrolls to the element, and returns its place on the screen."""
        return self.browser.evaluate(f"(() => {{ const one = document.querySelector({selector!r}); one.scrollIntoView({{block: 'center'}});"
                                     "const box = one.getBoundingClientRect(); return {x: box.x, y: box.y, width: box.width, height: box.height}; })()")

    def range(self) -> List[int]:
        return [int(self.browser.evaluate(f"document.getElementById('timeline').dataset.{end}")) for end in ("begin", "end")]

    def tooltip(self) -> str:
        return self.browser.evaluate("document.getElementById('tooltip').hidden ? '' : document.getElementById('tooltip').innerText")

    def focus_timeline(self) -> None:
        self.browser.evaluate("document.getElementById('timeline').focus()")

    def test_its_numbers_are_those_of_the_terminal_and_of_json(self) -> None:
        embedded = self.browser.evaluate("JSON.parse(document.getElementById('report').textContent)")
        printed = ask("report", str(self.trace))
        for key in ("events", "dropped_events", "duration_ns", "steps", "owned_bytes", "devices", "anomalies", "selection", "host_memory"):
            self.assertEqual(embedded[key], printed[key], key)
        for key in ("allocated_bytes", "reserved_bytes", "device_used_bytes", "time_ns", "categories", "driver"):
            self.assertEqual(embedded["peak"][key], printed["peak"][key], key)
        self.assertEqual([owner["bytes"] for owner in embedded["owners"]], [owner["bytes"] for owner in printed["owners"]])
        shown = " ".join(self.browser.evaluate("document.body.innerText").split())
        headline = self.terminal.splitlines()[0]
        self.assertEqual(self.browser.evaluate("document.querySelector('h1').innerText"), headline)
        rows = re.findall(r"^  (\S.*?) {2,}([-\d.,]+ [KMGT]?i?B) +([<\d. ]+ %)", self.terminal.split("By module")[0], re.MULTILINE)
        self.assertGreater(len(rows), 5)
        for name, size, part in rows:
            self.assertIn(f"{name} {size} {part}", shown)

    def test_what_would_save_is_what_whatif_answers(self) -> None:
        advice = ask("report", str(self.trace))["advice"]
        self.assertGreater(len(advice["changes"]), 0)
        self.assertLessEqual(len(advice["changes"]), 3)
        shown = " ".join(self.browser.evaluate("document.getElementById('advice').innerText").split())
        for one in advice["changes"]:
            answer = ask("whatif", str(self.trace), "--compare", one["change"])
            self.assertEqual(answer["step"], advice["step"])
            before, after = answer["before"]["peak"], answer["cases"][0]["after"]["peak"]
            for key, peak in (("allocated_bytes", "allocated_bytes"), ("reserved_bytes", "reserved_peak_bytes")):
                self.assertEqual((before[peak], after[peak]), (advice[key], one[key]), one["change"])
            self.assertEqual(one["saved_reserved_bytes"], before["reserved_peak_bytes"] - after["reserved_peak_bytes"])
            line = re.search(rf"(?m)^ +-(\S+ \S+)  +(\S+ %)  {re.escape(one['change'])}  +(.*)$", self.terminal)
            assert line, one["change"]
            self.assertIn(f"-{line[1]} {line[2]} {one['change']} {line[3].strip()}", shown)
        saved = [one["saved_reserved_bytes"] for one in advice["changes"]]
        self.assertEqual(saved, sorted(saved, reverse=True))

    def test_it_loads_nothing_and_names_stay_names(self) -> None:
        self.assertEqual(self.browser.requests, [self.page.as_uri()])
        self.assertEqual(self.browser.evaluate("typeof owned"), "undefined")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img').length"), 0)
        shown = self.browser.evaluate("document.body.innerText")
        self.assertIn("</script><script>owned=1</script>", shown)
        self.assertIn("?[31mred", shown)  # the escape itself is gone
        self.assertNotIn("long" * 200, shown)
        self.assertLess(self.page.stat().st_size, 3_000_000)

    def test_a_comparison_is_a_page_like_it(self) -> None:
        before = SOURCE / "trace_format/testdata/v1_training.vms"
        page = self.folder / "diff.html"
        self.succeed([vramscope(), "diff", str(before), str(self.trace), "--html", str(page)])
        with Browser() as browser:
            browser.open(page)
            browser.settle()
            embedded = browser.evaluate("JSON.parse(document.getElementById('report').textContent)")
            printed = ask("diff", str(before), str(self.trace))
            for key in ("change_bytes", "categories", "steps"):
                self.assertEqual(embedded[key], printed[key], key)
            self.assertEqual([owner["change_bytes"] for owner in embedded["owners"]], [owner["change_bytes"] for owner in printed["owners"]])
            terminal = self.succeed([vramscope(), "diff", str(before), str(self.trace)])
            self.assertEqual(browser.evaluate("document.querySelector('h1').innerText"), terminal.splitlines()[0])
            self.assertEqual(browser.evaluate("typeof owned"), "undefined")
            self.assertEqual(browser.evaluate("document.querySelectorAll('img').length"), 0)
            shown = browser.evaluate("document.body.innerText")
            self.assertIn("</script><script>owned=1</script>", shown)
            self.assertNotIn("long" * 200, shown)
            box = browser.evaluate("(() => { const one = document.getElementById('steps-canvas'); one.scrollIntoView({block: 'center'});"
                                   "const box = one.getBoundingClientRect(); return {x: box.x, y: box.y}; })()")
            browser.mouse("mouseMoved", box["x"] + 10, box["y"] + 20)
            first = printed["steps"][0]
            self.assertIn(f"({first['after_bytes']:,} bytes)", browser.evaluate("document.getElementById('tooltip').innerText"))
            self.assertEqual((browser.requests, browser.complaints), ([page.as_uri()], []))
            self.assertLess(page.stat().st_size, 3_000_000)
            pictures = os.environ.get("VRAMSCOPE_TEST_PICTURES")
            for scheme in ("light", "dark") if pictures else ():
                browser.call("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": scheme}])
                browser.settle()
                browser.screenshot(Path(pictures or "") / f"diff-{scheme}.png")

    def test_a_comparison_in_markdown_keeps_to_its_cells(self) -> None:
        before = SOURCE / "trace_format/testdata/v1_training.vms"
        text = self.succeed([vramscope(), "diff", str(before), str(self.trace), "--markdown"])
        self.assertNotRegex(text, r"<|[\x00-\x09\x0b-\x1f]")
        for line in text.splitlines():
            if line.startswith("|"):
                self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 6, line[:200])
            self.assertLess(len(line), 2_000)

    def test_hovering_tells_of_the_moment(self) -> None:
        box = self.box("#timeline")
        self.browser.mouse("mouseMoved", box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.assertRegex(self.tooltip(), r"bytes\) . step \d[\s\S]*Parameters\s+[\d.]+ MiB[\s\S]*At")
        self.browser.mouse("mouseMoved", 1, 1)
        self.assertEqual(self.tooltip(), "")

    def test_keys_walk_to_the_peak_itself(self) -> None:
        self.focus_timeline()
        self.browser.key("ArrowRight", shift=True)
        peak = ask("report", str(self.trace))["peak"]
        self.assertIn(f"({peak['allocated_bytes']:,} bytes) \u00b7 step {peak['step']}, {peak['phase']}", self.tooltip())

    def test_wheel_keys_and_drag_change_the_range(self) -> None:
        box = self.box("#timeline")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = self.range()
        self.browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
        wheeled = self.range()
        self.assertTrue(before[0] < wheeled[0] < wheeled[1] < before[1], (before, wheeled))
        self.browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.browser.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
        self.browser.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
        dragged = self.range()
        self.assertGreater(dragged[0], wheeled[0])
        self.assertAlmostEqual(dragged[1] - dragged[0], wheeled[1] - wheeled[0], delta=2)
        self.focus_timeline()
        self.browser.key("+")
        self.assertLess(self.range()[1] - self.range()[0], dragged[1] - dragged[0])
        self.browser.key("0")
        self.assertEqual(self.range(), [0, self.browser.evaluate("JSON.parse(document.getElementById('picture').textContent).columns.end_ns")])
        self.browser.evaluate("document.querySelector('#over-time .tools button').click()")
        self.assertEqual(self.range(), before)

    def test_a_category_can_be_hidden(self) -> None:
        ink = ("(() => { const one = document.getElementById('timeline'); const copy = new OffscreenCanvas(one.width, one.height);"
               " const pen = copy.getContext('2d', {willReadFrequently: true}); pen.drawImage(one, 0, 0); const data = pen.getImageData(0, 0,"
               " one.width, one.height).data; let found = 0; for (let i = 0; i < data.length; i += 4) found += data[i] === 0x4e && data[i + 1] === 0x63 &&"
               " data[i + 2] === 0xdc; return found; })()")  # the color of parameters
        self.assertGreater(self.browser.evaluate(ink), 100)
        box = self.box("[data-category=parameter]")
        self.browser.click(box["x"] + 12, box["y"] + box["height"] / 2)
        self.assertEqual(self.browser.evaluate(ink), 0)
        self.focus_timeline()
        self.browser.key("ArrowRight", shift=True)
        self.assertNotIn("Parameters", self.tooltip())
        self.browser.evaluate("document.querySelector('[data-category=parameter]').focus()")
        self.browser.key(" ")
        self.assertGreater(self.browser.evaluate(ink), 100)

    def test_map_and_flame_graph_answer(self) -> None:
        box = self.box("#map")
        self.browser.mouse("mouseMoved", box["x"] + 3, box["y"] + 5)
        self.assertRegex(self.tooltip(), r"bytes\)\s[\s\S]*Address\s+0x[0-9a-f]+")
        count = "document.querySelectorAll('#flame button.above').length"
        self.assertEqual(self.browser.evaluate(count), 0)
        box = self.box("#flame button:nth-child(2)")
        self.browser.click(box["x"] + box["width"] / 2, box["y"] + 8)
        self.assertEqual(self.browser.evaluate(count), 1)
        self.browser.evaluate("document.querySelector('#flame button').click()")
        self.assertEqual(self.browser.evaluate(count), 0)

    def test_it_follows_the_readers_colors_and_prints_in_light_ones(self) -> None:
        pictures = os.environ.get("VRAMSCOPE_TEST_PICTURES")
        seen = []
        for scheme in ("light", "dark"):
            self.browser.call("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.browser.settle()
            seen.append(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"))
            if pictures:
                self.browser.screenshot(Path(pictures) / f"{scheme}.png")
        self.assertEqual(seen, ["rgb(243, 244, 247)", "rgb(26, 29, 36)"])
        self.browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.browser.call("Emulation.setEmulatedMedia", media="")
        paper = base64.b64decode(self.browser.call("Page.printToPDF", printBackground=True)["data"])
        self.assertTrue(paper.startswith(b"%PDF") and len(paper) > 20_000)
        if pictures:
            (Path(pictures) / "paper.pdf").write_bytes(paper)

    def tearDown(self) -> None:
        self.assertEqual(self.browser.complaints, [])


if __name__ == "__main__":
    main()
