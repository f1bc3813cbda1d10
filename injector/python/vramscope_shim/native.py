# SPDX-License-Identifier: Apache-2.0
"""The injector's C functions (injector/core/api.h), and the numbers of trace_format/event.h.

Cost: what is said in every step is a built-in function that the injector makes, with its arguments bound: 0.05 us. The rest goes through
ctypes, which costs ten times that, and more where the caches are cold. PyDLL keeps the GIL; every function is a few stores into a ring.
"""

import ctypes
from typing import Any, Callable, Dict, Optional, Set

from . import guard

API_VERSION = 1
AUTOGRAD_HOOKS_REACHED = 2  # bit of vramscope_torch_ready


class Role:
    PARAMETER, BUFFER, GRADIENT, OPTIMIZER_STATE, INPUT = 1, 2, 3, 4, 5
    COMMUNICATION = 7
    HELD, TYPE_BRANCH, HELD_TO_END, KEPT_RESULT, HELD_IN_GIVEN = 9, 10, 11, 12, 13


class Source:
    MODULE_REGISTRY, OPTIMIZER, DATA_LOADER = 2, 3, 4
    VARIABLE = 8
    DATA_PARALLEL = 10


class Kind:
    OPTIMIZER, DATA_LOADER, MODULE, SCOPE, AUTOCAST, CHECKPOINT, ZERO_GRAD = 2, 3, 4, 5, 6, 7, 9


class Mark:
    OPTIMIZER_STEP_DONE, ZERO_GRAD, BATCH_READY, USER, CHECKPOINT_FREED, CONVERSION, FUNCTION, SLIDING_WINDOW, FLOAT_BUFFER, CALLER, FACTORY, AUTOCAST_STAYS_OFF, AUTOCAST_CLEARED = 1, 4, 5, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18


class Call:
    RANGE_BEGIN, RANGE_END, NUMBERED_BEGIN, NUMBERED_END, MARK, LABEL, OPTIMIZER_DONE, STEP_DONE = range(8)


class State:
    MISSING, HOOKED, PROVEN, DISABLED, FAILED = 0, 1, 2, 3, 4


_library: Any = None
_ids: Dict[str, int] = {}
_reported: Set[str] = set()

# Set by connect(). label(role, source, address, bytes, name id, tensor); step_done(done) tells whether the step that begins is deep.
label: Callable[[int, int, int, int, int, int], None]
deep: Callable[[], int]
step_done: Callable[[int], int]


def connect() -> bool:
    """Finds the injector in this process and binds it; True when this process is being recorded."""
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
        guard.tell_through(_failed)
    return bool(_library.vramscope_recording())


def _bind() -> None:
    global label, deep, step_done
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
        ("python_call", ctypes.py_object, [number, number, number, wide]),
    ):
        function = getattr(_library, "vramscope_" + name)
        function.restype, function.argtypes = result, arguments
    deep = _library.vramscope_deep
    label, step_done = _call(Call.LABEL), _call(Call.STEP_DONE)


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


def forget() -> None:
    """The next recording of this process is told everything again."""
    _reported.clear()


def held_block(device: int, address: int, size: int, stream: int, requested: int) -> None:
    """A block that was there before recording began; `device` as the trace codes it."""
    _library.vramscope_held_block(device, address, size, stream, requested)


def held_gone(device: int, address: int) -> None:
    """It was freed since it was found."""
    _library.vramscope_held_gone(device, address)


def driver_seen() -> bool:
    """Whether the hooks of CUDA's driver work here."""
    return bool(_library.vramscope_driver_seen())


def held_segment(device: int, address: int, size: int, stream: int, part: int) -> None:
    """A segment of the caching allocator; part: bytes of the pieces that an expandable one is mapped in, else 0."""
    _library.vramscope_held_segment(device, address, size, stream, part)


def held_segment_gone(device: int, address: int, size: int, part: int) -> None:
    """It was given back since it was found."""
    _library.vramscope_held_segment_gone(device, address, size, part)


def held_driver_total() -> None:
    """What the driver says is in use on the current device."""
    _library.vramscope_held_driver_total()


def held_tensor(tensor: int, address: int, size: int) -> None:
    """A living tensor (its _cdata) and its storage: the block under it, when it is one of the CPU's allocator."""
    _library.vramscope_held_tensor(tensor, address, size)


def held_saved(saved: Any) -> None:
    """A torch._C._autograd.SavedTensor: what autograd keeps in it, read without unpacking it."""
    _library.vramscope_held_saved(id(saved))


def held_leaf(node: Any, variable: int) -> None:
    """An AccumulateGrad node, and the _cdata of its variable."""
    _library.vramscope_held_leaf(id(node), variable)


def intern(text: str) -> int:
    """The injector's id of a text; remembered, so only for texts of which there are not endlessly many."""
    known = _ids.get(text)
    if known is None:
        data = text.encode("utf-8", "replace")
        known = _ids[text] = _library.vramscope_intern(data, len(data))
    return known


def _call(call: int, kind: int = 0, name: int = 0, identity: int = 0) -> Any:
    return _library.vramscope_python_call(call, kind, name, identity)


class Range:
    """begin() and end() of one interval."""

    __slots__ = ("begin", "end")

    def __init__(self, kind: int, name: str, identity: int = 0) -> None:
        self.begin: Callable[[], None] = _call(Call.RANGE_BEGIN, kind, intern(name), identity)
        self.end: Callable[[], None] = _call(Call.RANGE_END, kind, intern(name), identity)


class StepRange(Range):
    """One optimizer's step(): begin(), then done(steps so far), which ends it and sets the mark, or end() when it raised."""

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
    """A range that is not recorded."""
    silent = Range.__new__(Range)
    silent.begin = silent.end = lambda: None
    return silent


def moment(kind: int, name: str, identity: int = 0) -> Callable[[int], None]:
    """A function that sets a mark with the value that it is given."""
    return _call(Call.MARK, kind, intern(name), identity)


def fact(key: str, value: object) -> None:
    """One line of metadata about this process."""
    moment(Mark.USER, f"meta:{key}={value}")(0)


def memory_seen() -> bool:
    return bool(_library.vramscope_memory_seen())


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
    coverage(hook, State.MISSING, f"{type(error).__name__}: {error}"[:300])


def _failed(hook: str, reason: str) -> None:
    coverage(hook, State.FAILED, reason)
