# SPDX-License-Identifier: Apache-2.0
"""The injector's C functions (injector/core/api.h), and the numbers of trace_format/event.h.

Cost: calls in every step use a built-in function that the injector creates, with its arguments bound: 0.05 us. The rest goes through ctypes, which
costs ten times that, and more with cold caches. PyDLL keeps the GIL; every function is a few stores into a ring."""

import ctypes
from typing import Any, Callable, Dict, List, Optional, Set

from . import guard

AUTOGRAD_HOOKS_REACHED = 2  # bit of vramscope_torch_ready


class Role:
    PARAMETER, BUFFER, GRADIENT, OPTIMIZER_STATE, INPUT = 1, 2, 3, 4, 5
    COMMUNICATION = 7


class Source:
    MODULE_REGISTRY, OPTIMIZER, DATA_LOADER = 2, 3, 4
    DATA_PARALLEL = 10


class Kind:
    BACKWARD = 1
    OPTIMIZER, DATA_LOADER, MODULE, SCOPE, AUTOCAST, CHECKPOINT, ZERO_GRAD = 2, 3, 4, 5, 6, 7, 9


class Mark:
    OPTIMIZER_STEP_DONE, ZERO_GRAD, BATCH_READY, USER, CHECKPOINT_FREED = 1, 4, 5, 9, 10


class Call:
    RANGE_BEGIN, RANGE_END, NUMBERED_BEGIN, NUMBERED_END, MARK, LABEL, OPTIMIZER_DONE, STEP_DONE = range(8)


class State:
    MISSING, HOOKED, PROVEN, DISABLED, FAILED = 0, 1, 2, 3, 4


_library: Any = None
_ids: Dict[str, int] = {}
_reported: Set[str] = set()

# Set by connect(). label(role, source, address, bytes, name id, tensor); step_done(done) returns whether the step that begins is deep.
label: Callable[[int, int, int, int, int, int], None]
deep: Callable[[], int]
step_done: Callable[[int], int]
memory_seen: Callable[[], int]
driver_seen: Callable[[], int]
# For a process that we attached to: what it already holds. Devices are in the trace's encoding.
held_block: Callable[[int, int, int, int, int], None]  # existed before recording began: device, address, bytes, stream, requested
held_gone: Callable[[int, int], None]  # device, address
held_segment: Callable[[int, int, int, int, int], None]  # device, address, bytes, stream, bytes of the mapped pieces if expandable, else 0
held_segment_gone: Callable[[int, int, int, int], None]  # device, address, bytes, pieces
held_driver_total: Callable[[], None]
held_tensor: Callable[[int, int, int], None]  # _cdata, address, bytes: the block under it, if it belongs to the CPU's allocator
held_saved: Callable[[int], None]  # id of a SavedTensor: what autograd keeps in it, read without unpacking it
held_leaf: Callable[[int, int], None]  # id of an AccumulateGrad node, _cdata of its variable


def connect() -> bool:
    """Finds the injector in this process and binds it; True if this process is being recorded."""
    global _library
    if _library is None:
        _library = _find_library()
        if _library is None:
            return False
        try:
            _bind()
        except Exception as error:
            missing("python", error)
            _library = None
            raise
        guard.tell_through(lambda hook, reason: coverage(hook, State.FAILED, reason))
    return bool(_library.vramscope_recording())


def _bind() -> None:
    global label, step_done
    number, wide, text = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p
    for name, result, arguments in (
        ("coverage", None, [text, number, text]),
        ("recording", ctypes.c_int, []),
        ("intern", number, [text, ctypes.c_size_t]),
        ("torch_ready", number, [text, text]),
        ("deep", ctypes.c_int, []),
        ("memory_seen", ctypes.c_int, []),
        ("held_block", None, [number, wide, wide, wide, wide]),
        ("held_gone", None, [number, wide]),
        ("driver_seen", number, []),
        ("held_segment", None, [number, wide, wide, wide, wide]),
        ("held_segment_gone", None, [number, wide, wide, wide]),
        ("held_driver_total", None, []),
        ("held_tensor", number, [wide, wide, wide]),
        ("held_saved", number, [wide]),
        ("held_leaf", None, [wide, wide]),
        ("option", ctypes.c_size_t, [text, text, ctypes.c_size_t]),
        ("program", ctypes.c_int, [text, ctypes.c_size_t, wide]),
        ("python_call", ctypes.py_object, [number, number, number, wide]),
    ):
        function = getattr(_library, "vramscope_" + name)
        function.restype, function.argtypes = result, arguments
        if name.startswith("held_") or name in ("deep", "driver_seen", "memory_seen"):  # what is declared above
            globals()[name] = function
    if hasattr(_library, "vramscope_backward_passes"):  # missing if a dormant process loaded its injector before an upgrade
        _library.vramscope_backward_passes.restype = wide
    label, step_done = _call(Call.LABEL), _call(Call.STEP_DONE)


