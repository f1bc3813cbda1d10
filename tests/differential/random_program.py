# SPDX-License-Identifier: Apache-2.0
"""Sends random requests to PyTorch's own caching allocator on the simulated device, and writes down all its answers.

Usage: random_program.py LOG SEED OPERATIONS     (OPERATIONS is about how many)

LOG.pickle becomes PyTorch's own snapshot of the first few thousand operations, LOG.settings what random_settings.py writes.

LOG is 64-bit words, read by allocator_differential.cc (the codes are those of its enum Code):
    the version of torch, bytes of the device, the lowest address taken, bytes free, the streams, then operations, each
    [code, three operands, result, statistics after it...]
    and after every few thousand of them [kEvents, count, then action, address, bytes for each] of PyTorch's own history.
"""
import array
import ctypes
import os
import random
import sys
from typing import Any, BinaryIO, Dict, List, Optional, Tuple

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import random_settings  # noqa: E402

(ALLOC, FREE, RECORD_STREAM, EMPTY_CACHE, SET_FRACTION, LAUNCH, SYNCHRONIZE, MAKE_POOL, DROP_POOL, BEGIN_POOL, END_POOL, BEGIN_CAPTURE,
 END_CAPTURE, DROP_GRAPH, BALLAST, DROP_BALLAST, PHASE, EVENTS, END) = range(19)
