# SPDX-License-Identifier: Apache-2.0
"""What the tests of the viewer share: how it is started without a display, what it is given to show, and how its pictures are read."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from typing import Any, Dict, List, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
VRAMSCOPE = os.environ["VRAMSCOPE_BIN"]
VIEW = os.environ["VRAMSCOPE_VIEWER"].split() if "VRAMSCOPE_VIEWER" in os.environ else [VRAMSCOPE, "view"]  # another build's, with sanitizers
RENDERER = os.environ.get("VRAMSCOPE_RENDERER", "software")
TRAINING = os.path.join(HERE, "..", "..", "trace_format", "testdata", "v1_training.vms")
MIB = 1 << 20



def view(*arguments: str, state: str = "/nonexistent", environment: Optional[Dict[str, str]] = None) -> subprocess.CompletedProcess:
    """`state`: where the viewer remembers things from one start to the next."""
    return subprocess.run([*VIEW, "--renderer", RENDERER, *arguments], capture_output=True, text=True, timeout=600,
                          env={**(os.environ if environment is None else environment), "XDG_STATE_HOME": state})


def picture(path: str) -> Tuple[int, int, bytes]:
    """Width, height and the filtered rows of a PNG."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    width, height = struct.unpack(">II", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    return width, height, zlib.decompress(packed)


def failed_run(source: str) -> Dict[str, Any]:
    """A snapshot of PyTorch: 20 MiB with 4 free in the middle, and a request for 6 that failed. All from line 7 of a file."""
    at = 0x7F0000000000
    frames = [{"name": "forward", "filename": source, "line": 7}, {"name": "main", "filename": "/nowhere/main.py", "line": 3}]

    def event(action: str, address: int, size: int, time: int, **more: int) -> Dict[str, Any]:
        return {"action": action, "addr": at + address * MIB, "size": size * MIB, "stream": 0, "time_us": time, "frames": frames, **more}

    events = [event("segment_alloc", 0, 20, 1), event("alloc", 0, 8, 2), event("alloc", 8, 4, 3), event("alloc", 12, 8, 4),
              event("free_requested", 8, 4, 5), event("free_completed", 8, 4, 6), event("oom", 0, 6, 7, device_free=1 * MIB)]
    blocks = [{"address": at + start * MIB, "size": size * MIB, "requested_size": size * MIB, "state": state, "frames": frames}
              for start, size, state in ((0, 8, "active_allocated"), (8, 4, "inactive"), (12, 8, "active_allocated"))]
    segment = {"device": 0, "address": at, "total_size": 20 * MIB, "allocated_size": 16 * MIB, "active_size": 16 * MIB, "stream": 0,
               "segment_type": "large", "segment_pool_id": [0, 0], "is_expandable": False, "frames": [], "blocks": blocks}
    return {"segments": [segment], "device_traces": [events], "allocator_settings": {}}


# A model of three layers, and a list that keeps 1 MiB of every step.
GROWING = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(3))
    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(9):
    torch.cuda.nvtx.range_push("one turn")
    x = torch.randn(512, 256).cuda()
    kept.append(torch.zeros(1 << 18, device="cuda"))
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    torch.cuda.nvtx.range_pop()
"""

# Appends the rest of a file as soon as its first part has been seen.
WRITER = """
import os, sys, time
seen, whole, growing = sys.argv[1:]
while not os.path.exists(seen):
    time.sleep(0.02)
with open(whole, "rb") as source, open(growing, "ab") as target:
    source.seek(target.tell())
    target.write(source.read())
"""


class ViewerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def run_script(self, lines: List[str], *arguments: str, environment: Optional[Dict[str, str]] = None) -> None:
        script = self.path("script.txt")
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        done = view("--script", script, *arguments, state=self.path("state"), environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def expect_nothing_cut(self, views: Dict[str, List[str]], *arguments: str, width: int = 390, environment: Optional[Dict[str, str]] = None) -> None:
        """In a window as narrow as a phone, each view shows its texts whole. `views`: what a script does in each view. Strips of tabs scroll."""
        for tab, lines in views.items():
            with self.subTest(tab):
                state = self.path("narrow.json")
                self.run_script(["click tab." + tab, "wait answered", *lines, "wait 3", "state " + state], "--size", f"{width}x844",
                                *arguments, environment=environment)
                with open(state, encoding="utf-8") as file:
                    cut = json.load(file)["cut"]
                self.assertEqual([name for name in cut if not re.search(r"/(tabs|files)_\w+$", name)], [])
