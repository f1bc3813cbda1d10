# SPDX-License-Identifier: Apache-2.0
"""Small programs for the simulated device; each writes what PyTorch and the device's ledger report about it.

    programs.py NAME OUTPUT [ARGUMENT...]
"""
import ctypes
import json
import os
import sys
from typing import Any, Callable, Dict

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

MIB = 1 << 20
PROGRAMS: Dict[str, Callable[..., Dict[str, Any]]] = {}


def program(function: Callable[..., Dict[str, Any]]) -> Callable[..., Dict[str, Any]]:
    PROGRAMS[function.__name__] = function
    return function


def ledger() -> Dict[str, Any]:
    driver = ctypes.CDLL("libcuda.so.1")
    ask = driver.vramscope_simulated_ledger
    ask.restype = ctypes.c_size_t
    ask.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    text = ctypes.create_string_buffer(ask(None, 0) + 4096)
    ask(text, len(text))
    return json.loads(text.value)


class Attention(nn.Module):
    def __init__(self, dim: int, recompute: bool = False) -> None:
        super().__init__()
        self.recompute = recompute
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def inner(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 4, dim // 4).permute(2, 0, 3, 1, 4)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, dim))

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.inner, x, use_reentrant=False) if self.recompute else self.inner(x)


def gpt(recompute: bool = False) -> nn.Module:
    return nn.Sequential(nn.Embedding(97, 128), Attention(128, recompute), Attention(128, recompute), nn.Linear(128, 97)).cuda()


def conv() -> nn.Module:
    layers = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, groups=2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()


def train(model: nn.Module, batch: Callable[[], Tensor], steps: int = 3, amp: Any = None, fused: bool = False) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), fused=fused)
    scaler = torch.amp.GradScaler("cuda", enabled=amp == torch.float16)
    for _ in range(steps):
        with torch.autocast("cuda", dtype=amp, enabled=amp is not None):
            loss = model(batch()).float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        loss.item()


def tokens() -> Tensor:
    return torch.randint(0, 97, (8, 64)).cuda()


def images() -> Tensor:
    return torch.randn(8, 3, 32, 32).cuda()


@program
def training() -> Dict[str, Any]:
    train(gpt(), tokens)
    train(gpt(recompute=True), tokens, amp=torch.bfloat16)
    train(gpt(), tokens, amp=torch.float16, fused=True)
    train(conv(), images)
    train(conv().to(memory_format=torch.channels_last), images, amp=torch.float16)
    torch.backends.cudnn.benchmark = True
    train(conv(), images)
    for cell in (nn.LSTM, nn.GRU, nn.RNN):
        rnn = cell(16, 32, 2, bidirectional=True).cuda()
        rnn(torch.randn(5, 4, 16).cuda())[0].sum().backward()
    return {"peak": torch.cuda.max_memory_allocated()}


@program
def graphs_and_streams() -> Dict[str, Any]:
    model = nn.Linear(64, 64).cuda()
    x = torch.randn(8, 64).cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x).sum().backward()
    graph.replay()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    x.add_(1)
    end.record()
    end.synchronize()
    pools = {tuple(segment["segment_pool_id"]) for segment in torch.cuda.memory._snapshot()["segments"]}
    return {"milliseconds": start.elapsed_time(end), "pools": len(pools)}


@program
def side_stream(lag: str) -> Dict[str, Any]:
    """Blocks that another stream has used: how much is reserved depends on how far the host is ahead."""
    side = torch.cuda.Stream()
    for _ in range(20):
        block = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
        with torch.cuda.stream(side):
            block.add_(1)
        block.record_stream(side)
        del block
    return {"reserved": torch.cuda.memory_reserved(), "lag": lag}


@program
def segments() -> Dict[str, Any]:
    train(gpt(), tokens)
    free, total = torch.cuda.mem_get_info()
    return {"reserved": torch.cuda.memory_reserved(), "used": total - free}


@program
def read_back() -> Dict[str, Any]:
    x = torch.tensor([3, 1, 2]).cuda()
    big = torch.full((1 << 20,), 7, dtype=torch.uint8).cuda()
    del big
    reused = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    rows = [torch.nonzero(torch.randn(1000).cuda()).shape[0], torch.randn(1000).cuda().unique().numel()]
    torch.linalg.svd(torch.randn(8, 8).cuda())
    return {"uploaded": x.tolist(), "computed": (x + 1).tolist(), "reused": int(reused.cpu().sum()), "rows": rows}


@program
def out_of_memory() -> Dict[str, Any]:
    try:
        torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError as error:
        return {"message": str(error), "left": torch.cuda.memory_allocated(), "retries": torch.cuda.memory_stats()["num_ooms"]}
    return {"message": ""}


