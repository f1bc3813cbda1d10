# SPDX-License-Identifier: Apache-2.0
"""Runs the bridge on the stub host (stub_host.cc) and returns its events to Python.

VRAMSCOPE_TEST_BRIDGE names the compiled bridge, VRAMSCOPE_TEST_STUB the stub host; preload the stub to see
allocations too.
"""

import ctypes
import importlib.util
import os
from contextlib import contextmanager
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

ALLOC, FREE, OP_BEGIN, OP_END, OP_TENSOR, OP_SCALAR, NODE_EDGE, NODE_BEGIN, NODE_END = 1, 2, 10, 11, 12, 13, 15, 16, 17
IS_OUTPUT, REQUIRES_GRAD, IS_VIEW, IS_LEAF = 1, 2, 4, 8
NO_SEQUENCE = 2**64 - 1


class _Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("thread", ctypes.c_uint32), ("time_ns", ctypes.c_uint64), ("field", ctypes.c_uint64 * 8)]


class Operand(NamedTuple):
    argument: int
    element: Optional[int]  # index in a list of tensors
    tensor: int
    storage: int
    offset: int
    shape: Optional[Tuple[int, ...]]
    strides: Optional[Tuple[int, ...]]
    dtype: int
    flags: int


class Op:
    """An operator call with what happened inside it."""

    def __init__(self, name: str, sequence: int, forward_thread: int, scope: int, stack: List[str], depth: int, thread: int) -> None:
        self.name, self.sequence, self.forward_thread, self.scope = name, sequence, forward_thread, scope
        self.stack, self.depth, self.thread = stack, depth, thread
        self.inputs: List[Operand] = []
        self.outputs: List[Operand] = []
        self.scalars: Dict[int, str] = {}
        self.allocations: List[int] = []  # bytes, those of inner ops not included
        self.children: List[str] = []
        self.ended = False

    def __repr__(self) -> str:
        return f"{self.name}({[list(o.shape or ()) for o in self.inputs]}, {self.scalars})"


class Node:
    """One run of an autograd node."""

    def __init__(self, address: int, name: str, sequence: int) -> None:
        self.address, self.name, self.sequence = address, name, sequence
        self.edges: List[Tuple[int, int, int]] = []  # next, input, tensor
        self.ended = False


class Recording:
    """What was recorded between two moments."""

    def __init__(self) -> None:
        self.ops: List[Op] = []
        self.nodes: List[Node] = []
        self.memory: List[Tuple[str, int]] = []  # ("+", bytes) or ("-", number of the allocation; -1 = made before)
        self.records = 0

    def op(self, name: str, index: int = 0) -> Op:
        return [op for op in self.ops if op.name == name][index]

    def names(self) -> List[str]:
        return [op.name for op in self.ops]


def torch_bytes() -> int:
    """The size of the libtorch_cpu.so of this Python, without importing torch."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    return os.path.getsize(os.path.join(os.path.dirname(spec.origin), "lib", "libtorch_cpu.so"))


class Bridge:
    def __init__(self, stacks: str = "none", expected_bytes: Optional[int] = None) -> None:
        self.stub = ctypes.CDLL(os.environ["VRAMSCOPE_TEST_STUB"])
        self.stub.stub_host.restype = ctypes.c_void_p
        self.stub.stub_events.restype = ctypes.POINTER(_Event)
        self.stub.stub_count.restype = ctypes.c_size_t
        self.stub.stub_string.restype = ctypes.c_char_p
        self.stub.stub_stack.restype = ctypes.c_size_t
        self.stub.stub_option(b"stacks", stacks.encode())
        self.stub.stub_option(b"bridge_torch_bytes", str(torch_bytes() if expected_bytes is None else expected_bytes).encode())
        self.library = ctypes.CDLL(os.environ["VRAMSCOPE_TEST_BRIDGE"])
        self.library.vramscope_bridge_start.argtypes = [ctypes.c_void_p]
        if self.library.vramscope_bridge_start(self.stub.stub_host()) != 0:
            raise RuntimeError("the bridge does not fit this torch")

    @contextmanager
    def recording(self, ops: bool = True, read: bool = True) -> Iterator[Recording]:
        """Records allocations, and with `ops` the deep facts; the yielded object is filled at the end, unless `read` is False."""
        result = Recording()
        self.stub.stub_reset()
        self.stub.stub_memory(1)
        if ops:
            self.library.vramscope_bridge_enable(1)
        try:
            yield result
        finally:
            self.library.vramscope_bridge_enable(0)
            self.stub.stub_memory(0)
            if read:
                self._read(result)

    def count(self) -> int:
        return int(self.stub.stub_count())

    def _text(self, identity: int) -> str:
        return self.stub.stub_string(ctypes.c_uint32(identity)).decode()

    def _numbers(self, identity: int) -> Optional[Tuple[int, ...]]:
        text = self._text(identity)
        if identity == 0:
            return None
        return tuple(int(number) for number in text.split(",")) if text else ()

    def _stack(self, identity: int) -> List[str]:
        frames = ctypes.POINTER(ctypes.c_uint32)()
        count = self.stub.stub_stack(ctypes.c_uint32(identity), ctypes.byref(frames))
        return [self._text(frames[i]) for i in range(count)]

    def _operand(self, field: List[int]) -> Operand:
        element = field[1] >> 16
        return Operand(field[1] & 0xFFFF, element - 1 if element else None, field[2], field[3], field[4], self._numbers(field[5]),
                       self._numbers(field[6]), field[7], field[0])

    def _read(self, result: Recording) -> None:
        events = self.stub.stub_events()
        result.records = self.count()
        open_ops: Dict[int, List[Op]] = {}
        open_nodes: Dict[int, List[Node]] = {}
        blocks: Dict[int, int] = {}  # address -> number of its latest allocation
        allocations = 0
        for i in range(result.records):
            kind, thread, field = events[i].type, events[i].thread, list(events[i].field)
            ops = open_ops.setdefault(thread, [])
            nodes = open_nodes.setdefault(thread, [])
            if kind == ALLOC:
                blocks[field[0]] = allocations
                allocations += 1
                result.memory.append(("+", field[1]))
                if ops:
                    ops[-1].allocations.append(field[1])
            elif kind == FREE:
                result.memory.append(("-", blocks.pop(field[0], -1)))
            elif kind == OP_BEGIN:
                op = Op(self._text(field[0]), field[1], field[2], field[3], self._stack(field[4]), len(ops), thread)
                if ops:
                    ops[-1].children.append(op.name)
                result.ops.append(op)
                ops.append(op)
            elif kind == OP_END:
                ops.pop().ended = True
            elif kind == OP_TENSOR:
                (ops[-1].outputs if field[0] & IS_OUTPUT else ops[-1].inputs).append(self._operand(field))
            elif kind == OP_SCALAR:
                ops[-1].scalars[field[0]] = self._text(field[1])
            elif kind == NODE_BEGIN:
                nodes.append(Node(field[0], self._text(field[1]), field[2]))
                result.nodes.append(nodes[-1])
            elif kind == NODE_EDGE:
                nodes[-1].edges.append((field[1], field[2], field[3]))
            elif kind == NODE_END:
                nodes.pop().ended = True
