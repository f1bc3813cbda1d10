#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fragments the memory of a GPU until a request fails that would fit in one piece, and writes down PyTorch's own figures.

    program.py OUT SETTINGS...

OUT.pickle: the snapshot right after the failure. OUT.json: torch.cuda.memory_stats() then, how much empty_cache freed, and for each of the
SETTINGS how the same requests end if they are repeated with them, from an empty cache. OUT.last.pickle: the snapshot of one more failure,
with the last of the settings. In the end memory runs out and the program kills itself at once.
"""

import json
import os
import pickle
import signal
import sys
from typing import Any, Dict, List

import torch
from torch import Tensor

MIB = 1 << 20


def take(size: int) -> Tensor:
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def fill() -> List[Tensor]:
    taken: List[Tensor] = []
    try:
        while True:
            taken.append(take(400 * MIB))
    except torch.cuda.OutOfMemoryError:
        return taken


def two_streams() -> List[Tensor]:
    """Blocks of a second stream, and one that was used there when it was freed."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        ours = [take(3 * MIB), take(MIB // 4), take(30 * MIB)]
    crossing = take(7 * MIB)
    crossing.record_stream(side)
    del crossing, ours[0]
    return ours


def fragment() -> List[Tensor]:
    """The last request fails, with enough memory free; then some more becomes free."""
    kept = [take(11 * MIB // 2), take(MIB // 3), take(49 * MIB // 4), *two_streams()]
    del kept[0]
    kept += [take(6 * MIB // 5), take(23 * MIB // 2)]
    filling = fill()
    del filling[::2]
    while len(kept) < 20:
        kept.append(take(250 * MIB))  # in the front of a free segment of 400 MiB: the rest stays free
    needed = torch.cuda.memory_reserved() - torch.cuda.memory_allocated() - 400 * MIB
    try:
        kept.append(take(needed))
    except torch.cuda.OutOfMemoryError:
        del kept[-3:]
    return kept


def end_under(events: List[Dict[str, Any]], settings: str) -> str:
    """Repeats the recorded requests with these settings: "fits", "fails", or "fails_before"."""
    torch.cuda.memory._set_allocator_settings(settings)
    live: Dict[int, Tensor] = {}
    streams = {event["stream"]: torch.cuda.Stream() for event in events if event["stream"] != 0}
    last = max(i for i, event in enumerate(events) if event["action"] == "oom")
    try:
        for event in events[:last]:
            if event["action"] == "alloc":
                with torch.cuda.stream(streams.get(event["stream"])):
                    live[event["addr"]] = take(event["size"])
            elif event["action"] == "free_completed":
                del live[event["addr"]]
    except torch.cuda.OutOfMemoryError:
        return "fails_before"
    try:
        take(events[last]["size"])
        return "fits"
    except torch.cuda.OutOfMemoryError:
        return "fails"


def observed(path: str) -> Dict[str, Any]:
    """What PyTorch counts in a fragmented state, and how much it frees then."""
    torch.cuda.memory._record_memory_history(max_entries=1_000_000)
    kept = fragment()
    torch.cuda.memory._dump_snapshot(path)
    torch.cuda.memory._record_memory_history(enabled=None)
    facts: Dict[str, Any] = {"stats": dict(torch.cuda.memory_stats())}
    torch.cuda.empty_cache()
    facts["released"] = facts["stats"]["reserved_bytes.all.current"] - torch.cuda.memory_reserved()
    del kept
    torch.cuda.empty_cache()
    return facts


def main(out: str, all_settings: List[str]) -> None:
    facts = {"default": observed(out + ".pickle"), "ends": {}}
    with open(out + ".pickle", "rb") as file:
        events = pickle.load(file)["device_traces"][0]
    for settings in all_settings:
        facts["ends"][settings] = end_under(events, settings)
        torch.cuda.empty_cache()
    facts["last"] = observed(out + ".last.pickle")
    with open(out + ".json", "w", encoding="utf-8") as file:
        json.dump(facts, file)
    try:
        kept = [take(400 * MIB), take(64 << 30)]
        del kept
    except torch.cuda.OutOfMemoryError:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
