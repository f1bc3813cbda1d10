# SPDX-License-Identifier: Apache-2.0
"""Runs programs under `vramscope record` for the end-to-end tests, and asks `vramscope report` about the traces.

From the environment (ctest sets it):
    VRAMSCOPE_BIN            the vramscope command of the build under test
    VRAMSCOPE_BINARY_DIR     the build's tests folder, with the compiled targets
    VRAMSCOPE_TEST_PYTHON    a Python with PyTorch; without it tests that need PyTorch are skipped, and say so
    VRAMSCOPE_TEST_PYTHONS   more of them, separated by ':'; tests that compare releases run on each
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

SOURCE = Path(__file__).resolve().parent.parent
SAMPLES = SOURCE / "samples"
SKIPPED = 77  # ctest shows a program that ends so as skipped

Command = Sequence[str]


def vramscope() -> str:
    return os.environ.get("VRAMSCOPE_BIN") or str(SOURCE / "build/release/bin/vramscope")


def target(name: str) -> str:
    """A compiled program that exists for the tests; skips the test where it was not built."""
    path = Path(os.environ.get("VRAMSCOPE_BINARY_DIR", SOURCE / "build/release/tests")) / name
    if not path.exists():
        raise unittest.SkipTest(f"{path} was not built")
    return str(path)


def pythons() -> List[str]:
    """The interpreters with PyTorch, the main one first."""
    named = [os.environ.get("VRAMSCOPE_TEST_PYTHON", ""), *os.environ.get("VRAMSCOPE_TEST_PYTHONS", "").split(":")]
    return list(dict.fromkeys(python for python in named if python))


def python() -> str:
    """The main interpreter with PyTorch; skips the test when there is none."""
    if not pythons():
        raise unittest.SkipTest("set VRAMSCOPE_TEST_PYTHON to a Python that has PyTorch")
    return pythons()[0]


def has_package(interpreter: str, package: str) -> bool:
    """True if it is installed for the interpreter. Importing PyTorch would take seconds."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    return subprocess.run([interpreter, "-c", code, package], stderr=subprocess.DEVNULL, env=clean_environment(), check=False).returncode == 0


def clean_environment(**changes: str) -> Dict[str, str]:
    """The caller's environment without variables that would change a target: recorder settings, preloads, Python paths. One compute
    thread: the machine may be small, and the order of allocations is then the program's own."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("VRAMSCOPE_", "LD_", "PYTHON"))}
    environment.update({"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **changes})
    return environment


class Finished(NamedTuple):
    code: int  # as subprocess gives it: -N = killed by signal N
    stdout: bytes
    stderr: bytes


def run(command: Command, timeout: float = 600, **options: Any) -> Finished:
    """Runs to the end, in a session of its own: whatever hangs is killed with everything that it started."""
    options = {"env": clean_environment(), "stdin": subprocess.DEVNULL, **options}
    with subprocess.Popen(list(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            raise AssertionError(f"{' '.join(command)}: still running after {timeout} s\n{stderr.decode()}") from None
        return Finished(process.returncode, stdout, stderr)


def record_command(trace: Path, command: Command, options: Command = ()) -> List[str]:
    return [vramscope(), "record", "-o", str(trace), "--quiet", *options, "--", *command]


def record(trace: Path, command: Command, options: Command = (), **run_options: Any) -> Finished:
    return run(record_command(trace, command, options), **run_options)


def ask(*arguments: str, timeout: float = 900) -> Any:
    """The JSON answer of `vramscope <arguments> --json`."""
    done = run([vramscope(), *arguments, "--json"], timeout=timeout)
    if done.code != 0:
        raise AssertionError(f"vramscope {' '.join(arguments)} --json: exit {done.code}: {done.stderr.decode()}")
    return json.loads(done.stdout)


class Event(NamedTuple):
    monotonic_ns: int
    pid: int
    thread: int
    type: str
    fields: List[str]  # in the order of trace_format/event.h

    def number(self, index: int) -> int:
        return int(self.fields[index])


def events(trace: Path, *types: str) -> Iterator[Event]:
    """The events of these types, in the order of the trace."""
    with subprocess.Popen([target("list_events"), str(trace), *types], stdout=subprocess.PIPE, text=True) as listing:
        assert listing.stdout is not None
        for line in listing.stdout:
            monotonic_ns, pid, thread, kind, *fields = line.split()
            yield Event(int(monotonic_ns), int(pid), int(thread), kind, fields)
    if listing.returncode:
        raise AssertionError(f"list_events {trace}: exit {listing.returncode}")


class RecordingTest(unittest.TestCase):
    """A test with a scratch folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vramscope-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def recorded(self, command: Command, options: Command = (), trace: Optional[Path] = None, **run_options: Any) -> Path:
        """Records a command that must succeed; returns the trace."""
        trace = trace or self.folder / "run.vms"
        done = record(trace, command, options, **run_options)
        self.assertEqual(done.code, 0, f"{' '.join(command)}\n{done.stdout.decode()}\n{done.stderr.decode()}")
        return trace


def main() -> None:
    """Runs the tests of the calling file; ends with SKIPPED if none of them could run."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped and len(result.skipped) >= result.testsRun else 0)  # a class that skips runs no test
