# SPDX-License-Identifier: Apache-2.0
"""The functions and lines that call a module: told at the begin of each call, in deep steps, as marks; innermost first, up to the call of the module around.

    forward of the module around ── helper ── call of the module        Net.forward (net.py:12), helper (net.py:40): told as "helper (net.py:40)"
                                                                        and "Net.forward (net.py:12)"

With each one goes the place of the call in the function's code: of several calls in a line, and of one that a loop comes back to, it tells which it is.

Why: operators tell the same of themselves (torch/bridge/python_stack.cc). Of x = norm(x) and x = norm(x) * scale the operators within the module,
and the one behind it, do not show when x stands for something else.
"""

from typing import Any, Callable, Dict, List, Tuple

from . import native

MAX_FRAMES = 64
MAX_TOLD = 8  # as of an operator
MAX_KNOWN = 16384  # a program that keeps compiling code would otherwise never lose any of it


class Callers:
    def __init__(self, torch: Any) -> None:
        module = torch.nn.Module
        self._call = module._call_impl.__code__
        wrapped = getattr(module, "_wrapped_call_impl", None)  # 2.1
        self._entered = getattr(wrapped, "__code__", None)
        # By the code's address, which is kept alive with it: codes of two files may be equal.
        self._known: Dict[Tuple[int, int], Tuple[Any, Callable[[int], None]]] = {}

    def caller(self, frame: Any) -> Any:
        """The frame of the function that calls the module, of which `frame` is below the call; None where that is none of Python's."""
        while frame is not None and frame.f_code is not self._call:
            frame = frame.f_back
        if frame is not None:
            frame = frame.f_back
        if frame is not None and frame.f_code is self._entered:
            frame = frame.f_back
        return frame

    def frames(self, frame: Any) -> List[Any]:
        """`frame`: below the call of the module that begins."""
        frame = self.caller(frame)
        found: List[Any] = []
        while frame is not None and frame.f_code is not self._call and len(found) < MAX_FRAMES:
            found.append(frame)
            frame = frame.f_back
        return found

    def tell(self, frames: List[Any]) -> None:
        for frame in frames[:MAX_TOLD]:
            code = frame.f_code
            key = id(code), frame.f_lasti
            known = self._known.get(key)
            if known is None:
                name = getattr(code, "co_qualname", code.co_name)  # 3.11
                known = code, native.moment(native.Mark.CALLER, f"{name} ({code.co_filename}:{frame.f_lineno})")
                if len(self._known) < MAX_KNOWN:
                    self._known[key] = known
            known[1](frame.f_lasti)
