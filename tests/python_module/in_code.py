# SPDX-License-Identifier: Apache-2.0
"""Records itself in several ways, and prints what recording_test.py checks, as one JSON document. Usage: in_code.py PACKAGE FOLDER"""
import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, sys.argv[1])
import vramscope  # noqa: E402

FOLDER = Path(sys.argv[2])
found = {}


def train(steps: int) -> "list[float]":
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(steps):
        loss = model(torch.randn(32, 64)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def refusal(action: "object") -> str:
    try:
        action()  # type: ignore[operator]
    except vramscope.Error as error:
        return str(error)
    return ""


class Shell:
    """The part of IPython that the magics need."""

    def __init__(self) -> None:
        self.magics = {}

    def register_magic_function(self, function: "object", kind: str, name: str) -> None:
        self.magics[kind, name] = function

    def run_cell(self, cell: str) -> "object":
        class Result:
            error_before_exec = error_in_exec = None

        try:
            exec(cell, globals())
        except Exception as error:
            Result.error_in_exec = error
        return Result


vramscope.mark("nobody records this")
alone = train(4)
threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))

with vramscope.record(FOLDER / "block.vms", device="cpu") as recording:
    vramscope.mark("epoch 3")
    found["second start"] = refusal(lambda: vramscope.start(FOLDER / "second.vms"))
    os.kill(os.getppid(), 0)
    block = train(4)
found["same losses"] = block == alone
found["summary"] = recording.summary
found["block"] = recording.path
found["same descriptors"] = (threading.active_count(), len(os.listdir("/proc/self/fd")) - descriptors) == (threads, 1)  # the door of dormant.h

unrecorded = train(1)


@vramscope.record(FOLDER / "decorated.vms", device="cpu", stacks="python")
def decorated() -> "list[float]":
    return train(5)


found["decorated"] = decorated()[:4] == alone
found["stop without start"] = refusal(vramscope.stop)
found["bad option"] = refusal(lambda: vramscope.start(FOLDER / "bad.vms", device="tpu"))
found["bad place"] = refusal(lambda: vramscope.start(FOLDER / "missing" / "run.vms", device="cpu"))

started = vramscope.start(FOLDER / "killed.vms", device="cpu")
started._collector.send_signal(signal.SIGKILL)  # the collector dies: training goes on, and stop() says so
while started.active:
    time.sleep(0.01)
found["after kill"] = train(4) == alone
found["stop after kill"] = refusal(vramscope.stop)



@vramscope.record(FOLDER / "coroutine.vms", device="cpu")
async def coroutine() -> "list[float]":
    await asyncio.sleep(0)
    return train(4)


found["coroutine"] = asyncio.run(coroutine()) == alone

with vramscope.record(FOLDER / "first.vms", device="cpu"):  # the block ends this recording and begins another one, which outlives the block
    vramscope.stop()
    second = vramscope.start(FOLDER / "second_in_block.vms", device="cpu")
found["second in block"] = second.active
vramscope.stop()

other = threading.Thread(target=lambda: found.update({"other thread": vramscope.record(FOLDER / "thread.vms", device="cpu")(train)(4) == alone}))
other.start()
while other.is_alive():  # the main thread lets the recorder in
    time.sleep(0.01)

with vramscope.record(FOLDER / "box.vms", device="cpu", black_box=2) as box:
    train(5)
    subprocess.run([vramscope.installation.command(), "dump", str(os.getpid())], stdout=subprocess.PIPE, check=True)
found["box"] = [box.paths, len(box.run.steps)]
with vramscope.record(FOLDER / "empty_box.vms", device="cpu", black_box=2) as empty_box:
    train(1)
found["empty box"] = [empty_box.paths, refusal(lambda: empty_box.run)]

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        with vramscope.record(FOLDER / "raises.vms", device="cpu"):
            train(1)
            raise KeyError("the user's own")
    except KeyError:
        found["user's exception"] = [str(warning.message) for warning in caught]

shell = Shell()
vramscope.load_ipython_extension(shell)
page = shell.magics["cell", "vramscope"](f"{FOLDER / 'cell.vms'} --device cpu", "train(2)")
found["cell"] = [page.path, len(page.steps)]
failed = shell.magics["cell", "vramscope"]("--device cpu", "train(1)\nraise ValueError")
found["failed cell"] = failed.peak.allocated_bytes > 0
shell.magics["line", "vramscope"](f"report {FOLDER / 'cell.vms'} --top 1")
print("found " + json.dumps(found))
