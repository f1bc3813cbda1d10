# SPDX-License-Identifier: Apache-2.0
"""The machine under check: its build of vramscope, its Python, its GPU or the simulated device, and the recordings that rows share."""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "simulated_cuda")]

TRAIN = Path(__file__).with_name("train.py")
MIB = 1 << 20


class Outcome(NamedTuple):
    passed: Optional[bool]  # None: it cannot be judged here; `measured` says why
    measured: str


class CannotRun(Exception):
    """A row cannot be measured here; the sentence says why."""


class Failed(Exception):
    """A command of a row failed or took too long."""


class Recording(NamedTuple):
    trace: Path
    notes: List[Dict[str, Any]]  # of train.py


class Machine:
    def __init__(self, build: Path, python: str, out: Path, simulated: Optional[str]) -> None:
        self.vramscope = str(build / "bin/vramscope")
        self.build, self.python, self.simulated = build, python, simulated
        self.failures: Dict[str, str] = {}  # of recordings, which are not tried again for each row
        self.work = out / "work"
        self.work.mkdir(parents=True, exist_ok=True)

    def environment(self, **variables: str) -> Dict[str, str]:
        """The environment of programs on the device."""
        os.environ.update(VRAMSCOPE_BIN=self.vramscope, VRAMSCOPE_BINARY_DIR=str(self.build / "tests"))
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(self.work / "inductor"), "TRITON_CACHE_DIR": str(self.work / "triton")}
        if self.simulated is None:
            return {**os.environ, **caches, **variables}
        import device  # the tests' way to put a program on the simulated device
        driver = str(Path(device.libraries(self.python)[0]).parent)  # Triton links to it
        return {**device.environment(self.python, self.simulated), "TRITON_LIBCUDA_PATH": driver, **caches, **variables}

    def run(self, command: Sequence[str], timeout: float, environment: Optional[Dict[str, str]] = None) -> str:
        """Runs a command; returns its standard output. After `timeout` seconds, kills it with all that it started."""
        with subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                              env=environment or self.environment()) as process:
            try:
                stdout, stderr = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise Failed(f"`{' '.join(map(str, command))[-160:]}` took more than {timeout:.0f} s") from None
        if process.returncode != 0:
            last = (stderr.strip() or stdout.strip() or "nothing was printed").splitlines()[-1]
            raise Failed(f"exit {process.returncode}: {last[-200:]}")
        return stdout

    def ask(self, *arguments: str) -> Any:
        return json.loads(self.run([self.vramscope, *arguments, "--json"], 120, dict(os.environ)))

    def train(self, way: str, notes: Path, steps: int = 5) -> List[str]:
        return [self.python, str(TRAIN), way, str(notes), str(steps)]

    def recording(self, way: str, *options: str, timeout: float = 180) -> Recording:
        """A recording of train.py. It is made once, and kept for later invocations."""
        name = "-".join([way, *options]).replace("=", "-")
        trace, notes = self.work / f"{name}.vms", self.work / f"{name}.jsonl"
        if not (trace.exists() and notes.exists()):
            if name in self.failures:
                raise Failed(self.failures[name])
            unfinished = self.work / f"{name}.part.vms"
            unfinished.unlink(missing_ok=True)
            try:
                self.run([self.vramscope, "record", "--quiet", *options, "-o", str(unfinished), "--", *self.train(way, notes)], timeout)
            except Failed as reason:
                self.failures[name] = f"the recording failed: {reason}"
                raise
            unfinished.rename(trace)
        return Recording(trace, [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()])

    def plain(self, way: str, timeout: float = 180) -> List[Dict[str, Any]]:
        """The notes of the same training without the recorder."""
        notes = self.work / f"{way}.plain.jsonl"
        if not notes.exists():
            unfinished = notes.with_suffix(".part")
            self.run(self.train(way, unfinished), timeout)
            unfinished.rename(notes)
        return [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]

    def moments(self, recording: Recording, *options: str) -> List[Dict[str, Any]]:
        """The report's answers for the moments of the notes."""
        at = [word for note in recording.notes for word in ("--at", f"mono:{note['monotonic_ns']}")]
        return self.ask("report", str(recording.trace), *at, *options)["moments"]


def mib(size: float) -> str:
    return f"{size / MIB:,.1f} MiB"
