# SPDX-License-Identifier: Apache-2.0
"""The recorder inside this process: its library, and the socket at which it waits for a collector (injector/core/dormant.h)."""

import ctypes
import os
import socket
import sys
import time
from typing import Any, Optional

from . import installation
from .errors import Error

_DOOR = "\0vramscope-door-{}-{}"  # trace_format/ring.h
_PATIENCE = 10.0  # seconds
_LIBRARY = "libvramscope_injector.so"
_LOOK_AGAIN = 1.0  # seconds between two looks for an attached recorder, each of which takes a millisecond
_USER_MARK = 9  # MarkKind in trace_format/event.h

_loaded: Any = None
_looked = -_LOOK_AGAIN


def loaded() -> Any:
    """The recorder's library if this process has it: preloaded by the command, or loaded before. Else None."""
    global _loaded, _looked
    if _loaded is None and time.monotonic() - _looked > _LOOK_AGAIN:
        _looked = time.monotonic()
        process = ctypes.CDLL(None)
        path = _mapped()
        if hasattr(process, "vramscope_recording"):
            _loaded = _declared(process)
        elif path is not None:
            _loaded = _declared(ctypes.CDLL(path))
    return _loaded


def load() -> Any:
    """The recorder's library; loads it if this process does not have it. It records nothing until a collector asks for it."""
    global _loaded
    if loaded() is None:
        path = installation.library(_LIBRARY)
        try:
            _loaded = _declared(ctypes.CDLL(path))
        except OSError as error:
            raise Error(f"The recorder {path} cannot be loaded: {error}.") from None
    return _loaded


def is_recording() -> bool:
    """Whether this process is being recorded, however that began."""
    library = loaded()
    return library is not None and bool(library.vramscope_recording())


def mark(text: str) -> None:
    """Sets a mark in the recording of this process; does nothing if there is none."""
    library = loaded()
    if library is None or not library.vramscope_recording():
        return
    name = text.encode("utf-8", "surrogatepass")
    library.vramscope_mark(_USER_MARK, 0, library.vramscope_intern(name, len(name)), 0)


def open_door() -> None:
    """From now on `vramscope start` can record this process. Returns when the door answers."""
    library = load()
    if not hasattr(library, "vramscope_wait_for_start"):
        raise Error("The recorder in this process belongs to an older version of vramscope. Start the program again.")
    library.vramscope_wait_for_start()
    deadline = time.monotonic() + _PATIENCE
    while ask("who") is None:
        if time.monotonic() > deadline:
            raise Error("The recorder could not start in this process: the process may have reached its limit of threads or descriptors.")
        time.sleep(0.001)


def ask(order: str) -> Optional[int]:
    """Sends an order to the door and returns its answer; None: there is no door."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as guest:
        guest.settimeout(_PATIENCE)
        try:
            guest.connect(_DOOR.format(os.stat("/proc/self/ns/pid").st_ino, os.getpid()))
            guest.sendall(order.encode())
            guest.shutdown(socket.SHUT_WR)
            return int(guest.recv(16))
        except (OSError, ValueError):
            return None


def is_in_place() -> bool:
    """Whether the hooks of a recording are in place, and the names too if PyTorch is imported."""
    library = loaded()
    if library is None or not library.vramscope_in_place():
        return False
    if "torch" not in sys.modules:
        return True
    training_loop = getattr(sys.modules.get("vramscope_shim.torch_hook"), "training_loop", None)  # None while the main thread imports it
    return training_loop is not None and training_loop() is not None


def _mapped() -> Optional[str]:
    with open("/proc/self/maps", "rb") as maps:
        for line in maps:
            fields = line.split(None, 5)
            if len(fields) == 6 and _LIBRARY.encode() in fields[5]:
                return os.fsdecode(fields[5].rstrip(b"\n"))
    return None


def _declared(library: Any) -> Any:
    number, wide = ctypes.c_uint32, ctypes.c_uint64
    library.vramscope_recording.restype = ctypes.c_int
    library.vramscope_intern.restype, library.vramscope_intern.argtypes = number, [ctypes.c_char_p, ctypes.c_size_t]
    library.vramscope_mark.restype, library.vramscope_mark.argtypes = None, [number, wide, number, wide]
    return library
