# SPDX-License-Identifier: Apache-2.0
"""Runs every view of PyTorch's own torch.cuda._memory_viz on snapshots; prints the results of each file as a dict.

The flame graphs are made without the Perl script that PyTorch downloads: their lines are what is compared.
"""
import hashlib
import pickle
import sys
from typing import List

from torch.cuda import _memory_viz as viz

PATHS = sys.argv[1:]


def lines(text: str, *_: object) -> str:
    return text


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def snapshots() -> List[dict]:
    loaded = []
    for path in PATHS:
        with open(path, "rb") as file:
            loaded.append(pickle.load(file))
    return loaded


ALL = snapshots()
for snapshot in ALL:
    trace_page, segment_page = viz.trace_plot(snapshot), viz.segment_plot(snapshot)
    assert "<html" in trace_page.lower() or "<script" in trace_page.lower()
    view = {
        "active": sum(s["active_size"] for s in snapshot["segments"]),
        "segments": sorted((s["address"], s["total_size"]) for s in snapshot["segments"]),
        "flame": digest(viz.segments(snapshot, format_flamegraph=lines)),
        "memory": digest(viz.memory(snapshot, format_flamegraph=lines)),
        "compared": digest(viz.compare(ALL[0]["segments"], snapshot["segments"], format_flamegraph=lines)),
        "summary": digest(viz.segsum(snapshot)),
        "history": digest(viz.trace(snapshot)),
        "pages": (len(trace_page) > 1000, len(segment_page) > 1000),
    }
    print(view)
