# SPDX-License-Identifier: Apache-2.0
"""Where a tensor's bytes are: base address and size of its storage, read without touching the tensor.

Three ways to read look alike but differ:
  untyped_storage().data_ptr()   requests a writable pointer: copies a copy-on-write storage (measured: 2.6, 2.15)
  torch._C._data_address(t)      a const read of the storage's base; does not copy. Since 2.3
  raw memory                     TensorImpl + st -> StorageImpl + dp, + sz; the offsets are found by comparing
                                 with a tensor of ours
So we use the second where it exists, the third before, and the first only where neither works (a
copy-on-write tensor is unlikely there).

Everything here must run under `untouched()`: otherwise a user's __torch_function__ class or mode would see our reads."""

import ctypes
import os
import sys
from typing import Any, Callable, Iterator, Tuple

from vramscope_core import native

Place = Tuple[int, int]  # address and bytes of a storage; (0, 0) = it has none: meta, fake, sparse, functorch wrapper
NOWHERE: Place = (0, 0)

read: Callable[[Any], Place]
untouched: Callable[[], Any]
_plain_types: Tuple[type, ...] = ()
_tensor_type: Any = None


def connect(torch: Any) -> None:
    """Chooses how this release of torch is read."""
    global read, untouched, _plain_types, _tensor_type
    _tensor_type = torch.Tensor
    _plain_types = (torch.Tensor, torch.nn.Parameter)
    untouched = torch._C.DisableTorchFunction
    if hasattr(torch._C, "_data_address") and hasattr(torch.Tensor, "untyped_storage"):
        read, way = _const_reader(torch._C._data_address), "const read"
    else:
        try:
            read, way = _raw_reader(torch), "raw layout"
        except LookupError:
            read, way = _read_writable, "data_ptr"
    native.coverage("python.storage", native.State.HOOKED, way)


def is_tensor(value: Any) -> bool:
    # Not isinstance: it reads value.__class__, which is user code in proxies and mocks.
    return issubclass(type(value), _tensor_type)


def parts(tensor: Any) -> Iterator[Tuple[str, Any]]:
    """The tensors that hold the bytes, each with a suffix for its name: the tensor itself, or the parts of a wrapper (DTensor, jagged, quantized,
    float8 ...). No part for fake tensors."""
    kind = type(tensor)
    if kind in _plain_types:
        yield "", tensor
        return
    fake = sys.modules.get("torch._subclasses.fake_tensor")
    if fake is not None and issubclass(kind, fake.FakeTensor):
        return
    flatten = getattr(kind, "__tensor_flatten__", None)
    if flatten is None:
        yield "", tensor
        return
    inner_tensors = [(name, inner) for name in flatten(tensor)[0] for inner in (getattr(tensor, name),) if is_tensor(inner)]  # DTensor: its mesh too
    for name, inner in inner_tensors:
        for suffix, part in parts(inner):
            yield ("." + name if len(inner_tensors) > 1 else "") + suffix, part


def places(tensor: Any) -> Iterator[Tuple[str, Any, int, int]]:
    """(name suffix, tensor, address, bytes) for each part that has memory. One odd tensor never hides the others."""
    try:
        found = list(parts(tensor))
    except Exception:
        return
    for suffix, part in found:
        try:
            address, size = read(part)
        except Exception:  # NotImplementedError: "Cannot access storage of SparseTensorImpl", TensorWrapper, BatchedTensorImpl, ...
            continue
        if address and size:
            yield suffix, part, address, size


def _const_reader(data_address: Callable[[Any], int]) -> Callable[[Any], Place]:
    def read_const(tensor: Any) -> Place:
        address = data_address(tensor)
        # The order matters: asking a meta tensor for its size may give a symbolic number, and reading that adds a guard.
        return (address, tensor.untyped_storage().nbytes()) if address else NOWHERE

    return read_const


def _read_writable(tensor: Any) -> Place:
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr(), storage.nbytes()


def _raw_reader(torch: Any) -> Callable[[Any], Place]:
    """Finds the layout of tensors in memory. Raises LookupError if it cannot be found."""
    # The probes use memory of Python objects, so that torch allocates nothing. There are two of different sizes: a stray value might fit one.
    buffers = [bytearray(2040), bytearray(4088)]
    probes = [torch.frombuffer(buffer, dtype=torch.uint8) for buffer in buffers]
    # We read through this file because a wrong guess may lead to any address: this way it is an error, not a crash.
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for storage_at in (0x10, 0x18):
            for data_at in (0x10, 0x18, 0x20):
                for size_at in range(data_at + 0x18, data_at + 0x30, 8):
                    if all(_lies_at(memory, probe, storage_at, data_at, size_at) for probe in probes):
                        return _raw_reader_at(storage_at, data_at, size_at)
    raise LookupError("the layout of TensorImpl is unknown")


def _lies_at(memory: Any, probe: Any, storage_at: int, data_at: int, size_at: int) -> bool:
    def word(address: int) -> int:
        return int.from_bytes(os.pread(memory.fileno(), 8, address), "little")

    try:
        storage = word(probe._cdata + storage_at)
        return (word(storage + data_at), word(storage + size_at)) == (probe.data_ptr(), probe.numel())
    except (OSError, OverflowError):
        return False


def _raw_reader_at(storage_at: int, data_at: int, size_at: int) -> Callable[[Any], Place]:
    word = ctypes.c_uint64.from_address

    def read_raw(tensor: Any) -> Place:
        storage = word(tensor._cdata + storage_at).value
        return (word(storage + data_at).value, word(storage + size_at).value) if storage else NOWHERE

    return read_raw
