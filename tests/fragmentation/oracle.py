# SPDX-License-Identifier: Apache-2.0
"""Decomposes a snapshot's memory from nothing but the pickle, in the slow and obvious way.

Shares nothing with the code under test: no links, no sums kept up to date, no checkpoints. The first moment is the end with all events
undone, one by one. From there the events are applied again to plain lists, and the causes are counted block by block.
"""

import pickle
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

MIB = 1 << 20


class Plain(pickle.Unpickler):
    """Reads plain data only, because the files are foreign."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"names {module}.{name}")


def load(path: str) -> Dict[str, Any]:
    with open(path, "rb") as file:
        data: Dict[str, Any] = Plain(file).load()
        return data


class Segment(NamedTuple):
    begin: int
    end: int
    stream: int
    pool: Tuple[int, ...]
    small: bool
    expandable: bool


class Block(NamedTuple):
    size: int  # 0 = not known yet
    requested: int
    pending: bool


def up(number: int, to: int) -> int:
    return -(-number // to) * to


def rounded(size: int) -> int:
    """The size of the block for a request. Ignores roundup_power2_divisions: no shared snapshot was recorded with it."""
    return max(512, up(size, 512))


class Memory:
    """Segments and their blocks, moved from one moment to a later one."""

    def __init__(self, snapshot: Dict[str, Any], device: int = 0) -> None:
        traces = snapshot.get("device_traces") or []
        self.events: List[Dict[str, Any]] = traces[device] if device < len(traces) else []
        self.segments: Dict[int, Segment] = {}
        self.blocks: Dict[int, Block] = {}
        self.read_end([entry for entry in snapshot["segments"] if entry["device"] == device])
        for event in reversed(self.events):
            self.undo(event)
        self.at = 0
        self.find_sizes()

    def read_end(self, entries: List[Dict[str, Any]]) -> None:
        for entry in entries:
            at = begin = entry["address"]
            pool = tuple(entry.get("segment_pool_id") or (0, 0))
            self.segments[begin] = Segment(begin, begin + entry["total_size"], entry["stream"], pool, entry["segment_type"] == "small",
                                           bool(entry.get("is_expandable")))
            for block in entry["blocks"]:
                begin = block.get("address", at)
                at = begin + block["size"]
                if block["state"] != "inactive":
                    asked = block.get("requested_size") or block["size"]
                    self.blocks[begin] = Block(block["size"], asked, block["state"] != "active_allocated")

    def undo(self, event: Dict[str, Any]) -> None:
        action, address, size = event["action"], event.get("addr", 0), event["size"]
        if action == "alloc":
            del self.blocks[address]
        elif action == "free_requested":
            self.blocks[address] = self.blocks[address]._replace(pending=False)
        elif action == "free_completed":
            self.blocks[address] = Block(0, size, True)
        elif action == "segment_alloc":
            del self.segments[address]
        elif action in ("segment_free", "segment_map", "segment_unmap"):
            raise NotImplementedError(f"no shared snapshot has {action}")

    def find_sizes(self) -> None:
        """Finds the sizes of blocks that exist at the beginning and not at the end. A block of the large pool ends where the next one begins, if
        that is at most 1 MiB after its rounded request, while it lives."""
        begins = sorted(self.blocks)
        for address in [a for a in begins if self.blocks[a].size == 0]:
            end = address + rounded(self.blocks[address].requested)
            segment = self.segment_of(address)
            if not segment.small and not segment.expandable:
                others = [a for a in begins if a >= end] + list(self.allocated_before_free_of(address)) + [segment.end]
                end = min([a for a in others if end <= a <= end + MIB] or [end])
            self.blocks[address] = self.blocks[address]._replace(size=end - address)

    def allocated_before_free_of(self, address: int) -> Iterator[int]:
        for event in self.events:
            if event["action"] == "free_completed" and event["addr"] == address:
                return
            if event["action"] == "alloc":
                yield event["addr"]

    def segment_of(self, address: int) -> Segment:
        return next(s for s in self.segments.values() if s.begin <= address < s.end)

    def forward_to(self, moment: int) -> None:
        for event in self.events[self.at : moment]:
            self.do(event)
        self.at = max(self.at, moment)

    def do(self, event: Dict[str, Any]) -> None:
        action, address, size = event["action"], event.get("addr", 0), event["size"]
        if action == "alloc":
            self.blocks[address] = Block(self.size_of(address, size), size, False)
        elif action == "free_requested":
            self.blocks[address] = self.blocks[address]._replace(pending=True)
        elif action == "free_completed":
            del self.blocks[address]
        elif action == "segment_alloc":
            self.segments[address] = Segment(address, address + size, event["stream"], (0, 0), size == 2 * MIB, False)

    def size_of(self, begin: int, asked: int) -> int:
        """The size of a new block. The free block that it was cut from ended at the next block, or at the end of the segment."""
        segment = self.segment_of(begin)
        limit = min([a for a in self.blocks if begin < a < segment.end] + [segment.end])
        size = rounded(asked)
        rest = limit - begin - size
        split = rest >= 512 if segment.small or segment.expandable else rest > MIB
        return size if split else limit - begin

    def requested(self) -> int:
        return sum(b.requested for b in self.blocks.values() if not b.pending)

    def reserved(self) -> int:
        return sum(s.end - s.begin for s in self.segments.values())

    def causes(self) -> Dict[str, int]:
        names = "rounding_512 rounding_power2 slack small_pool_stranding stream_isolation pool_isolation pending_free pinned releasable"
        causes = dict.fromkeys(names.split(), 0)
        by_stream: Dict[int, int] = {}
        for segment in self.segments.values():
            if segment.pool == (0, 0):
                by_stream[segment.stream] = by_stream.get(segment.stream, 0) + segment.end - segment.begin
        main = max(sorted(by_stream), key=lambda stream: by_stream[stream]) if by_stream else 0
        for block in self.blocks.values():
            if block.pending:
                causes["pending_free"] += block.size
                continue
            causes["rounding_512"] += rounded(block.requested) - block.requested
            causes["slack"] += block.size - rounded(block.requested)
        for segment in self.segments.values():
            cause = "small_pool_stranding" if segment.small else "pinned" if segment.stream == main else "stream_isolation"
            for begin, end in self.free_runs(segment):
                whole = self.whole(segment, begin, end)
                if segment.pool != (0, 0):
                    causes["pool_isolation"] += end - begin
                else:
                    causes["releasable"] += whole
                    causes[cause] += end - begin - whole
        return {f"{name}_bytes": count for name, count in causes.items()}

    def free_runs(self, segment: Segment) -> Iterator[Tuple[int, int]]:
        at = segment.begin
        for address in sorted(a for a in self.blocks if segment.begin <= a < segment.end):
            if address > at:
                yield at, address
            at = address + self.blocks[address].size
        if at < segment.end:
            yield at, segment.end

    @staticmethod
    def whole(segment: Segment, begin: int, end: int) -> int:
        if not segment.expandable:
            return end - begin if (begin, end) == (segment.begin, segment.end) else 0
        page = 2 * MIB if segment.small else 20 * MIB
        return sum(page for start in range(segment.begin, segment.end, page) if begin <= start and start + page <= end)
