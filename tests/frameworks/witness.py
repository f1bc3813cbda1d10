# SPDX-License-Identifier: Apache-2.0
"""What a training program knows about its own memory: parameters, gradients, optimizer state and communication buffers, as PyTorch and the
framework themselves report them, never the recorder.

Bytes are those of blocks: on a GPU a storage lies in a block of the caching allocator, which torch.cuda.memory_snapshot() lists.

With VRAMSCOPE_POINTS set, each point is appended to that file (one for each rank) with its time. modes.py then asks for a report of that time.
"""
import json
import os
import time
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
RANK = int(os.environ.get("RANK", os.environ.get("LOCAL_RANK", 0)))

Blocks = Dict[int, int]  # address -> bytes


def tensors_in(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors in nested containers, as optimizer states are."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 8 and hasattr(value, "values") and callable(value.values):
        for item in list(value.values()):
            yield from tensors_in(item, depth + 1)
    elif depth < 8 and isinstance(value, (list, tuple, set)):
        for item in value:
            yield from tensors_in(item, depth + 1)


def plain(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensors that hold the bytes of a wrapper (DTensor, quantized ...)."""
    flatten = getattr(type(tensor), "__tensor_flatten__", None)
    if flatten is None or type(tensor) in (torch.Tensor, torch.nn.Parameter):
        yield tensor
        return
    for name in flatten(tensor)[0]:
        inner = getattr(tensor, name)
        if isinstance(inner, torch.Tensor):  # a DTensor also names its mesh
            yield from plain(inner)


def blocks_of_gpu() -> Dict[int, int]:
    """Address -> bytes of all blocks that the caching allocator has handed out on the current device."""
    blocks = {}
    for segment in torch.cuda.memory_snapshot():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"].startswith("active"):
                blocks[address] = block["size"]
            address += block["size"]
    return blocks


def mapped_files() -> List[Tuple[int, int]]:
    """[begin, end) of the files that this process maps. safetensors leaves CPU weights there, so they are never allocated."""
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    ranges = [line[0].split("-") for line in lines if len(line) > 5 and line[5].startswith("/")]
    return [(int(begin, 16), int(end, 16)) for begin, end in ranges]


def blocks_under(tensors: Iterable[Optional[torch.Tensor]]) -> Blocks:
    """The blocks on DEVICE in which these tensors lie."""
    known = blocks_of_gpu() if DEVICE == "cuda" else {}
    mapped = mapped_files() if DEVICE == "cpu" else []
    found: Blocks = {}
    for tensor in tensors:
        if tensor is None:
            continue
        for part in plain(tensor):
            if part.device.type != DEVICE:
                continue
            storage = part.untyped_storage()
            if any(begin <= storage.data_ptr() < end for begin, end in mapped):
                continue
            if storage.data_ptr() and storage.nbytes():
                found[storage.data_ptr()] = known.get(storage.data_ptr(), storage.nbytes())
    return found


def rounded(size: int) -> int:
    """The size of the allocator's block for a request of `size` bytes."""
    return (size + 511) // 512 * 512 if DEVICE == "cuda" else size


def state_of(optimizer: Any) -> Iterator[torch.Tensor]:
    return tensors_in(dict(optimizer.state))


class Witness:
    """Call point() once in each step, when the optimizer has stepped and gradients are still there."""

    def __init__(self) -> None:
        self.steps = 0
        self.totals: Dict[str, int] = {}

    def point(self, model: torch.nn.Module, state: Iterable[torch.Tensor], gradients: Optional[Iterable[Optional[torch.Tensor]]] = None,
              communication: Optional[Iterable[Any]] = None, parameters: Optional[Iterable[torch.Tensor]] = None) -> None:
        """communication: tensors, or the bytes of tensors that Python does not see."""
        before = time.monotonic_ns()
        parameters = list(model.parameters() if parameters is None else parameters)
        roles = {
            "parameter": parameters,
            "buffer": list(model.buffers()),
            "optimizer_state": list(state),
            "gradient": [parameter.grad for parameter in parameters] if gradients is None else list(gradients),
        }
        communication = None if communication is None else list(communication)
        if communication is not None:
            roles["communication"] = [each for each in communication if not isinstance(each, int)]
        self.totals, taken = {}, set()
        for role, tensors in roles.items():
            blocks = blocks_under(tensors)
            self.totals[role] = sum(size for address, size in blocks.items() if address not in taken)
            taken |= blocks.keys()
        if communication is not None:
            self.totals["communication"] += sum(rounded(each) for each in communication if isinstance(each, int))
        self.steps += 1
        del roles, parameters
        if os.environ.get("VRAMSCOPE_POINTS"):
            device = f"cuda:{torch.cuda.current_device()}" if DEVICE == "cuda" else "cpu"
            facts = {"before_ns": before, "after_ns": time.monotonic_ns(), "pid": os.getpid(), "device": device, "bytes": self.totals}
            with open(f"{os.environ['VRAMSCOPE_POINTS']}.{RANK}", "a") as file:
                file.write(json.dumps(facts) + "\n")

    def tell(self, **facts: Any) -> None:
        """Prints the last line of a program: what must be equal in a run with the recorder and one without it."""
        if RANK == 0:
            print(json.dumps({"steps": self.steps, **self.totals, **facts}), flush=True)