ACTIONS = {name: number for number, name in enumerate(
    ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom"))}
GROUPS = ("all", "small_pool", "large_pool")
COUNTERS = ("allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes", "inactive_split_bytes", "allocation", "active",
            "inactive_split", "segment")
SCALARS = ("num_alloc_retries", "num_ooms", "num_oom_rejections", "num_sync_all_streams", "num_device_alloc", "num_device_free")
MIB = 1 << 20
GIB = 1 << 30
STREAMS = 4
POOLS = 3
GRAPHS = 4
CHUNK = 4000

VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
# Before 2.12, a capture allocates blocks of its own for the random generators, and every graph takes memory of the device.
CAPTURES = VERSION >= (2, 12)
# Every string contains all settings that survive a change of settings, because one process uses them all.
SETTINGS = [
    "expandable_segments:False",
    "expandable_segments:True",
    "expandable_segments:False,max_split_size_mb:32",
    "expandable_segments:False,max_split_size_mb:128,max_non_split_rounding_mb:64",
    "expandable_segments:False,roundup_power2_divisions:4",
    "expandable_segments:False,roundup_power2_divisions:[1:8,64:4,256:0,1024:2,>:1]",
    "expandable_segments:True,roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "expandable_segments:False,garbage_collection_threshold:0.6",
    "expandable_segments:False,garbage_collection_threshold:0.3,max_split_size_mb:64,roundup_power2_divisions:8",
    "expandable_segments:True,garbage_collection_threshold:0.5",
    "expandable_segments:True,max_split_size_mb:200",
    "expandable_segments:False,pinned_use_background_threads:True,roundup_power2_divisions:16",
    "expandable_segments:False,max_split_size_mb:21,garbage_collection_threshold:0.9",
]
if VERSION >= (2, 12):
    SETTINGS += [
        "expandable_segments:False,large_segment_size_mb:48",
        "expandable_segments:True,large_segment_size_mb:12",
        "expandable_segments:False,throw_on_cudamalloc_oom:True",
        "expandable_segments:True,expandable_segments_reserve:0.25,throw_on_cudamalloc_oom:False",
        "expandable_segments:False,throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5",
        "expandable_segments:False,graph_capture_record_stream_reuse:True,large_segment_size_mb:32,max_split_size_mb:64",
    ]
    SETTINGS = [text if "large_segment" in text else text + ",large_segment_size_mb:20" for text in SETTINGS]
    SETTINGS = [text if "throw_on" in text else text + ",throw_on_cudamalloc_oom:False" for text in SETTINGS]
    SETTINGS = [text if "reserve" in text else text + ",expandable_segments_reserve:1.125" for text in SETTINGS]
    SETTINGS = [text if "per_process" in text else text + ",per_process_memory_fraction:1.0" for text in SETTINGS]
    SETTINGS = [text if "reuse" in text else text + ",graph_capture_record_stream_reuse:False" for text in SETTINGS]


def change_settings(text: str) -> None:
    if hasattr(torch._C, "_accelerator_setAllocatorSettings"):
        torch._C._accelerator_setAllocatorSettings(text)
    else:
        torch._C._cuda_cudaCachingAllocator_set_allocator_settings(text)


def snapshot() -> Dict[str, Any]:
    return torch._C._cuda_memorySnapshot(None) if VERSION >= (2, 9) else torch._C._cuda_memorySnapshot()


class Program:
    """The random operations of one process."""

    def __init__(self, log: BinaryIO, seed: int) -> None:
        self.log = log
        self.words = array.array("Q")
        self.random = random.Random(seed)
        self.streams = [torch.cuda.default_stream()] + [torch.cuda.Stream() for _ in range(STREAMS - 1)]
        self.blocks: Dict[int, Any] = {}  # address -> tensor, or None for a raw block
        self.recorded_inside: List[int] = []
        self.sizes: List[int] = []
        self.pools: List[Optional[torch.cuda.MemPool]] = [None] * POOLS
        self.inside: Optional[Tuple[int, Any]] = None  # the memory pool that is used now, and how to leave it
        self.graphs: List[Optional[torch.cuda.CUDAGraph]] = [None] * GRAPHS
        self.capture: Optional[Tuple[int, int, Any]] = None  # the graph that is captured now, its stream, and how to leave it
        self.cudart = ctypes.CDLL(None)
        self.own = self.cuda_malloc(1)  # never freed; what launch() writes to
        self.ballast: List[int] = []
        self.operations = 0
        self.stream_count = STREAMS
        self.plain = False
        self.may_drop = True

    def statistics(self) -> List[int]:
        found = torch._C._cuda_memoryStats(0)
        values = []
        for counter in COUNTERS:
            of = found[counter]
            for group in GROUPS:
                one = of[group]
                values.append(one["current"])
                values.append(one["peak"])
        values += [found.get(name, 0) for name in SCALARS]
        values += [found["oversize_allocations"]["current"], found["oversize_segments"]["current"]]
        return values

    def note(self, code: int, a: int = 0, b: int = 0, c: int = 0, result: int = 0) -> None:
        self.words.extend((code, a, b, c, result, *self.statistics()))
        self.operations += 1
        if self.operations % CHUNK == 0:
            self.note_events()

    def note_events(self) -> None:
        events = [event for event in snapshot()["device_traces"][0] if event["action"] != "snapshot"]
        self.words.extend((EVENTS, len(events)))
        for event in events:
            address = 0 if event["action"] == "oom" else event["addr"]
            self.words.extend((ACTIONS[event["action"]], address, event["size"]))
        self.words.tofile(self.log)
        self.words = array.array("Q")
        self.record_history()

    def record_history(self) -> None:
        torch.cuda.memory._record_memory_history(enabled=None)
        torch.cuda.memory._record_memory_history(context=None, max_entries=1_000_000)

    def size(self) -> int:
        r = self.random
        kind = r.random()
        if kind < 0.25 and self.sizes:
            return r.choice(self.sizes)
        if kind < 0.33:
            edge = r.choice((512, MIB, 2 * MIB, 10 * MIB, 20 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, GIB))
            return max(1, edge + r.choice((-512, -1, 0, 1, 512)))
        low, high = r.choices(((0, 20), (20, 23.3), (23.3, 27), (27, 30), (30, 33), (33, 35.32)), (40, 25, 18, 8, 1.2, 0.15))[0]
        size = min(int(2 ** r.uniform(low, high)), 40 * GIB)
        if len(self.sizes) < 200:
            self.sizes.append(size)
        elif r.random() < 0.05:
            self.sizes[r.randrange(200)] = size
        return size

    def alloc(self) -> None:
        r = self.random
        size, stream = self.size(), r.choices(range(self.stream_count), (6, 2, 1, 1)[:self.stream_count])[0]
        address, tensor = 0, None
        try:
            # Inside a capture its stream stays the current one: PyTorch defers frees as long as the current stream is captured.
            if r.random() < 0.4 and (self.capture is None or stream == self.capture[1]):
                with torch.cuda.stream(self.streams[stream]):
                    tensor = torch.empty(size, dtype=torch.uint8, device="cuda")
                address = tensor.data_ptr()
            else:
                address = torch._C._cuda_cudaCachingAllocator_raw_alloc(size, self.streams[stream].cuda_stream)
        except torch.OutOfMemoryError:
            pass
        if address:
            self.blocks[address] = tensor
        pool = self.inside[0] + 1 if self.inside else 0
        if self.capture and stream == self.capture[1]:
            pool = POOLS + 1 + self.capture[0]
        self.note(ALLOC, size, stream, pool, address)

    def free(self, address: Optional[int] = None) -> None:
        if address is None:
            address = self.random.choice(list(self.blocks))
        tensor = self.blocks.pop(address)
        if tensor is None:
            torch._C._cuda_cudaCachingAllocator_raw_delete(address)
        del tensor
        self.note(FREE, address)

    def record_stream(self) -> None:
        tensors = [address for address, tensor in self.blocks.items() if tensor is not None]
        if tensors:
            address, stream = self.random.choice(tensors), self.random.randrange(self.stream_count)
            self.blocks[address].record_stream(self.streams[stream])
            self.note(RECORD_STREAM, address, stream)
            if self.capture or (self.inside and VERSION < (2, 13)):
                self.recorded_inside.append(address)

    def free_recorded_inside(self) -> None:
        """PyTorch keeps uses that are recorded inside a capture (up to 2.12 also: inside a memory pool) under the address of its Block object. It
        forgets them only if that block is freed inside, too. Otherwise the next Block object at that address inherits them, and which one
        that is depends on the host's heap."""
        for address in self.recorded_inside:
            if address in self.blocks:
                self.free(address)
        self.recorded_inside.clear()

    def launch(self) -> None:
        stream = self.random.randrange(self.stream_count)
        if self.capture and stream == self.capture[1]:
            return  # would become a node of the graph
        self.cudart.cudaMemsetAsync(ctypes.c_void_p(self.own), 0, ctypes.c_size_t(1), ctypes.c_void_p(self.streams[stream].cuda_stream))
        self.note(LAUNCH, stream)

    def synchronize(self) -> None:
        if self.capture:
            return
        torch.cuda.synchronize()
        self.note(SYNCHRONIZE)

    def empty_cache(self) -> None:
        torch.cuda.empty_cache()
        self.note(EMPTY_CACHE)

    def set_fraction(self, fraction: float) -> None:
        torch.cuda.set_per_process_memory_fraction(fraction)
        self.note(SET_FRACTION, int(fraction * 1000))

    def change_capture(self) -> None:
        """Begins or ends the capture of a graph, whose stream allocates from the graph's pool meanwhile, or drops a graph."""
        r = self.random
        if self.capture:
            self.free_recorded_inside()
            graph, _, context = self.capture
            self.graphs[graph].capture_end()
            context.__exit__(None, None, None)
            self.capture = None
            self.note(END_CAPTURE, POOLS + 1 + graph)
            return
        graph = r.randrange(GRAPHS)
        if self.graphs[graph] is not None:
            if self.may_drop:
                self.drop_graph(graph)
            return
        self.graphs[graph] = torch.cuda.CUDAGraph(keep_graph=True)
        stream = r.randrange(1, self.stream_count)
        context = torch.cuda.stream(self.streams[stream])
        context.__enter__()
        self.graphs[graph].capture_begin(capture_error_mode="relaxed")
        self.capture = (graph, stream, context)
        self.note(BEGIN_CAPTURE, POOLS + 1 + graph)

    def drop_graph(self, graph: int) -> None:
        self.graphs[graph] = None
        self.note(DROP_GRAPH, POOLS + 1 + graph)

    def change_pool(self) -> None:
        r = self.random
        if self.inside:
            self.free_recorded_inside()
            pool, context = self.inside
            context.__exit__(None, None, None)
            self.inside = None
            self.note(END_POOL, pool + 1)
            return
        pool = r.randrange(POOLS)
        if self.pools[pool] is None:
            options = {}
            if VERSION >= (2, 9) and not self.plain:
                # use_on_oom for one pool only: with several, PyTorch tries them in the order of a hash table.
                options = {"use_on_oom": pool == 0 and r.random() < 0.6, "no_split": r.random() < 0.2}
            self.pools[pool] = torch.cuda.MemPool(**options)
            self.note(MAKE_POOL, pool + 1, int(options.get("use_on_oom", False)), int(options.get("no_split", False)))
        elif r.random() < 0.1 and self.may_drop:
            self.pools[pool] = None
            self.note(DROP_POOL, pool + 1)
        else:
            context = torch.cuda.use_mem_pool(self.pools[pool])
            context.__enter__()
            self.inside = (pool, context)
            self.note(BEGIN_POOL, pool + 1)

    def cuda_malloc(self, size: int) -> int:
        pointer = ctypes.c_void_p()
        error = self.cudart.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size))
        assert error == 0 and pointer.value, error
        return pointer.value

    def add_ballast(self, size: int) -> None:
        address = self.cuda_malloc(size)
        self.ballast.append(address)
        self.note(BALLAST, size, 0, 0, address)

    def begin_phase(self, text: str) -> None:
        change_settings(text)
        torch._C._cuda_resetAccumulatedMemoryStats(0)
        torch._C._cuda_resetPeakMemoryStats(0)
        raw = text.encode()
        raw += b" " * (-len(raw) % 8)
        self.words.extend((PHASE, len(raw) // 8))
        self.words.frombytes(raw)

    def end_phase(self) -> None:
        if self.inside:
            self.change_pool()
        if self.capture:
            self.change_capture()
        for address in list(self.blocks):
            self.free(address)
        self.synchronize()
        for pool in range(POOLS):
            if self.pools[pool] is not None:
                self.pools[pool] = None
                self.note(DROP_POOL, pool + 1)
        for graph in range(GRAPHS):
            if self.graphs[graph] is not None:
                self.drop_graph(graph)
        self.empty_cache()
        for address in self.ballast:
            self.cudart.cudaFree(ctypes.c_void_p(address))
            self.note(DROP_BALLAST, address)
        self.ballast.clear()

    def phase(self, text: str, operations: int, is_first: bool = False, is_last: bool = False) -> None:
        r = self.random
        self.begin_phase(text)
        self.sizes.clear()
        # The first phase does only what a snapshot contains, so that it can be replayed: no fractions, no options of pools, and no pools up
        # to 2.7, whose events do not name pools.
        self.plain = is_first
        if not is_first:
            self.set_fraction(r.choice((1.0, 1.0, 0.8, 0.5)) if "garbage" not in text else r.choice((0.9, 0.6, 0.3)))
        total = torch.cuda.mem_get_info()[0]
        self.add_ballast(int(total * r.choice((0.0, 0.4, 0.7, 0.9, 0.97))) + 1)
        self.stream_count = r.choice((1, 2, 3, STREAMS, STREAMS))
        # PyTorch 2.15 counts the ranges that it maps for a private pool wrongly, and stops at an assertion when it frees them.
        with_pools = r.random() < 0.6 if "expandable_segments:False" in text else is_last
        with_pools = with_pools and (VERSION >= (2, 8) or not is_first)
        self.may_drop = not is_last
        target = r.choice((20, 100, 400))
        end = self.operations + operations
        while self.operations < end:
            kind = r.random()
            if kind < 0.86:
                grow = r.random() < (0.5 if len(self.blocks) > target else 0.7)
                if grow or not self.blocks:
                    self.alloc()
                else:
                    self.free()
            elif kind < 0.92:
                self.record_stream()
            elif kind < 0.96:
                self.launch()
            elif kind < 0.965:
                self.synchronize()
            elif kind < 0.967:
                self.empty_cache() if self.inside is None or VERSION >= (2, 8) else None
            elif kind < 0.968 and "garbage" in text and not is_first:
                self.set_fraction(r.choice((0.9, 0.7, 0.4)))
            elif kind < 0.98 and with_pools and not self.capture:
                self.change_pool()
            elif kind < 0.985 and with_pools and not self.inside and self.stream_count > 1 and CAPTURES:
                self.change_capture()
            elif kind < 0.9855:
                for address in r.sample(list(self.blocks), len(self.blocks) * 3 // 4):
                    self.free(address)
        if is_first:
            torch.cuda.memory._dump_snapshot(self.log.name + ".pickle")
        if not is_last:
            self.end_phase()


def main() -> None:
    path, seed, operations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.cuda.init()
    with open(path, "wb") as log:
        program = Program(log, seed)
        free, total = torch.cuda.mem_get_info()
        program.words.extend((VERSION[0], VERSION[1], total, program.own, free, STREAMS))
        program.words.extend(stream.cuda_stream for stream in program.streams)
        program.record_history()
        share = operations // len(SETTINGS)
        others = [SETTINGS[0], *SETTINGS[2:]]
        program.random.shuffle(others)
        # A snapshot does not contain the total memory that a fraction refers to, nor more events than one CHUNK.
        first = next(text for text in others if "per_process_memory_fraction:0" not in text)
        others.remove(first)
        program.phase(first, min(share, CHUNK - 1000), is_first=True)
        for text in others:
            program.phase(text, share)
        program.phase(SETTINGS[1], share, is_last=True)
        program.note_events()
        program.words.append(END)
        program.words.tofile(log)
    torch.cuda.memory._record_memory_history(enabled=None)
    random_settings.write(path + ".settings", seed, 300, VERSION >= (2, 9), change_settings, lambda: snapshot()["allocator_settings"])
    # The last phase leaves its pools as they are; PyTorch would stop at an assertion when Python destroys them.
    os._exit(0)


main()
