# SPDX-License-Identifier: Apache-2.0
"""Recording from inside the program, without ptrace: the recorder is loaded into this process, and a separate collector process writes the trace.

    start ── recorder waits at its socket ── `vramscope start PID` ── hooks in place ── your code ── stop ── trace closed

`record` raises vramscope.Error only if the recording cannot begin. Later errors become warnings, and your code's result is unchanged. start() and stop()
raise their errors."""

import contextlib
import functools
import inspect
import os
import signal
import subprocess
import tempfile
import threading
import time
import warnings
from types import TracebackType
from typing import IO, Any, Callable, Dict, Optional, Type, TypeVar, Union

from . import command, installation, recorder
from .errors import Error
from .run import Run

Path = Union[str, "os.PathLike[str]"]
Function = TypeVar("Function", bound=Callable[..., Any])

_BEGINS_WITHIN = 180.0  # seconds: the part for operators may have to be compiled
_MAIN_THREAD_WITHIN = 20.0  # if another thread begins the recording: the main thread may be blocked and never let the recorder in
_ENDS_WITHIN = 60.0
_LOOK_EVERY = 0.002


class Recording:
    """A recording of this process, from start() to stop()."""

    def __init__(self, path: str, collector: "Optional[subprocess.Popen[bytes]]", words: Optional[IO[bytes]], black_box: bool = False) -> None:
        self.path = path
        """The path of the trace. It differs from the requested path if another recorder is writing that file. The final path is known after the end."""
        self.paths = [path]
        """All files that were written, known after the end: several or none with `black_box`, else one."""
        self.summary = ""
        """The command's line about the finished trace."""
        self._pid = os.getpid()
        self._collector = collector
        self._words = words
        self._black_box = black_box

    @property
    def elsewhere(self) -> bool:
        """True if something else, such as `vramscope record`, was already recording this process at the begin. Then that trace has everything, and
        this recording has no trace of its own."""
        return self._collector is None

    @property
    def active(self) -> bool:
        """Whether it still records this process: not after stop(), after `steps` or `duration`, or in a forked child."""
        return self._collector is not None and self._pid == os.getpid() and self._collector.poll() is None

    @property
    def run(self) -> Run:
        """The finished recording, opened."""
        if self.elsewhere:
            raise Error("Another vramscope recorded this process, and its trace has the data.")
        if self.active:
            raise Error(f"{self.path} is still being recorded. Call vramscope.stop() first.")
        if not self.paths:
            raise Error("The black box was not written, because memory did not run out.")
        return Run(self.path)

    def stop(self) -> None:
        """Ends this recording, as stop() does. Does nothing if it has ended."""
        global _current
        if _current is self:
            _current = None
        self._end()

    def _said(self) -> str:
        assert self._words is not None
        self._words.seek(0)
        return self._words.read().decode("utf-8", "replace").strip()

    def _wait_until_in_place(self) -> None:
        deadline = time.monotonic() + _BEGINS_WITHIN
        waits_for_main = threading.current_thread() is not threading.main_thread()
        while not recorder.is_in_place():
            if not self.active:
                raise Error(_without_prefix(self._said()) or "The recording could not begin.")
            if waits_for_main and recorder.is_recording():  # all that is left is the main thread's part
                waits_for_main, deadline = False, min(deadline, time.monotonic() + _MAIN_THREAD_WITHIN)
            if time.monotonic() > deadline:
                self._end()
                raise Error("The recorder did not start in time. If this is not the main thread, let the main thread run Python code meanwhile.")
            time.sleep(_LOOK_EVERY)  # Python's main thread lets the recorder in between two instructions

    def _end(self) -> None:
        if self._collector is None or self._words is None or self._words.closed or self._pid != os.getpid():
            return
        if self._collector.poll() is None:
            self._collector.send_signal(signal.SIGINT)
        deadline = time.monotonic() + _ENDS_WITHIN
        while self._collector.poll() is None:
            if time.monotonic() > deadline:
                raise Error(f"{self.path} is still being written. It is complete when process {self._collector.pid} has ended.")
            time.sleep(_LOOK_EVERY)
        said = self._said()
        self._words.close()
        if self._collector.returncode != 0:
            raise Error(_without_prefix(said) or f"{self.path} could not be written.")
        for line in said.splitlines():
            if ": " in line and not line.startswith("vramscope: "):
                self._take_summary(line)

    def _take_summary(self, line: str) -> None:
        """Reads "run.vms: 1,200 events ..."; for a black box "run.vms, run-2.vms: the last steps ..." or "Nothing was written: ..."."""
        self.summary = line
        names = line.split(": ", 1)[0]
        if self._black_box:
            self.paths = names.split(", ") if ": the last steps, " in line else []
        elif not line.startswith(self.path + ": "):
            self.paths = [names]
        self.path = self.paths[-1] if self.paths else self.path


_current: Optional[Recording] = None


