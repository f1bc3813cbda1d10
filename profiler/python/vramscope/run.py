# SPDX-License-Identifier: Apache-2.0
"""A recorded run: its figures, its tables, and the answers of the verbs about it."""

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import command, library
from .answer import Answer
from .errors import Error
from .page import frame
from .table import Table

Moments = Union[str, int, Sequence[Union[str, int]]]


class Run:
    """A trace (`.vms`) or a PyTorch memory snapshot, recognized by its content.

    Answers are those of the command (`vramscope report FILE --json` and so on), which this class runs; docs/json.md lists their keys. Tables come from
    the C library, in this process. Both come from the same analysis, so sums over tables are the report's figures.

    `device` ("cuda:0"), `process` (a pid) and `rank` choose what an answer is about. Without them: the device on which a failed allocation ended the run,
    else a GPU before the CPU, a process that trains before one that does not, then the highest peak.

    >>> run = vramscope.open(example)
    >>> run.peak.allocated_bytes, run.peak.phase
    (9834528, 'backward')
    """

    def __init__(self, path: "Union[str, os.PathLike[str]]") -> None:
        self.path = os.fsdecode(path)
        if not self.path or "\0" in self.path:
            raise Error(f"{self.path!r} is not the name of a file.")
        self._folder = os.path.abspath(os.path.dirname(self.path))
        loaded = library.library()
        self._handle = library.checked(loaded.vramscope_python_open, os.fsencode(self.path))
        self._close = weakref.finalize(self, loaded.vramscope_python_close, self._handle)
        self._close.atexit = False
        self._reports: Dict[Tuple[str, ...], Answer] = {}

    def __repr__(self) -> str:
        return f"<vramscope.Run {self.path}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        """For pickle and copy: the file is opened again, also in another process."""
        return Run, (os.path.join(self._folder, os.path.basename(self.path)),)

    def close(self) -> None:
        """Closes the file now, and not when this object is deleted. Answers and tables that you have stay valid. Safe to call twice."""
        self._close()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _file(self) -> str:
        """The path for the command: as it was given, or absolute if os.chdir() has made that wrong."""
        moved = os.path.abspath(os.path.dirname(self.path)) != self._folder
        path = os.path.join(self._folder, os.path.basename(self.path)) if moved else self.path
        return os.path.join(".", path) if path.startswith("-") else path

    # ---- figures

    def report(self, *, device: Optional[str] = None, process: Optional[int] = None, rank: Optional[int] = None, steps: Optional[str] = None,
               top: Optional[int] = None) -> Answer:
        """Where the memory went: the document of `vramscope report --json`. Bytes are integers in keys that end in `_bytes`, nanoseconds since the start
        of the trace in keys that end in `_ns`. steps: "2:5", both included. top: owners of each kind, default 10, 0 = all.

        >>> report = vramscope.open(example).report()
        >>> sum(report.peak.categories.values()) == report.peak.allocated_bytes
        True
        """
        asked = tuple(command.words(device=device, process=process, rank=rank, steps=steps, top=top))
        if asked not in self._reports:
            self._reports[asked] = self.ask("report", *asked)
        return self._reports[asked]

    @property
    def peak(self) -> Answer:
        """The moment with the most allocated bytes: `allocated_bytes`, `reserved_bytes`, `device_used_bytes` (None: not known), `time_ns`, `step`,
        `phase`, `categories` and more."""
        return Answer(self.report()["peak"])

    @property
    def steps(self) -> List[Answer]:
        """One entry for each training step: `step` (from 1), `begin_ns`, `end_ns`, `complete`, `deep`, `peak`, `end_allocated_bytes`, `allocations`,
        `handed_out_bytes`.

        >>> [step.allocations for step in vramscope.open(example).steps]
        [236]
        """
        return list(self.report()["steps"])

    def at(self, moments: Moments, *, blocks: bool = False, **choice: Any) -> List[Answer]:
        """The state at some moments, in that order: "peak", "step:3" (its peak), "oom", "reserved", "end", "event:1200", nanoseconds, several separated
        by commas. blocks: with the list of the blocks that live then. choice: device, process, rank.

        >>> [moment.allocated_bytes for moment in vramscope.open(example).at("step:1,end")]
        [9834528, 5497888]
        """
        given = [moments] if isinstance(moments, (str, int)) else moments
        if not isinstance(given, (list, tuple)) or not all(isinstance(each, (str, int)) for each in given):
            raise TypeError(f"a moment is a string such as 'step:3', or nanoseconds as an int, or a list of these, not {moments!r}")
        wanted = [moment.strip() for each in given for moment in str(each).split(",")]
        if not wanted:
            return []
        asked = command.words(at=wanted, blocks=blocks, **choice)
        return list(self.ask("report", *asked)["moments"])

    # ---- answers

    def ask(self, verb: str, *arguments: str) -> Answer:
        """The answer of any verb about this run: run.ask("frag", "--at", "oom"). Raises vramscope.Error, with the verb's sentence, if there is none."""
        return command.ask(verb, self._file(), *arguments)

    def whatif(self, **changes: Any) -> Answer:
        """How much memory the program would need after changes: whatif(amp="bf16", checkpoint="all", batch="0.5x"). A keyword is an option of
        `vramscope whatif` with _ for -; docs/whatif.md lists them. `after.peak` and `before.peak` have the figures, `refused` what could not be applied."""
        return self.ask("whatif", *command.words(**changes))

    def plan(self, fit: Optional[str] = None, **options: Any) -> Answer:
        """The cheapest changes with which the program fits into `fit` ("24GiB", or a GPU such as "rtx-4090"). `plans` is empty and `exit_code` 1 if
        nothing fits. A keyword is an option of `vramscope plan` with _ for -: plan("24GiB", forbid="optimizer", top=5)."""
        return self.ask("plan", *command.words(fit=fit, **options))

    def oom(self, **options: Any) -> Answer:
        """Why a request ran out of memory, with proof, and what to change: `verdict`, `verdict_sentence`, `advice` and more."""
        return self.ask("oom", *command.words(**options))

    def leaks(self, **options: Any) -> Answer:
        """What grows from step to step, and what keeps it: `bytes_per_step`, `leaks`, `settled` and more. Needs three finished steps."""
        return self.ask("leaks", *command.words(**options))

    def frag(self, **options: Any) -> Answer:
        """How much memory is reserved but not used, why, and which blocks pin it: `decomposition`, `segments` and more. Needs a GPU's allocator."""
        return self.ask("frag", *command.words(**options))

    def explain(self, **options: Any) -> Answer:
        """Why nvidia-smi shows more than PyTorch: `between` adds up to `difference_bytes`. Needs recorded calls of the CUDA driver."""
        return self.ask("explain", *command.words(**options))

    def info(self) -> Answer:
        """What is in the file: processes, devices, coverage of the hooks, losses."""
        return self.ask("info")

    # ---- tables

    def _table(self, name: str, **question: Any) -> Table:
        if not self._close.alive:
            raise Error(f"{self.path} is closed. Open it again.")
        lines = "\n".join(f"{key}={value}" for key, value in question.items() if value is not None)
        if len(lines.splitlines()) > len(question) or "\0" in lines:
            raise Error("A device is one name, such as 'cuda:0'.")
        return Table(library.checked(library.library().vramscope_python_table, self._handle, name.encode(), lines.encode()))

    def events(self) -> Table:
        """The recorded events, in order. Columns: event (from 1), time_ns, process (pid), thread, type, device, address, bytes, requested_bytes, stack,
        name. Shape: (events, 11)."""
        return self._table("events")

    def blocks(self, *, device: Optional[str] = None, process: Optional[int] = None, rank: Optional[int] = None) -> Table:
        """One row for each allocation of a framework allocator. Columns: block (from 1), process (pid), device, address, bytes, requested_bytes, stream,
        alloc_ns, free_ns (missing: alive at the end), step and phase of its birth, first_category, last_category, peak_category (missing: not alive at
        the peak), name, module, op, line, stack. The peak is that of the chosen device; rows are of all devices. Shape: (blocks, 19)."""
        return self._table("blocks", device=device, process=process, rank=rank)

    def series(self, *, step: Union[int, str, None] = None, device: Optional[str] = None, process: Optional[int] = None, rank: Optional[int] = None,
               all_devices: bool = False) -> Table:
        """The memory of the chosen device after each event that changed it. Columns: event, time_ns, process (pid), device, step, phase,
        allocated_bytes, reserved_bytes, and bytes of each of the 13 categories, which add up to allocated_bytes. step: 3, or "2:5", both included.
        all_devices: one device after the other. Shape: (changes, 21)."""
        return self._table("series", steps=step, device=device, process=process, rank=rank, all=1 if all_devices else None)

    def stacks(self) -> Table:
        """The recorded stacks, one row for each frame. Columns: stack (as in other tables), position (0 = outermost), frame. Shape: (frames, 3)."""
        return self._table("stacks")

    def operators(self) -> Table:
        """The calls of operators in deep steps, in order of their begin. Columns: operator (from 1), parent (missing: none), process (pid), thread, name,
        stack, begin_ns, end_ns (missing: the trace ends inside). Shape: (calls, 8)."""
        return self._table("operators")

    def segments(self) -> Table:
        """What PyTorch's caching allocator took from the driver, and when. Columns: process (pid), device, address, bytes, mapped (pages of an expandable
        segment), begin_ns, end_ns (missing: held at the end). Shape: (segments, 7)."""
        return self._table("segments")

    # ---- the page

    def html(self, *, redact: bool = False, **choice: Any) -> str:
        """The report as one HTML page that loads nothing (docs/report.md). redact: without folders, command arguments and source files."""
        with tempfile.TemporaryDirectory(prefix="vramscope-") as folder:
            page = Path(folder) / "report.html"
            done = command.run(["report", self._file(), "--html", str(page), "--quiet", *command.words(redact=redact, **choice)])
            if done.returncode != 0:
                raise Error(command.sentence(done))
            return page.read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        """For notebooks: the report's page in a frame."""
        return frame(self.html())


def open(path: "Union[str, os.PathLike[str]]") -> Run:  # as gzip.open and similar functions
    """Opens a trace (`.vms`) or a PyTorch memory snapshot. Nothing is read before it is needed.

    >>> vramscope.open(example)  # doctest: +ELLIPSIS
    <vramscope.Run ...v1_training.vms>
    """
    return Run(path)