def function(name: str, result: Any, arguments: List[Any]) -> Optional[Any]:
    """Binds a C function that only one framework's package uses. None if this injector does not have it. Call after connect()."""
    found = getattr(_library, "vramscope_" + name, None)
    if found is not None:
        found.restype, found.argtypes = result, arguments
    return found


def _find_library() -> Optional[Any]:
    process = ctypes.PyDLL(None)
    if hasattr(process, "vramscope_recording"):
        return process
    # Attached, not preloaded: the library is loaded, but not in the global scope. Opening its path again gives the same library.
    with open("/proc/self/maps", "rb") as maps:
        paths = {line.split(None, 5)[5].rstrip(b"\n") for line in maps if b"libvramscope_injector" in line}
    for path in paths:
        library = ctypes.PyDLL(path.decode("utf-8", "surrogateescape"))
        if hasattr(library, "vramscope_recording"):
            return library
    return None


def forget() -> None:
    """Forgets which hooks were reported as proven, so that the next recording of this process gets these reports again."""
    _reported.clear()


def intern(text: str) -> int:
    """The injector's id of a text; cached, so only for a limited number of texts."""
    known = _ids.get(text)
    if known is None:
        data = text.encode("utf-8", "replace")
        known = _ids[text] = _library.vramscope_intern(data, len(data))
    return known


def _call(call: int, kind: int = 0, name: int = 0, identity: int = 0) -> Any:
    return _library.vramscope_python_call(call, kind, name, identity)


class Range:
    __slots__ = ("begin", "end")

    def __init__(self, kind: int, name: str, identity: int = 0) -> None:
        self.begin: Callable[[], None] = _call(Call.RANGE_BEGIN, kind, intern(name), identity)
        self.end: Callable[[], None] = _call(Call.RANGE_END, kind, intern(name), identity)


class StepRange(Range):
    """One optimizer's step(): begin(), then done(steps so far), which ends it and sets the mark, or end() if it raised."""

    __slots__ = ("done",)

    def __init__(self, name: str, identity: int) -> None:
        super().__init__(Kind.OPTIMIZER, name, identity)
        self.done: Callable[[int], None] = _call(Call.OPTIMIZER_DONE, Kind.OPTIMIZER, intern(name), identity)


class NumberedRange:
    """begin(identity) and end(identity): intervals that differ by their identity."""

    __slots__ = ("begin", "end")

    def __init__(self, kind: int, name: str) -> None:
        self.begin: Callable[[int], None] = _call(Call.NUMBERED_BEGIN, kind, intern(name))
        self.end: Callable[[int], None] = _call(Call.NUMBERED_END, kind, intern(name))


def silent_range() -> Range:
    silent = Range.__new__(Range)
    silent.begin = silent.end = lambda: None
    return silent


def moment(kind: int, name: str, identity: int = 0) -> Callable[[int], None]:
    """A function that sets a mark with the given value."""
    return _call(Call.MARK, kind, intern(name), identity)


def option(key: str) -> str:
    """An option of the recorder, "" if it is not set."""
    buffer = ctypes.create_string_buffer(64)
    _library.vramscope_option(key.encode(), buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def program(text: str, step: int) -> bool:
    """Passes the program of a step to the recorder. True if the recorder has it, even if this process is killed now."""
    data = text.encode("utf-8", "replace")
    return bool(_library.vramscope_program(data, len(data), step))


def fact(key: str, value: object) -> None:
    """Records one line of metadata about this process."""
    moment(Mark.USER, f"meta:{key}={value}")(0)


def backward_passes() -> int:
    """Number of backward passes that have ended in this process; 0 if the injector does not count them."""
    return _library.vramscope_backward_passes() if hasattr(_library, "vramscope_backward_passes") else 0


def torch_ready(version: str, folder: str) -> int:
    return _library.vramscope_torch_ready(version.encode(), folder.encode("utf-8", "surrogateescape"))


def coverage(hook: str, state: int, detail: str = "") -> None:
    _library.vramscope_coverage(hook.encode(), state, detail.encode("utf-8", "replace"))


def proven(hook: str) -> None:
    if hook not in _reported:
        _reported.add(hook)
        coverage(hook, State.PROVEN)


def missing(hook: str, error: BaseException) -> None:
    coverage(hook, State.MISSING, f"{type(error).__name__}: {error}"[:300])
