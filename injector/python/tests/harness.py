# SPDX-License-Identifier: Apache-2.0
"""Runs a program under the shim with a stand-in for the injector (recorder_stub.c) and reads back what the shim reported.

    run        in a new process
    run_warm   in a fork of a process that has imported PyTorch: quicker by two to four seconds, and the same for a program that does not look at how
               Python starts

VRAMSCOPE_TEST_PYTHON names the Python that has torch; tests that need one are skipped without it. VRAMSCOPE_SHIM_STUB is the stub's path."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

sys.path.append(str(Path(__file__).resolve().parents[3] / "tests"))  # drawn.py

SHIM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TORCH_PYTHON = os.environ.get("VRAMSCOPE_TEST_PYTHON", "")
STUB = os.environ.get("VRAMSCOPE_SHIM_STUB", "")

PARAMETER, BUFFER, GRADIENT, OPTIMIZER_STATE, INPUT, COMMUNICATION = 1, 2, 3, 4, 5, 7
OPTIMIZER, DATA_LOADER, MODULE, SCOPE, AUTOCAST, CHECKPOINT, ZERO_GRAD = 2, 3, 4, 5, 6, 7, 9
MARK_STEP_DONE, MARK_ZERO_GRAD, MARK_BATCH_READY, MARK_USER, MARK_CHECKPOINT_FREED = 1, 4, 5, 9, 10

FAILED = 4  # state of a hook of ours that raised

needs_torch = unittest.skipUnless(TORCH_PYTHON, "VRAMSCOPE_TEST_PYTHON is not set")


class Event(NamedTuple):
    what: str  # begin, end, mark, label, coverage, ready, step_done
    process: int
    number: List[int]
    name: str  # of ranges, marks, labels, hooks
    detail: str


class Run(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str
    events: List[Event]

    def named(self, what: str, kind: int) -> List[Event]:
        return [event for event in self.events if event.what == what and event.number[0] == kind]

    def labels(self, role: int) -> Dict[str, List[Any]]:
        """name -> [(address, bytes, tensor), ...] in the order of the reports."""
        found: Dict[str, List[Any]] = {}
        for event in self.named("label", role):
            found.setdefault(event.name, []).append((event.number[2], event.number[3], event.number[4]))
        return found

    def ranges(self, *kinds: int) -> List[str]:
        """`<name` and `name>` in the order of the reports."""
        chosen = [event for event in self.events if event.what in ("begin", "end") and event.number[0] in kinds]
        return ["<" + event.name if event.what == "begin" else event.name + ">" for event in chosen]

    def coverage(self) -> Dict[str, List[Any]]:
        found: Dict[str, List[Any]] = {}
        for event in self.events:
            if event.what == "coverage":
                found.setdefault(event.name, []).append((event.number[0], event.detail))
        return found

    def failures(self) -> Dict[str, List[str]]:
        """Hooks of ours that raised, and why."""
        failed = {hook: [detail for state, detail in told if state == FAILED] for hook, told in self.coverage().items()}
        return {hook: reasons for hook, reasons in failed.items() if reasons}


def run(
    program: Optional[str] = None,
    before: str = "",
    python: str = TORCH_PYTHON or sys.executable,
    arguments: Sequence[str] = (),
    recorded: bool = True,
    environment: Optional[Dict[str, str]] = None,
    folder: Optional[str] = None,
) -> Run:
    """Runs `program` from a file named program.py, so that tracebacks look the same in every run."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = folder or temporary
        log = os.path.join(temporary, "log")
        command = [python, *arguments]
        if program is not None:
            _write_program(folder, before, program)
            command.append("program.py")
        settings = _settings(log if recorded else "", environment)
        done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, timeout=900)
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode(), _read(log))


def _write_program(folder: str, before: str, program: str) -> None:
    with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(before) + textwrap.dedent(program))


def _settings(log: str, environment: Optional[Dict[str, str]]) -> Dict[str, str]:
    """The environment of a program, which is recorded if there is a log."""
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "LD_PRELOAD")}
    settings["OMP_NUM_THREADS"] = "1"  # on a busy machine threads wait longer for one another than these small programs compute
    settings.update(environment or {})
    if log:
        above = settings.get("PYTHONPATH")
        settings["PYTHONPATH"] = SHIM + (os.pathsep + above if above else "")
        settings["LD_PRELOAD"] = STUB
        settings["VRAMSCOPE_SESSION"] = os.path.dirname(log)
        settings["VRAMSCOPE_STUB_LOG"] = log
    return settings


class _Warm:
    """A process of warm.py. It is recorded from its start; what it has reported by then precedes the reports of each program."""

    def __init__(self, recorded: bool, environment: Optional[Dict[str, str]]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._log = os.path.join(self._folder.name, "log") if recorded else ""
        command = [TORCH_PYTHON, os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm.py")]
        self._process = subprocess.Popen(command, env=_settings(self._log, environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self._end)

    def run(self, folder: str, changes: Dict[str, str]) -> Run:
        assert self._process.stdin is not None and self._process.stdout is not None
        with tempfile.TemporaryDirectory() as temporary:
            own = os.path.join(temporary, "own")
            log = own if self._log else ""
            print(json.dumps({"folder": folder, "output": own, "log": log, "environment": changes}), file=self._process.stdin, flush=True)
            status = int(self._process.stdout.readline())
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            written = [Path(f"{own}.{ending}").read_text(encoding="utf-8") for ending in ("out", "err")]
            return Run(code, written[0], written[1], _read(self._log, log))

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


_warm: Dict[Tuple[bool, str], _Warm] = {}


def run_warm(
    program: str, before: str = "", recorded: bool = True, environment: Optional[Dict[str, str]] = None, folder: Optional[str] = None,
    changes: Optional[Dict[str, str]] = None,
) -> Run:
    """Like run(), in a fork of a warm process; there is one for each environment, recorded or not. changes: variables for the program alone."""
    key = recorded, json.dumps(environment or {}, sort_keys=True)
    if key not in _warm:
        _warm[key] = _Warm(recorded, environment)
    with tempfile.TemporaryDirectory() as temporary:
        _write_program(folder or temporary, before, program)
        return _warm[key].run(folder or temporary, changes or {})


def _lines(logs: Sequence[str]) -> Iterator[str]:
    for log in logs:
        if os.path.exists(log):
            with open(log, encoding="utf-8") as lines:
                yield from lines


def _read(*logs: str) -> List[Event]:
    texts: Dict[Any, str] = {}
    events = []
    for line in _lines(logs):
        what, process_text, *fields = line.rstrip("\n").split("\t")
        process = int(process_text)
        if what == "string":
            texts[process, int(fields[0])] = fields[1]
        elif what == "forked":
            parent = int(fields[0])
            texts.update({(process, number): text for (owner, number), text in texts.items() if owner == parent})
        elif what == "coverage":
            events.append(Event(what, process, [int(fields[1])], fields[0], fields[2]))
        elif what == "ready":
            events.append(Event(what, process, [], fields[0], fields[1]))
        else:
            numbers = [int(field) for field in fields]
            position = {"begin": 1, "end": 1, "mark": 2, "label": 4}.get(what)
            name = "" if position is None else texts[process, numbers.pop(position)]
            events.append(Event(what, process, numbers, name, ""))
    return events
