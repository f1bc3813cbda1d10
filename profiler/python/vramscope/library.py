# SPDX-License-Identifier: Apache-2.0
"""The C functions of libvramscope_python.so (profiler/python/capi/api.h), and the structs of the Arrow C data interface.

ctypes releases Python's lock during a call, so other threads run while a table is read."""

import ctypes
import functools
from typing import Any, Callable

from . import installation
from .errors import Error

VERSION = 1
_SENTENCE = 4096


class ArrowSchema(ctypes.Structure):
    """https://arrow.apache.org/docs/format/CDataInterface.html"""


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))), ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p)]


class ArrowArray(ctypes.Structure):
    """https://arrow.apache.org/docs/format/CDataInterface.html"""


ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """The library with its functions declared."""
    path = installation.library("libvramscope_python.so")
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise Error(f"{path} cannot be loaded: {error}. Install vramscope again.") from None
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in (
        ("version", ctypes.c_uint32, []),
        ("open", handle, [text, text, size]), ("close", None, [handle]),
        ("table", handle, [handle, text, text, text, size]), ("release", None, [handle]),
        ("schema", handle, [handle]), ("array", handle, [handle]), ("stream", handle, [handle]),
        ("drop_schema", None, [handle]), ("drop_array", None, [handle]), ("drop_stream", None, [handle]),
        ("set_get_pointer", None, [handle]),
    ):
        function = getattr(loaded, "vramscope_python_" + name)
        function.restype, function.argtypes = result, arguments
    if loaded.vramscope_python_version() != VERSION:
        raise Error(f"{path} belongs to another version of vramscope than this Python package. Install both from one version.")
    loaded.vramscope_python_set_get_pointer(ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, ctypes.c_void_p))
    return loaded


def checked(function: Callable[..., Any], *arguments: Any) -> int:
    """Calls a function that returns a handle, or NULL and a sentence."""
    sentence = ctypes.create_string_buffer(_SENTENCE)
    handle = function(*arguments, sentence, _SENTENCE)
    if not handle:
        raise Error(sentence.value.decode("utf-8", "replace") or "There is not enough memory for this.")
    return int(handle)


# The names must live as long as the capsules: Python keeps the pointers.
_CAPSULE_NAMES = {kind: ctypes.c_char_p(name) for kind, name in (("schema", b"arrow_schema"), ("array", b"arrow_array"), ("stream", b"arrow_array_stream"))}


def capsule(kind: str, table: int) -> Any:
    """A PyCapsule of the Arrow PyCapsule interface that owns a newly exported struct of the table. kind: "schema", "array" or "stream"."""
    loaded = library()
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    exported = getattr(loaded, "vramscope_python_" + kind)(table)
    if not exported:
        raise MemoryError("there is not enough memory to export a table")
    end = ctypes.cast(getattr(loaded, f"vramscope_python_{kind}_capsule_ends"), ctypes.c_void_p)
    return new(exported, _CAPSULE_NAMES[kind], end)
