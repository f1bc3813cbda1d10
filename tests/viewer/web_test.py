#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The viewer in a real Chromium, without a display: it runs the same scripts as the native program, and the states must be equal. Also a page in one
file, and a server that refuses requests without its token. Skipped where scripts/web.sh has not built the page, or no Chromium is installed."""
import http.client
import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple, Union

from viewing import TRAINING, VRAMSCOPE, failed_run, view

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "html_report"))
from browser import Browser  # noqa: E402
from firefox import Firefox  # noqa: E402

PAGE = Path(VRAMSCOPE).resolve().parent.parent / "share/vramscope/web"
PICTURES = os.environ.get("VRAMSCOPE_WEB_PICTURES")  # a folder that keeps what the browser showed, to look at
VIEWS = ("summary", "timeline", "owners", "map", "address-time", "fragmentation", "oom", "leaks", "compare", "whatif", "ranks")
PATIENCE_S = 60.0  # for whatever a page does with a small trace
# Figures that depend on the triangles of letters: two rasterizers leave out different letters.
BY_LETTERS = {"vertices"}
# The native viewer opens a path, the page a name.
BY_PATHS = {"link"}


class Served:
    """`vramscope serve` on a free port."""

    def __init__(self, *paths: str) -> None:
        self.process = subprocess.Popen([VRAMSCOPE, "serve", *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None and self.process.stderr is not None
        self.words = self.process.stdout.readline()
        if not self.words:
            raise AssertionError(self.process.stderr.read())
        self.link = self.words.strip()
        matched = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.link)
        assert matched is not None, self.link
        self.port, self.token = int(matched[1]), matched[2]

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=20)

    def get(self, target: str, method: str = "GET", **headers: str) -> Tuple[int, bytes, Dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, target, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body, dict(answer.getheaders())


def run_in_page(browser: Union[Browser, Firefox], link: str, script: str, files: List[str], size: Tuple[int, int], scale: float) -> Dict[str, str]:
    """What the script wrote in the page, by name; the page's files are those that are served."""
    browser.open(link + "?script")
    asked = {
        "files": [[os.path.basename(path), {"url": f"{link}files/{os.path.basename(path)}"}] for path in files],
        "text": script, "size": [*size, scale], "dark": 1,
    }
    answer = browser.evaluate(
        "import(location.href.split('?')[0] + 'page.js').then(({begin}) => new Promise((done) => "
        f"begin({{script: {json.dumps(asked)}, answer: (data) => 'ran' in data && done(data)}})))"
    )
    if answer["ran"] != "":
        raise AssertionError(answer["ran"])
    return answer["outputs"]


