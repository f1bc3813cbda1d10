# SPDX-License-Identifier: Apache-2.0
"""A headless Firefox for tests, controlled with its own protocol (Marionette) on a port of the loopback interface: no library, no network.

    with Firefox() as browser:
        browser.open("http://127.0.0.1:8764/")
        browser.evaluate("document.title")
"""
import base64
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Optional, Type

from browser import PATIENCE_S, executable

FIREFOX = ("firefox-esr", "firefox")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Firefox:
    """One page of one browser."""

    def __init__(self, width: int = 1280, height: int = 800) -> None:
        self._size = (width, height)
        self._next = 0

    def __enter__(self) -> "Firefox":
        program = executable(FIREFOX)
        self._profile = tempfile.TemporaryDirectory(prefix="vramscope-firefox-", ignore_cleanup_errors=True)
        port = free_port()
        preferences = {"marionette.port": port, "webgl.force-enabled": True, "gfx.x11-egl.force-enabled": True, "app.update.enabled": False,
                       "datareporting.policy.dataSubmissionEnabled": False,
                       "toolkit.telemetry.enabled": False, "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
                       "browser.shell.checkDefaultBrowser": False, "dom.disable_open_during_load": False}
        with open(os.path.join(self._profile.name, "user.js"), "w", encoding="utf-8") as file:
            for name, value in preferences.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self._process = subprocess.Popen(
            [program, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", self._profile.name,
             f"--width={self._size[0]}", f"--height={self._size[1]}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            # Without a display there is no GLX, which it uses by default. With EGL, Mesa draws on the processor.
            env={**os.environ, "MOZ_HEADLESS": "1", "MOZ_WEBGL_FORCE_EGL": "1", "LIBGL_ALWAYS_SOFTWARE": "1", "HOME": self._profile.name})
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
                break
            except OSError:
                if time.monotonic() > end or self._process.poll() is not None:
                    raise AssertionError("Firefox does not answer") from None
                time.sleep(0.1)
        self._stream = self._socket.makefile("rb")
        self._read()  # its greeting
        self.call("WebDriver:NewSession", {"capabilities": {}})
        self.call("WebDriver:SetTimeouts", {"script": int(PATIENCE_S * 1000), "pageLoad": int(PATIENCE_S * 1000)})
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._socket.close()
        self._profile.cleanup()

    def _read(self) -> Any:
        length = b""
        while True:
            byte = self._stream.read(1)
            if not byte:
                raise AssertionError("the browser has gone")
            if byte == b":":
                return json.loads(self._stream.read(int(length)))
            length += byte

    def call(self, command: str, parameters: Dict[str, Any]) -> Any:
        self._next += 1
        message = json.dumps([0, self._next, command, parameters]).encode()
        self._socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, failure, answer = self._read()
        if failure:
            raise AssertionError(f"{command}: {failure}")
        return answer.get("value") if isinstance(answer, dict) else answer

    def open(self, page: str) -> None:
        self.call("WebDriver:Navigate", {"url": page})

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression, which may be a promise."""
        text = f"const done = arguments[arguments.length - 1]; Promise.resolve({script}).then(done, (why) => done('failed: ' + why));"
        return self.call("WebDriver:ExecuteAsyncScript", {"script": text, "args": [], "newSandbox": False, "sandbox": None})

    def _act(self, device: Dict[str, Any], *actions: Dict[str, Any]) -> None:
        self.call("WebDriver:PerformActions", {"actions": [{**device, "actions": actions}]})
        self.settle()

    def click(self, x: int, y: int) -> None:
        move = {"type": "pointerMove", "x": x, "y": y, "duration": 0, "origin": "viewport"}
        self._act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}},
                  move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def key(self, key: str) -> None:
        self._act({"type": "key", "id": "keyboard"}, {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})

    def settle(self) -> None:
        """Returns when the requested changes are drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def screenshot(self, picture: Path) -> None:
        picture.write_bytes(base64.b64decode(self.call("WebDriver:TakeScreenshot", {"full": False, "hash": False})))
