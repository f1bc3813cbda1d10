# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for tests, controlled with the DevTools protocol over two pipes: no port, no library, no network.

    with Browser() as browser:
        browser.open(Path("page.html"))
        browser.evaluate("document.title")
"""
import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Any, Dict, List, Optional, Sequence, Type, Union

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_S = 600.0  # for one answer: the machine may be busy


def executable(names: Sequence[str]) -> str:
    """The first of these programs that is installed; without any, the test is skipped. The first name is also that of a Debian package."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise unittest.SkipTest(f"no {names[0]} is installed (apt-get install {names[0]}), so no browser can open the page")


class Browser:
    """One page of one browser. `complaints` has its errors and warnings, `requests` what it loaded."""

    def __init__(self, width: int = 1280, height: int = 1400, webgl: bool = False, patience_s: float = PATIENCE_S) -> None:
        self.complaints: List[str] = []
        self.requests: List[str] = []
        self._width, self._height = width, height
        self._graphics = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"] if webgl else ["--disable-gpu"]
        self._patience_s = patience_s
        self._next = 0
        self._session: Optional[str] = None
        self._answers: Queue[Dict[str, Any]] = Queue()

    def __enter__(self) -> "Browser":
        program = executable(CHROMIUM)
        self._profile = tempfile.TemporaryDirectory(prefix="vramscope-browser-", ignore_cleanup_errors=True)
        from_test, self._to_browser = os.pipe()
        self._from_browser, to_test = os.pipe()

        def pipes() -> None:  # the browser reads from 3 and writes to 4
            os.dup2(from_test, 20)
            os.dup2(to_test, 21)
            os.dup2(20, 3)
            os.dup2(21, 4)

        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", *self._graphics, "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile.name}", f"--window-size={self._width},{self._height}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pipes,
            start_new_session=True)
        os.close(from_test)
        os.close(to_test)
        threading.Thread(target=self._listen, daemon=True).start()
        pages = [target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page"]
        target = pages[0]["targetId"] if pages else self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to_browser)
        self._profile.cleanup()

    def _listen(self) -> None:
        rest = b""
        while True:
            read = os.read(self._from_browser, 1 << 16)
            if not read:
                self._answers.put({"closed": True})
                return
            *messages, rest = (rest + read).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message: Dict[str, Any]) -> None:
        parameters = message.get("params", {})
        method = message.get("method")
        if "id" in message or method == "Page.loadEventFired":
            self._answers.put(message)
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def _wait(self, wanted: Any, what: str) -> Dict[str, Any]:
        end = time.monotonic() + self._patience_s
        while time.monotonic() < end:
            try:
                message = self._answers.get(timeout=1)
            except Empty:
                continue
            if "closed" in message:
                raise AssertionError("the browser has gone")
            if wanted(message):
                return message
        raise AssertionError(f"the browser has not answered for {self._patience_s:.0f} s: {what}; it complained: {self.complaints}")

    def call(self, method: str, **parameters: Any) -> Dict[str, Any]:
        self._next += 1
        number = self._next
        message: Dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to_browser, data):]
        answer = self._wait(lambda one: one.get("id") == number, f"{method} {parameters}")
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, page: Union[Path, str]) -> None:
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self._wait(lambda one: one.get("method") == "Page.loadEventFired", f"loading {page}")

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression, in a context of its own, apart from the page's."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def click(self, x: float, y: float) -> None:
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, key: str, shift: bool = False) -> None:
        more = {"modifiers": 8 if shift else 0, "key": key}
        if len(key) == 1:
            more["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", modifiers=more["modifiers"], key=key)
        self.settle()

    def settle(self) -> None:
        """Returns when the requested changes are drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def screenshot(self, picture: Path, whole: bool = True) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        picture.write_bytes(base64.b64decode(shot["data"]))