@unittest.skipUnless((PAGE / "index.html").exists(), "the viewer for browsers was not built (scripts/web.sh)")
class Web(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vramscope-web-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def snapshot(self) -> str:
        path = self.folder / "oom.pickle"
        path.write_bytes(pickle.dumps(failed_run("/nowhere/model.py")))
        return str(path)

    def native(self, script: str, files: List[str], size: str, scale: str) -> Dict[str, Any]:
        (self.folder / "script").write_text(script.replace("state ", f"state {self.folder}/"))
        done = view("--script", str(self.folder / "script"), "--size", size, "--scale", scale, *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {path.name: json.loads(path.read_text()) for path in self.folder.glob("*.json")}

    def in_browser(self, browser: Union[Browser, Firefox], link: str, script: str, files: List[str], size: Tuple[int, int], scale: float) -> Dict[str, Any]:
        written = run_in_page(browser, link, script, files, size, scale)
        return {name: json.loads(text) for name, text in written.items() if name.endswith(".json")}

    def every_view(self) -> Tuple[str, List[str]]:
        """A script that shows two files in all views, and the files."""
        files = [TRAINING, self.snapshot()]
        script = "wait loaded\n"
        for name in VIEWS:
            script += f"click tab.{name}\nwait answered\nstate first-{name}.json\n"
        script += (
            "click tab.timeline\nkey ctrl+f\ntext category:parameter size>1KiB\nstate filtered.json\nkey escape\nwheel timeline 0.5 0.5 4\n"
            "goto step:1,peak\nstate zoomed.json\nkey ctrl+shift+f\ntext category:parameter\nwait answered\nstate all.json\nkey escape\n"
            "click file.1\nwait answered\n"
        )
        for name in VIEWS:
            script += f"click tab.{name}\nwait answered\nstate second-{name}.json\n"
        return script, files

    def test_states_are_those_of_the_native_viewer(self) -> None:
        script, files = self.every_view()
        native = self.native(script, files, "1280x800", "1")
        with Served(*files) as served, Browser(1280, 800, webgl=True) as browser:
            web = self.in_browser(browser, served.link, script, files, (1280, 800), 1)
            self.assertEqual(browser.complaints, [])
            for request in browser.requests:
                self.assertTrue(request.startswith((served.link, "data:", "blob:", "about:")), request)
        self.assertGreater(len(native), 2 * len(VIEWS))
        self.compare(web, native)

    def test_firefox_has_the_same_states(self) -> None:
        script, files = self.every_view()
        with Served(*files) as served, Firefox(1280, 800) as browser:
            self.skip_without_webgl(browser, served.link)
            web = self.in_browser(browser, served.link, script, files, (1280, 800), 1)
        self.compare(web, self.native(script, files, "1280x800", "1"))

    def compare(self, web: Dict[str, Any], native: Dict[str, Any]) -> None:
        self.assertEqual(set(web), set(native))
        for name, state in native.items():
            for key, value in state.items():
                if key not in BY_LETTERS | BY_PATHS:
                    self.assertEqual(web[name][key], value, f"{name}: {key}")

    def test_one_file_opens_from_disk(self) -> None:
        page = self.folder / "run.html"
        subprocess.run([VRAMSCOPE, "report", TRAINING, "--html", str(page), "--viewer"], check=True, timeout=60)
        with Browser(1280, 800, webgl=True) as browser:
            browser.open(page.as_uri() + "#" + os.path.basename(TRAINING) + "@step:1,peak")
            self.wait_for(browser, f"document.title.startsWith('{os.path.basename(TRAINING)}')")
            self.assertEqual(browser.complaints, [])
            self.assertEqual([request for request in browser.requests if not request.startswith(("file:", "data:", "blob:"))], [])
            self.assertTrue(browser.evaluate("location.hash").startswith("#" + os.path.basename(TRAINING) + "@"))
            if PICTURES:
                time.sleep(2)
                browser.screenshot(Path(PICTURES) / "one-file.png", whole=False)

    def test_every_part_works_with_a_mouse_and_keys(self) -> None:
        for dark, scale in ((True, 1), (False, 2)):
            with self.subTest(dark=dark, scale=scale), Served(TRAINING) as served, Browser(1280, 800, webgl=True, patience_s=PATIENCE_S) as browser:
                browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=scale, mobile=False)
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
                browser.open(served.link)
                self.expect_acts_to_move(browser)
                self.assertEqual(browser.complaints, [])
                if PICTURES:
                    time.sleep(2)
                    browser.screenshot(Path(PICTURES) / f"served-{'dark' if dark else 'light'}-{scale}.png", whole=False)

    def test_mouse_and_keys_work_in_firefox(self) -> None:
        with Served(TRAINING) as served, Firefox(1280, 800) as browser:
            self.skip_without_webgl(browser, served.link)
            browser.open(served.link)
            self.expect_acts_to_move(browser)
            if PICTURES:
                browser.screenshot(Path(PICTURES) / "firefox.png")

    def expect_acts_to_move(self, browser: Union[Browser, Firefox]) -> None:
        """A key for the next event, a key for another view and a click on the timeline lead to other places."""
        self.wait_for(browser, f"document.title.startsWith('{os.path.basename(TRAINING)}') && location.hash.includes('@')")
        for act in (lambda: browser.key(","), lambda: browser.key("1"), lambda: browser.click(400, 300)):
            before = browser.evaluate("location.hash")
            act()
            self.wait_for(browser, f"location.hash !== '{before}'")

    def skip_without_webgl(self, browser: Firefox, link: str) -> None:
        browser.open(link + "?script")
        if not browser.evaluate("Boolean(new OffscreenCanvas(1, 1).getContext('webgl2'))"):
            self.skipTest("Firefox has no WebGL 2 without a display on this machine")

    def test_a_broken_address_does_not_keep_a_file_from_opening(self) -> None:
        name = os.path.basename(TRAINING)
        with Served(TRAINING) as served, Browser(1280, 800, webgl=True, patience_s=PATIENCE_S) as browser:
            for fragment in ("#%", f"#{name}@%E0%A4%A", f"#{name}@step:99", f"#{name}@{'9' * 400}", f"#{name}@-5,shown:9-1,block:99999999999,view:x"):
                with self.subTest(fragment[:40]):
                    browser.open("about:blank")
                    browser.open(served.link + fragment)
                    self.wait_for(browser, f"document.title.startsWith('{name}') && location.hash.includes('view:')")
                    self.assertEqual(browser.evaluate("document.getElementById('note').textContent"), "")
            browser.evaluate("location.hash = '#%'")  # typed while it is open
            browser.settle()
            self.assertEqual(browser.complaints, [])

    def test_a_tiny_page_goes_on(self) -> None:
        name = os.path.basename(TRAINING)
        with Served(TRAINING) as served, Browser(1280, 800, webgl=True, patience_s=PATIENCE_S) as browser:
            browser.open(served.link)
            self.wait_for(browser, f"document.title.startsWith('{name}') && location.hash.includes('view:summary')")
            for width, height in ((300, 200), (1, 1), (2560, 1440), (300, 200), (1280, 800)):
                browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
                browser.settle()
            browser.key("1")
            self.wait_for(browser, "!location.hash.includes('view:summary')")
            self.assertEqual(browser.complaints, [])

    def wait_for(self, browser: Union[Browser, Firefox], condition: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not browser.evaluate(condition):
            if time.monotonic() > end:
                complaints = browser.complaints if isinstance(browser, Browser) else ""
                self.fail(f"{condition} did not become true; the page says: {browser.evaluate('document.body.innerText')}; "
                          f"title {browser.evaluate('document.title')}; {complaints}")
            time.sleep(0.05)


@unittest.skipUnless((PAGE / "index.html").exists(), "the viewer for browsers was not built (scripts/web.sh)")
class Server(unittest.TestCase):
    def test_nothing_without_the_token(self) -> None:
        with Served(TRAINING) as served:
            name = os.path.basename(TRAINING)
            self.assertEqual(served.get("/")[0], 403)
            self.assertEqual(served.get(f"/files/{name}")[0], 403)
            self.assertEqual(served.get(f"/{'0' * 32}/files/{name}")[0], 403)
            status, body, headers = served.get(f"/{served.token}/files/{name}")
            self.assertEqual((status, body), (200, Path(TRAINING).read_bytes()))
            status, body, headers = served.get(f"/{served.token}/files/{name}", Range="bytes=10-19")
            self.assertEqual((status, body), (206, Path(TRAINING).read_bytes()[10:20]))
            self.assertEqual(headers["Content-Range"], f"bytes 10-19/{os.path.getsize(TRAINING)}")
            status, body, headers = served.get(f"/{served.token}/files/{name}", method="HEAD")
            self.assertEqual((status, body, headers["Content-Length"]), (200, b"", str(os.path.getsize(TRAINING))))
            self.assertEqual(served.get(f"/{served.token}/files/..%2f..%2fetc%2fpasswd")[0], 404)

    def test_it_listens_on_the_loopback_interface_alone(self) -> None:
        with Served(TRAINING) as served:
            lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
            listening = [line.split()[1] for line in lines if line.split()[3] == "0A" and line.split()[1].endswith(f":{served.port:04X}")]
            self.assertEqual([place.split(":")[0] for place in listening], ["0100007F"])

    def test_a_client_that_speaks_nonsense_or_leaves_harms_nobody(self) -> None:
        with Served(TRAINING) as served:
            long = b"GET " + b"a" * 20000 + b" HTTP/1.1\r\n\r\n"
            for nonsense in (b"\0" * 100, long, b"GET / HTTP/9.9\r\n\r\n", b"", b"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", served.port)) as client:
                    client.sendall(nonsense)
            self.assertEqual(served.get(f"/{served.token}/")[0], 200)

    def test_ctrl_c_ends_it_with_success(self) -> None:
        with Served(TRAINING) as served:
            served.process.send_signal(signal.SIGINT)
            self.assertEqual(served.process.wait(timeout=20), 0)


if __name__ == "__main__":
    unittest.main()
