# SPDX-License-Identifier: Apache-2.0
"""Where the bytes of a tensor are: its address and size, by DLPack, which copies nothing.

    DLManagedTensor: void* data, int32 device type, int32 device number, int32 dimensions, uint8 type code, uint8 bits, uint16 lanes, int64* shape

The capsule is not consumed; it is freed at once, and with it the reference to the tensor. Source: dlpack.h."""

import ctypes
from typing import Any, Callable, Iterator, Tuple

Place = Tuple[int, int]  # address and bytes
NOWHERE: Place = (0, 0)

_capsule: Callable[[Any], Any]
_eager_tensor: Any
_variable: Any
_silent: Callable[[], Any]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def connect() -> None:
    global _capsule, _eager_tensor, _variable, _silent
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import record
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import resource_variable_ops

    _capsule = pywrap_tfe.TFE_ToDlpackCapsule
    _eager_tensor = ops.EagerTensor
    _variable = resource_variable_ops.BaseResourceVariable
    _silent = record.stop_recording


def is_variable(value: Any) -> bool:
    return issubclass(type(value), _variable)


def is_eager(value: Any) -> bool:
    return issubclass(type(value), _eager_tensor)


def place_of_tensor(tensor: Any) -> Place:
    if not is_eager(tensor):
        return NOWHERE
    capsule = _capsule(tensor)
    start = _pointer(capsule, b"dltensor")
    if not start:
        return NOWHERE
    address = ctypes.c_uint64.from_address(start).value or 0
    return (address, tensor.dtype.size * tensor.shape.num_elements()) if address else NOWHERE


def place_of_variable(variable: Any) -> Place:
    """Reading a variable gives a tensor that shares its buffer. No tape records this read."""
    with _silent():
        return place_of_tensor(variable._read_variable_op())


def parts(value: Any) -> Iterator[Tuple[str, Any]]:
    """(suffix of the name, variable of one device): a mirrored variable has one for each replica."""
    if is_variable(value):
        yield "", value
        return
    for number, part in enumerate(getattr(value, "values", ())):
        if is_variable(part):
            yield f" (replica {number})", part
