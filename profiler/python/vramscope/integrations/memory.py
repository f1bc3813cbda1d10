# SPDX-License-Identifier: Apache-2.0
"""What the callbacks measure: figures of PyTorch's own caching allocator, which cost microseconds and change nothing.

    vramscope/peak_allocated_bytes     the most that was allocated since training began (or since the program reset the statistics)
    vramscope/reserved_bytes           what the allocator holds now
    vramscope/fragmentation            1 - peak allocated / peak reserved, as in `vramscope frag`
    vramscope/growth_bytes_per_step    slope of a least squares line through what was allocated at the ends of the last 32 steps; from the fifth step on

On a machine without a GPU there are no such figures, and nothing is logged."""

import collections
import functools
import logging
import os
import sys
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple, TypeVar

from .. import recording

Function = TypeVar("Function", bound=Callable[..., Any])

PREFIX = "vramscope/"
LOG = logging.getLogger("vramscope")
_STEPS = 32
_FIRST_STEPS = 2  # warm-up: optimizer state and workspaces are allocated
_FEWEST = 3
_LAST_STEPS = 3  # of a black box
_HISTORY = 100_000  # events that a snapshot can explain


def harmless(function: Function) -> Function:
    """Decorator for every function that a trainer calls: an error of ours is logged once, and training goes on."""

    @functools.wraps(function)
    def guarded(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Exception as error:
            _complain(function.__qualname__, repr(error))
            return None

    return guarded  # type: ignore[return-value]


@functools.lru_cache(maxsize=32)
def _complain(where: str, error: str) -> None:
    LOG.warning("vramscope: %s failed and is skipped: %s", where, error)


def _cuda() -> Optional[Any]:
    """torch.cuda if the program uses it."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized() else None


class StepMemory:
    """The figures after each step of training."""

    def __init__(self) -> None:
        self._ends: Deque[Tuple[int, int]] = collections.deque(maxlen=_STEPS)  # step, allocated bytes
        self._steps = 0

    def after_step(self) -> Dict[str, float]:
        """To be called once after each step. Empty without a GPU."""
        cuda = _cuda()
        if cuda is None:
            return {}
        statistics = cuda.memory_stats()
        allocated, reserved = statistics.get("allocated_bytes.all.current", 0), statistics.get("reserved_bytes.all.current", 0)
        peak, most_reserved = statistics.get("allocated_bytes.all.peak", 0), statistics.get("reserved_bytes.all.peak", 0)
        self._steps += 1
        if self._steps > _FIRST_STEPS:
            self._ends.append((self._steps, allocated))
        figures = {"peak_allocated_bytes": float(peak), "reserved_bytes": float(reserved)}
        if most_reserved:
            figures["fragmentation"] = 1 - peak / most_reserved
        if len(self._ends) >= _FEWEST:
            figures["growth_bytes_per_step"] = slope(list(self._ends))
        return {PREFIX + name: value for name, value in figures.items()}


def slope(points: List[Tuple[int, int]]) -> float:
    """The slope of the least squares line through the points.

    >>> slope([(3, 100), (4, 110), (5, 120)])
    10.0
    """
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


class Watch:
    """Waits for memory to run out between the begin and the end of training. This base class does nothing."""

    def begin(self) -> None:
        """Watches from here on."""

    def end(self) -> None:
        """Watches no longer."""


class OutOfMemoryTrace(Watch):
    """Records the training, keeps its last steps in memory, and leaves them as a trace if memory runs out: `vramscope view` shows each block of them.

    The recorder costs about a percent of a step (docs/performance.md). It writes the file by itself, when PyTorch's allocator reports the failure."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, f"vramscope-oom-{os.getpid()}.vms")
        self._recording: Optional[recording.Recording] = None

    @harmless
    def begin(self) -> None:
        if self._recording is not None and self._recording.active:
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self._recording = recording.start(self.path, black_box=_LAST_STEPS)

    @harmless
    def end(self) -> None:
        begun, self._recording = self._recording, None
        if begun is None or not begun.active:
            return
        begun.stop()
        if begun.paths:
            LOG.warning("vramscope: out of memory; the last steps are in %s. See: vramscope oom %s", begun.path, begun.path)


class OutOfMemoryDump(Watch):
    """Writes PyTorch's memory snapshot when a request fails, before the exception reaches the program: `vramscope oom` reads it.

    PyTorch calls an observer at that moment. An observer cannot be removed, so the process has one, which does nothing while no training runs."""

    _active: "Optional[OutOfMemoryDump]" = None
    _attached = False

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, f"vramscope-oom-{os.getpid()}.pickle")
        self.written = False
        self._began_history = False

    @harmless
    def begin(self) -> None:
        """Watches from here on. Turns PyTorch's history of allocations on, unless the program has."""
        if self._active is self or "torch" not in sys.modules:
            return
        import torch

        if not torch.cuda.is_available():
            return
        OutOfMemoryDump._active = self
        if not torch._C._cuda_isHistoryEnabled():
            torch.cuda.memory._record_memory_history(max_entries=_HISTORY, stacks="python")
            self._began_history = True
        if not OutOfMemoryDump._attached:
            OutOfMemoryDump._attached = True
            torch._C._cuda_attach_out_of_memory_observer(_observe)

    @harmless
    def end(self) -> None:
        """Watches no longer."""
        if OutOfMemoryDump._active is not self:
            return
        OutOfMemoryDump._active = None
        if self._began_history:
            import torch

            torch.cuda.memory._record_memory_history(enabled=None)

    @harmless
    def write(self) -> None:
        """Writes the snapshot; an earlier one is replaced."""
        import torch

        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        torch.cuda.memory._dump_snapshot(self.path)
        self.written = True
        LOG.warning("vramscope: out of memory; the state at that moment is in %s. See: vramscope oom %s", self.path, self.path)


def _observe(device: int, requested: int, device_total: int, device_free: int) -> None:
    active = OutOfMemoryDump._active
    if active is not None:
        active.write()


def watch_for(on_oom: Optional[str], folder: str) -> Watch:
    """The watch for the option on_oom of a callback: "dump", "trace" or None."""
    place = os.path.abspath(folder)
    return OutOfMemoryDump(place) if on_oom == "dump" else OutOfMemoryTrace(place) if on_oom == "trace" else Watch()


def check(on_oom: Optional[str]) -> Optional[str]:
    """Raises for a value that on_oom cannot have."""
    if on_oom not in (None, "dump", "trace"):
        raise ValueError(f"on_oom is 'dump', 'trace' or None, not {on_oom!r}")
    return on_oom
