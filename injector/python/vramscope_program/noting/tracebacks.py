# SPDX-License-Identifier: Apache-2.0
"""Removes our frames from the traceback that Python prints when an exception ends the program.

In a noted step, calls of PyTorch go through functions of ours, and an exception that leaves them has those functions in its traceback. The frames of
the program and of PyTorch stay. A traceback that the program itself formats is not changed."""
import os
import sys
from types import TracebackType
from typing import Any, Optional, Set

OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_installed = False


def hide_ours() -> None:
    """Called where an exception of the program passes through our functions."""
    global _installed
    if _installed:
        return
    _installed = True
    before = sys.excepthook

    def hook(kind: Any, value: BaseException, traceback: Optional[TracebackType]) -> None:
        try:
            traceback = _without_ours(traceback)
            _clean(value, set())
        except Exception:
            pass
        before(kind, value, traceback)

    sys.excepthook = hook


def _without_ours(first: Optional[TracebackType]) -> Optional[TracebackType]:
    while first is not None and _is_ours(first):
        first = first.tb_next
    entry = first
    while entry is not None:
        following = entry.tb_next
        while following is not None and _is_ours(following):
            following = following.tb_next
        if following is not entry.tb_next:
            entry.tb_next = following
        entry = following
    return first


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith(OURS)


def _clean(value: Optional[BaseException], seen: Set[int]) -> None:
    """Removes our frames from an exception and from those that it was raised from."""
    while value is not None and id(value) not in seen:
        seen.add(id(value))
        value.__traceback__ = _without_ours(value.__traceback__)
        _clean(value.__context__, seen)
        value = value.__cause__
