# SPDX-License-Identifier: Apache-2.0
"""Shared by the scripts in this folder: the injector's functions, and facts for the test on standard output.

A fact is a line "name number number ...". Without the injector the scripts still run; a mark then does
nothing.
"""

import ctypes
import sys
from typing import Any, Iterable, List, Tuple

_process = ctypes.CDLL(None)
recorded = hasattr(_process, "vramscope_mark")
USER_MARK = 9


def mark(value: int) -> None:
    if recorded:
        _process.vramscope_mark(USER_MARK, ctypes.c_uint64(value), 0, ctypes.c_uint64(0))


def torch_ready() -> int:
    return _process.vramscope_torch_ready(b"", b"") if recorded else 0


def step_done(done: int) -> int:
    return _process.vramscope_step_done(ctypes.c_uint64(done)) if recorded else 0


def fact(name: str, *numbers: int) -> None:
    print(name, *numbers)
    sys.stdout.flush()


def storage(tensor: Any) -> Tuple[int, int]:
    """(address, bytes) of the storage."""
    whole = tensor.untyped_storage()
    return whole.data_ptr(), whole.nbytes()


def graph_nodes(root: Any) -> List[Any]:
    nodes, waiting, met = [], [root.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        nodes.append(node)
        waiting.extend(following for following, _ in node.next_functions)
    return nodes


def saved_tensors(root: Any) -> Iterable[Any]:
    """Every tensor slot that the graph below `root` keeps for backward."""
    import torch

    for node in graph_nodes(root):
        for name in dir(node):
            if not name.startswith("_saved_"):
                continue
            value = getattr(node, name)
            for tensor in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(tensor, torch.Tensor):
                    yield tensor