def lstm() -> nn.Module:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells, self.out = nn.LSTM(96, 256, 2, batch_first=True), nn.Linear(256, 10)

        def forward(self, x: Tensor) -> Tensor:
            return self.out(self.cells(x.flatten(1, 2))[0][:, -1])

    return Last().cuda()


MODELS: Dict[str, Callable[[], Any]] = {
    "gpt": lambda: train(gpt(), tokens),
    "gpt_recomputing": lambda: train(gpt(recompute=True), tokens, amp=torch.bfloat16),
    "conv": lambda: train(conv(), lambda: torch.randn(32, 3, 64, 64).cuda()),
    "lstm": lambda: train(lstm(), lambda: torch.randn(16, 3, 32, 96).cuda()),
    "mlp": lambda: train(nn.Sequential(*[nn.Linear(700, 700) for _ in range(5)]).cuda(), lambda: torch.randn(999, 700).cuda(), amp=torch.float16),
}


def in_a_process_with(capacity: int, model: str) -> Dict[str, Any]:
    """Trains the model in a child that has a GPU of that size. Cheap: PyTorch is imported already, and this process has no GPU yet."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.environ["VRAMSCOPE_SIMULATED_CAPACITY"] = str(capacity)
        facts = {"fits": True}
        try:
            MODELS[model]()
        except torch.OutOfMemoryError:
            facts["fits"] = False
        facts.update(allocated=torch.cuda.max_memory_allocated(), taken=ledger()["devices"][0]["peak_bytes"])
        os.write(writer, json.dumps(facts).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        facts = json.loads(answer.read())
    os.waitpid(child, 0)
    return facts


@program
def limits(*models: str) -> Dict[str, Any]:
    return {model: limit(model) for model in models or MODELS}


def limit(model: str) -> Dict[str, Any]:
    """The least capacity, in MiB, with which the model trains, found by bisection, and whether it trains with one MiB less and more."""
    free = in_a_process_with(64 << 30, model)
    # With as much as it took, it behaves the same. With less, PyTorch first frees its cache; it needs at least what is allocated.
    fits, fails = free["taken"] // MIB, free["allocated"] // MIB - 1
    under_all = in_a_process_with(fails * MIB, model)["fits"]
    while fits - fails > 1:
        middle = (fits + fails) // 2
        if in_a_process_with(middle * MIB, model)["fits"]:
            fits = middle
        else:
            fails = middle
    return {
        "least": fits, "taken": free["taken"] // MIB, "under_all": under_all,
        "below": in_a_process_with((fits - 1) * MIB, model)["fits"], "above": in_a_process_with((fits + 1) * MIB, model)["fits"],
    }


def beside() -> Dict[str, int]:
    """What the device holds in addition to PyTorch's memory, by call."""
    found: Dict[str, int] = {}
    for row in ledger()["devices"][0]["rows"]:
        if row["basis"] != "exact":
            found[row["call"]] = found.get(row["call"], 0) + row["live_bytes"]
    return found


@program
def growth() -> Dict[str, Any]:
    """The results of beside(): at first, after a kernel, after a product, after limits were set, after a module was loaded."""
    torch.cuda.init()
    x = torch.empty(64, 64, device="cuda")
    rows = [beside()]
    x.add_(1)
    rows.append(beside())
    x @ x
    rows.append(beside())
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuCtxSetLimit(0, ctypes.c_size_t(4096))
    driver.cuCtxSetLimit(2, ctypes.c_size_t(64 * MIB))
    refused = driver.cuCtxSetLimit(1, ctypes.c_size_t(2 * MIB))
    stack = ctypes.c_size_t()
    driver.cuCtxGetLimit(ctypes.byref(stack), 0)
    rows.append(beside())
    module = ctypes.c_void_p()
    driver.cuModuleLoadData(ctypes.byref(module), b".version 8.7\n.target sm_90a\n" + b"x" * (10 * MIB))  # PTX
    rows.append(beside())
    return {"rows": rows, "stack": stack.value, "printf_after_a_kernel": refused}


@program
def one_rank(world: str) -> Dict[str, Any]:
    import torch.distributed as dist

    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=int(world))
    model = nn.parallel.DistributedDataParallel(nn.Linear(512, 512).cuda())
    train(model, lambda: torch.randn(8, 512).cuda())
    dist.destroy_process_group()
    return {"peak": torch.cuda.max_memory_allocated()}


@program
def two_devices() -> Dict[str, Any]:
    x = torch.arange(4, device="cuda:0", dtype=torch.float32)
    y = torch.tensor([1.0, 2.0]).to("cuda:1")
    moved = y.to("cuda:0")
    return {"count": torch.cuda.device_count(), "moved": moved.tolist(), "device": str(moved.device), "x": str(x.device)}


if __name__ == "__main__":
    facts = PROGRAMS[sys.argv[1]](*sys.argv[3:])
    facts["ledger"] = ledger()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(facts, file)
