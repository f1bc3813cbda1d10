#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time of the viewer while nobody uses it, on a virtual X server (Xvfb, xdotool).

    bench/viewer_idle.py FILE.vms [SECONDS]

The window is drawn by the CPU here (llvmpipe), so every unnecessary frame costs CPU time.
"""
import os
import subprocess
import sys
import time

VIEWER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "release", "bin", "vramscope-viewer")


def processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    path, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-noreset", "-displayfd", str(write), "-screen", "0", "1920x1080x24"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        environment = {**os.environ, "DISPLAY": ":" + pipe.readline().strip()}
    viewer = subprocess.Popen([VIEWER, "--size", "1600x1000", path], env=environment)

    def ask(*words: str) -> str:
        return subprocess.run(["xdotool", *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()

    try:
        # The title names the file once it is open; the addresses are placed after that.
        while viewer.poll() is None and os.path.basename(path) not in ask("getwindowname", ask("search", "--onlyvisible", "--pid", str(viewer.pid))):
            time.sleep(0.1)
        before = -1.0
        while before != processor_seconds(viewer.pid):
            before = processor_seconds(viewer.pid)
            time.sleep(5)
        begin = time.monotonic()
        time.sleep(seconds)
        used, waited = processor_seconds(viewer.pid) - before, time.monotonic() - begin
        print(f"{used:.2f} s of processor time in {waited:.0f} s: {100 * used / waited:.2f} %")
    finally:
        viewer.terminate()
        viewer.wait()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
