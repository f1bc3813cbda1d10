# SPDX-License-Identifier: Apache-2.0
"""Programs that share a GPU between processes, each of which writes what it found as JSON: sharing.py PROGRAM [ARGUMENT]"""
import json
import sys
from typing import Any, Dict

GIB = 1 << 30


def take(gibibytes: str) -> None:
    """For each line of standard input, tries to allocate so much. Prints whether it could, and how much all processes have."""
    import torch

    free, total = torch.cuda.mem_get_info()
    print(json.dumps({"free": free, "total": total}), flush=True)
    for _ in sys.stdin:
        try:
            block = torch.empty(int(gibibytes) * GIB, dtype=torch.uint8, device="cuda")
            facts: Dict[str, Any] = {"took": block.numel()}
        except torch.cuda.OutOfMemoryError as error:
            facts = {"took": 0, "message": str(error)}
        free, total = torch.cuda.mem_get_info()
        print(json.dumps({**facts, "free": free, "total": total}), flush=True)


def consume(queue: Any, answers: Any) -> None:
    """Reports what a process sees of the tensors that it receives."""
    import torch

    while True:
        kind, tensor = queue.get()
        if kind == "end":
            return
        own = torch.cuda.memory_reserved()
        found = {"device": str(tensor.device), "values": tensor.flatten()[:3].tolist(), "shape": list(tensor.shape), "reserved": own}
        if kind == "write":
            tensor.copy_(torch.full_like(tensor, 5.0, device="cpu"))
        torch.cuda.synchronize()
        del tensor
        answers.put(found)


def queues() -> None:
    """Sends tensors to another process through a queue of torch.multiprocessing."""
    import torch
    import torch.multiprocessing as mp

    context = mp.get_context("spawn")
    queue, answers = context.Queue(), context.Queue()
    child = context.Process(target=consume, args=(queue, answers))
    child.start()
    small = torch.tensor([1.0, 2.0, 3.0]).cuda()
    large = torch.empty(4 * GIB, dtype=torch.uint8, device="cuda").view(4, GIB)
    parameter = torch.nn.Parameter(torch.tensor([[9.0]]).cuda()).share_memory_()
    found = []
    for kind, tensor in (("read", small), ("read", large), ("read", parameter), ("write", small)):
        queue.put((kind, tensor))
        found.append(answers.get(timeout=600))
    free, total = torch.cuda.mem_get_info()
    written = small.tolist()
    queue.put(("end", None))
    child.join(60)
    print(json.dumps({"found": found, "written": written, "used": total - free, "exit": child.exitcode,
                      "reserved": torch.cuda.memory_reserved()}))


def parent_and_child() -> None:
    """2 GiB in this process, 3 GiB in a child while they are there, then 4 GiB in this one alone."""
    import subprocess

    import torch

    block = torch.empty(2 * GIB, dtype=torch.uint8, device="cuda")
    subprocess.run([sys.executable, "-c", "import torch; torch.empty(3 << 30, dtype=torch.uint8, device='cuda')"], check=True)
    more = torch.empty(2 * GIB, dtype=torch.uint8, device="cuda")
    del block, more


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