def start(path: Path = "run.vms", *, device: str = "auto", stacks: Optional[str] = None, depth: Optional[str] = None, deep_steps: Optional[str] = None,
          steps: Optional[int] = None, duration: Optional[str] = None, max_size: Optional[str] = None, black_box: Optional[int] = None,
          program: bool = False) -> Recording:
    """Begins to record this process into `path`. Returns when every following allocation is recorded.

    device: "auto" (CUDA if the program uses it, else the CPU), "cpu", "cuda", "all". stacks: "python", "native" or "all", for allocations in deep steps.
    depth: "light" (default; "auto" with stacks), "auto", "deep", "all"; deep_steps: "2-4". steps, duration ("30s"), max_size ("10GiB"): when the
    recording ends by itself. black_box: keep this number of last steps in memory, and write them only when memory runs out. program: record a step that
    `whatif` can run again. docs/python.md describes them.

    Raises vramscope.Error if this process cannot be recorded, or if start() has begun a recording already. If `vramscope record` or the like
    already records it, that recording goes on, and start() only warns (see Recording.elsewhere). So a program that records itself can be recorded too."""
    global _current
    if recorder.is_recording():
        if _current is not None and _current.active:
            raise Error("This process is already being recorded. Call vramscope.stop() first; marks can be set in that recording.")
        warnings.warn("vramscope: another vramscope already records this process; its trace contains this part too.", RuntimeWarning, stacklevel=2)
        _current = Recording(os.path.abspath(os.fspath(path)), None, None)
        return _current
    options = command.words(device=device, stacks=stacks, depth=depth, deep_steps=deep_steps, steps=steps, duration=duration, max_size=max_size,
                            black_box=black_box, program="on" if program else "off")
    name = os.path.abspath(os.fspath(path))
    recorder.open_door()
    words: IO[bytes] = tempfile.TemporaryFile()
    # In a session of its own, so that Ctrl-C reaches only the program, and the trace is closed after the program has ended.
    collector = subprocess.Popen([installation.command(), "start", str(os.getpid()), "-o", name, *options], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=words, env=command.environment(), start_new_session=True)
    recording = Recording(name, collector, words, black_box is not None)
    try:
        recording._wait_until_in_place()
    except BaseException:  # Ctrl-C too: otherwise the recording would go on, and nobody could stop it
        if recording.active:
            with contextlib.suppress(Error):
                recording._end()
        raise
    _current = recording
    return recording


def stop() -> Recording:
    """Ends the recording that start() began, and returns it when its trace is complete. Raises vramscope.Error if there is none."""
    global _current
    recording, _current = _current, None
    if recording is None or recording._pid != os.getpid():
        raise Error("This process has no recording to stop: vramscope.start() begins one.")
    recording._end()
    return recording


def mark(text: str) -> None:
    """Sets a mark with a text, such as "epoch 3", in the recording of this process, however that began. Does nothing if there is none."""
    if not isinstance(text, str):
        raise TypeError(f"a mark must be a string, not {type(text).__name__}")
    recorder.mark(text)


class record:
    """Records a block or each call of a function, with the arguments of start(). A coroutine and a generator are recorded until they end.

        with vramscope.record("run.vms", stacks="python") as recording:
            train()
        print(recording.run.peak.allocated_bytes)

        @vramscope.record("epoch.vms")
        def train_one_epoch(): ...

    If the recording cannot begin, vramscope.Error is raised before your code runs. If it cannot be finished, you get a warning, and your result is
    kept."""

    def __init__(self, path: Path = "run.vms", **options: Any) -> None:
        self._path = path
        self._options: Dict[str, Any] = options
        self._begun: Optional[Recording] = None

    def __enter__(self) -> Recording:
        self._begun = start(self._path, **self._options)
        return self._begun

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        begun, self._begun = self._begun, None
        try:
            if begun is not None and begun is _current and begun._pid == os.getpid():  # the block may have stopped it, or begun another
                stop()
        except Exception as failure:
            warnings.warn(f"vramscope: {failure}", RuntimeWarning, stacklevel=2)

    def __call__(self, function: Function) -> Function:
        if inspect.isasyncgenfunction(function):
            raise TypeError("record() cannot decorate an asynchronous generator: write `with vramscope.record(...)` inside it")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def recorded_coroutine(*arguments: Any, **named: Any) -> Any:
                with record(self._path, **self._options):
                    return await function(*arguments, **named)

            return recorded_coroutine  # type: ignore[return-value]
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def recorded_generator(*arguments: Any, **named: Any) -> Any:
                with record(self._path, **self._options):
                    return (yield from function(*arguments, **named))

            return recorded_generator  # type: ignore[return-value]

        @functools.wraps(function)
        def recorded(*arguments: Any, **named: Any) -> Any:
            with record(self._path, **self._options):
                return function(*arguments, **named)

        return recorded  # type: ignore[return-value]


def _without_prefix(text: str) -> str:
    return " ".join(line[len("vramscope: "):] if line.startswith("vramscope: ") else line for line in text.splitlines())
