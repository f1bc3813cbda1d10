# SPDX-License-Identifier: Apache-2.0
"""The injector's C functions (injector/core/api.h), bound with ctypes, and the numbers of trace_format/event.h.

Cost: a ctypes call spends most of its time turning Python integers into C ones (460 ns for three, against 220 ns when they are C
already). So what is said in every step is a Call: the arguments are converted once, when the optimizer or the scope is first met.
PyDLL keeps the GIL; every function behind it is a few stores into a ring.
"""

import ctypes
from functools import partial
from typing import Any, Callable, Dict, Optional, Set

API_VERSION = 1
AUTOGRAD_HOOKS_REACHED = 2  # bit of vramscope_torch_ready


class Role:
    PARAMETER, BUFFER, GRADIENT, OPTIMIZER_STATE, INPUT = 1, 2, 3, 4, 5


class Source:
    MODULE_REGISTRY, OPTIMIZER, DATA_LOADER = 2, 3, 4


class Kind:
    OPTIMIZER, DATA_LOADER, MODULE, SCOPE, AUTOCAST, CHECKPOINT, ZERO_GRAD = 2, 3, 4, 5, 6, 7, 9


class Mark:
    OPTIMIZER_STEP_DONE, ZERO_GRAD, BATCH_READY, USER, CHECKPOINT_FREED = 1, 4, 5, 9, 10


class State:
    MISSING, HOOKED, PROVEN, DISABLED = 0, 1, 2, 3


_library: Any = None
_ids: Dict[str, int] = {}
_reported: Set[str] = set()

# Set by connect(). label(role, source, address, bytes, name id, tensor)
label: Callable[[int, int, int, int, int, int], None]
deep: Callable[[], int]
step_done: Callable[[int], int]


def connect() -> bool:
    """Finds the injector in this process and binds it; True when this process is being recorded."""
    global _library, label, deep, step_done
    if _library is None:
        _library = _find_library()
        if _library is None:
            return False
        number, wide, text = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p
        for name, result, arguments in (
            ("recording", ctypes.c_int, []),
            ("intern", number, [text, ctypes.c_size_t]),
            ("label", None, [number, number, wide, wide, number, wide]),
            ("coverage", None, [text, number, text]),
            ("torch_ready", number, [text, text]),
            ("step_done", ctypes.c_int, [wide]),
            ("deep", ctypes.c_int, []),
        ):
            function = getattr(_library, "vramscope_" + name)
            function.restype, function.argtypes = result, arguments
        # Called through Call only, with C arguments: no argtypes, which would be checked again at each call.
        for name in ("range_begin", "range_end", "mark"):
            getattr(_library, "vramscope_" + name).restype = None
        label, deep, step_done = _library.vramscope_label, _library.vramscope_deep, _library.vramscope_step_done
    return bool(_library.vramscope_recording())


def _find_library() -> Optional[Any]:
    process = ctypes.PyDLL(None)
    if hasattr(process, "vramscope_recording"):
        return process
    # Attached, not preloaded: it is here but not in the global scope. Opening its path again gives the same library.
    with open("/proc/self/maps", "rb") as maps:
        paths = {line.split(None, 5)[5].rstrip(b"\n") for line in maps if b"libvramscope_injector" in line}
    for path in paths:
        library = ctypes.PyDLL(path.decode("utf-8", "surrogateescape"))
        if hasattr(library, "vramscope_recording"):
            return library
    return None


def intern(text: str) -> int:
    """The injector's id of a text; remembered, so only for texts of which there are not endlessly many."""
    known = _ids.get(text)
    if known is None:
        data = text.encode("utf-8", "replace")
        known = _ids[text] = _library.vramscope_intern(data, len(data))
    return known


class Range:
    """begin() and end() of one interval: 0.25 us each."""

    __slots__ = ("begin", "end")

    def __init__(self, kind: int, name: str, identity: int = 0) -> None:
        arguments = (ctypes.c_uint32(kind), ctypes.c_uint32(intern(name)), ctypes.c_uint64(identity))
        self.begin = partial(_library.vramscope_range_begin, *arguments)
        self.end = partial(_library.vramscope_range_end, *arguments)


class NumberedRange:
    """Ranges that differ by their identity: 0.6 us to begin or end one."""

    def __init__(self, kind: int, name: str) -> None:
        arguments = (ctypes.c_uint32(kind), ctypes.c_uint32(intern(name)))
        self._begin = partial(_library.vramscope_range_begin, *arguments)
        self._end = partial(_library.vramscope_range_end, *arguments)

    def begin(self, identity: int) -> None:
        self._begin(ctypes.c_uint64(identity))

    def end(self, identity: int) -> None:
        self._end(ctypes.c_uint64(identity))


def silent_range() -> Range:
    """A range that is not recorded."""
    silent = Range.__new__(Range)
    silent.begin = silent.end = lambda: None
    return silent


class Moment:
    """A mark whose value changes: set `value.value`, then call say()."""

    __slots__ = ("value", "say")

    def __init__(self, kind: int, name: str, identity: int = 0) -> None:
        self.value = ctypes.c_uint64(0)
        arguments = (ctypes.c_uint32(kind), self.value, ctypes.c_uint32(intern(name)), ctypes.c_uint64(identity))
        self.say = partial(_library.vramscope_mark, *arguments)


def fact(key: str, value: object) -> None:
    """One line of metadata about this process."""
    Moment(Mark.USER, f"meta:{key}={value}").say()


def torch_ready(version: str, folder: str) -> int:
    return _library.vramscope_torch_ready(version.encode(), folder.encode("utf-8", "surrogateescape"))


def coverage(hook: str, state: int, detail: str = "") -> None:
    _library.vramscope_coverage(hook.encode(), state, detail.encode("utf-8", "replace"))


def proven(hook: str) -> None:
    """Says once that a hook was seen to fire."""
    if hook not in _reported:
        _reported.add(hook)
        coverage(hook, State.PROVEN)


def missing(hook: str, error: BaseException) -> None:
    """Says that a hook could not be put in."""
    coverage(hook, State.MISSING, _sentence(error))


def trouble(hook: str, error: BaseException) -> None:
    """Takes an error of ours out of the program's way and into the trace, once per hook. Never raises.

    Only for Exception: KeyboardInterrupt and the like belong to the program, also when they strike inside a hook.
    """
    try:
        key = "trouble " + hook
        if key not in _reported:
            _reported.add(key)
            coverage(hook, State.HOOKED, _sentence(error))
    except Exception:
        pass


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]
