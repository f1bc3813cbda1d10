# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin `pytest-vramscope`: limits on the memory of a test, measured by recording it in its own process.

    @pytest.mark.limit_gpu_memory("2 GiB")      the most that the test allocates at one time, in addition to what was allocated before
    @pytest.mark.limit_gpu_leaks("0 B")         what it allocates and does not free

A wheel registers it; otherwise: `pytest -p vramscope.pytest_plugin`. On a machine without a GPU, the memory of CPU tensors is measured. A test that
breaks a limit fails with the categories of its peak. `--vramscope-folder DIR` keeps the trace of each marked test."""

import gc
import os
import re
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Optional, Tuple

import pytest

from . import recording
from .errors import Error
from .recording import Recording

_MARKS = {
    "limit_gpu_memory": "limit_gpu_memory(size): fails if the test allocates more at one time, such as '2 GiB'",
    "limit_gpu_leaks": "limit_gpu_leaks(size): fails if the test leaves more memory allocated, such as '0 B'",
}
_UNITS = {"B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def pytest_addoption(parser: Any) -> None:
    """--vramscope-folder"""
    parser.getgroup("vramscope").addoption("--vramscope-folder", metavar="DIR", help="keep the trace of each test that has a memory limit")


def pytest_configure(config: Any) -> None:
    """Registers the marks."""
    for text in _MARKS.values():
        config.addinivalue_line("markers", text)


def size_of(text: str) -> int:
    """Bytes of a size with its unit.

    >>> size_of("2 GiB"), size_of("1.5KB")
    (2147483648, 1500)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B)\s*", text, re.IGNORECASE) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"a memory limit is a size with a unit, such as '2 GiB', not {text!r}")
    return int(float(match.group(1)) * _UNITS[match.group(2).upper()])


def shown(count: int) -> str:
    """A number of bytes as text with a unit.

    >>> shown(1536), shown(2 << 30)
    ('1.5 KiB', '2.0 GiB')
    """
    value, unit = float(count), 0
    while value >= 1024 and unit < 4:
        value, unit = value / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{value:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[unit - 1]}"


def _limits(item: Any) -> Dict[str, int]:
    limits = {}
    for name in _MARKS:
        mark = item.get_closest_marker(name)
        if mark is not None:
            if len(mark.args) != 1 or mark.kwargs:
                raise ValueError(f"{name} takes one size: @pytest.mark.{name}('2 GiB')")
            limits[name] = size_of(mark.args[0])
    return limits


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_call(item: Any) -> Iterator[None]:
    """Records a test that has a limit, and judges it if it passes."""
    limits = _limits(item)
    if not limits:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="vramscope-") as scratch:
        kept = item.config.getoption("--vramscope-folder")
        path = os.path.join(kept or scratch, re.sub(r"[^\w.-]+", "_", item.nodeid) + ".vms")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        gc.collect()
        try:
            elsewhere = recording.start(path).elsewhere
        except Error as error:
            pytest.fail(f"The memory of this test cannot be measured: {error}", pytrace=False)
        outcome: Any = yield
        if elsewhere:
            recording.stop()
            return
        gc.collect()
        finished = _stop()
        if outcome.excinfo is not None:
            return
        broken = _broken(limits, finished, path if kept else None) if finished else ["The memory of this test could not be measured."]
        if broken:
            _fail(outcome, "\n".join(broken))


def _fail(outcome: Any, text: str) -> None:
    """Makes a passed test fail, without an exception here: that would leave other plugins' hooks unfinished."""
    try:
        pytest.fail(text, pytrace=False)
    except BaseException as failure:
        if not hasattr(outcome, "force_exception"):  # pluggy before 1.1
            raise
        outcome.force_exception(failure)


def _stop() -> Optional[Recording]:
    """The finished recording; None after a warning if it failed, so that our failure does not hide the test's own."""
    try:
        return recording.stop()
    except Error as error:
        warnings.warn(f"vramscope: {error}", RuntimeWarning, stacklevel=2)
        return None


def _broken(limits: Dict[str, int], finished: Recording, kept: Optional[str]) -> List[str]:
    """A sentence for each limit that the run exceeds."""
    blocks = [block for block in _blocks_of(finished) if block["line"] != "before attach"]
    words = []
    limit = limits.get("limit_gpu_memory")
    if limit is not None:
        most, at = _most_at_once(blocks)
        if most > limit:
            words.append(f"The test allocated {shown(most)} at one time, {shown(most - limit)} more than {shown(limit)}: {_by_category(blocks, at)}.")
    limit = limits.get("limit_gpu_leaks")
    if limit is not None:
        left = sum(block["bytes"] for block in blocks if block["free_ns"] is None)
        if left > limit:
            count = sum(block["free_ns"] is None for block in blocks)
            words.append(f"The test left {shown(left)} in {count} blocks allocated; the limit is {shown(limit)}.")
    if words and kept is not None:
        words.append(f"See: vramscope report {kept}")
    return words


def _blocks_of(finished: Recording) -> List[Dict[str, Any]]:
    """The blocks of the device that the report is about; none if nothing was allocated."""
    try:
        run = finished.run
        chosen = run.report().selection
        return [block for block in run.blocks().rows() if block["device"] == chosen.device and block["process"] == chosen.process]
    except Error:
        return []


def _most_at_once(blocks: List[Dict[str, Any]]) -> Tuple[int, int]:
    """The most bytes of these blocks that live at one time, and that time."""
    changes = sorted([(block["alloc_ns"], block["bytes"]) for block in blocks]
                     + [(block["free_ns"], -block["bytes"]) for block in blocks if block["free_ns"] is not None], key=lambda change: change[0])
    most = now = at = 0
    for time, change in changes:
        now += change
        if now > most:
            most, at = now, time
    return most, at


def _by_category(blocks: List[Dict[str, Any]], at: int) -> str:
    sums: Dict[str, int] = {}
    for block in blocks:
        if block["alloc_ns"] <= at and (block["free_ns"] is None or block["free_ns"] > at):
            sums[block["first_category"]] = sums.get(block["first_category"], 0) + block["bytes"]
    largest = sorted(sums.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{category.replace('_', ' ')} {shown(count)}" for category, count in largest)
