#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a vramscope trace without any of vramscope's code: the proof that docs/trace-format.md is complete.

    read_trace.py FILE        prints the trace as text, as dump_trace does

Strict where the C++ reader is forgiving: a damaged block raises an exception. Chapter numbers are those of docs/trace-format.md.
"""
import ctypes
import ctypes.util
import struct
import sys
import zlib
from typing import Dict, Iterator, List, NamedTuple, Tuple

U64 = (1 << 64) - 1

# Chapter 9: event types by number, with their fields in order.
SCHEMA: Dict[int, Tuple[str, Tuple[str, ...]]] = {
    1: ("alloc", ("address", "size", "device", "stream", "stack", "requested", "total_allocated", "total_reserved")),
    2: ("free", ("address", "size", "device", "stack", "total_allocated", "total_reserved")),
    3: ("out_of_memory", ("requested", "total_allocated", "total_reserved", "device", "stack")),
    4: ("label", ("address", "bytes", "role", "source", "name", "tensor")),
    5: ("saved", ("address", "bytes", "tensor", "is_output")),
    6: ("saved_released", ("address", "bytes")),
    7: ("range_begin", ("kind", "name", "id")),
    8: ("range_end", ("kind", "name", "id")),
    9: ("mark", ("kind", "value", "name", "tensor")),
    10: ("op_begin", ("name", "sequence", "forward_thread", "scope", "stack")),
    11: ("op_end", ()),
    12: ("op_tensor", ("flags", "position", "tensor", "storage", "offset", "shape", "strides", "dtype")),
    13: ("op_scalar", ("position", "text")),
    14: ("node_created", ("sequence",)),
    15: ("node_edge", ("node", "next", "input", "tensor")),
    16: ("node_begin", ("node", "name", "sequence")),
    17: ("node_end", ("node",)),
    18: ("counter", ("name", "value", "device")),
    19: ("lost", ("count", "first_ns", "last_ns")),
    20: ("coverage", ("hook", "state", "detail")),
    21: ("driver_alloc", ("address", "size", "device", "stream", "api", "library", "flags", "result")),
    22: ("driver_free", ("address", "size", "device", "api", "library", "result", "flags")),
    23: ("driver_map", ("address", "size", "device", "mapped", "handle", "result", "library")),
    24: ("segment", ("address", "size", "device", "stream", "came", "pool")),
    25: ("free_completed", ("address", "device")),
    26: ("driver_total", ("device", "source", "used", "total", "id")),
}
ALLOC, FREE = 1, 2


def decompress(stored: bytes, raw_bytes: int) -> bytes:
    """One zstd frame, through the module when it is installed, else through the C library."""
    try:
        import zstandard

        return zstandard.ZstdDecompressor().decompress(stored, raw_bytes)
    except ImportError:
        library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    raw = ctypes.create_string_buffer(max(raw_bytes, 1))
    if library.ZSTD_decompress(raw, raw_bytes, stored, len(stored)) != raw_bytes:
        raise ValueError("a payload does not decompress to the size that its header names")
    return raw.raw[:raw_bytes]


def unzigzag(coded: int) -> int:
    return (coded >> 1) ^ (-(coded & 1) & U64)


class Cursor:
    """Chapter 2: varints and texts from front to back."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & U64

    def take(self, length: int) -> bytes:
        taken = self.data[self.at : self.at + length]
        if len(taken) != length:
            raise ValueError("a payload ends too early")
        self.at += length
        return taken

    def text(self) -> bytes:
        return self.take(self.varint())


class Block(NamedTuple):
    """Chapter 4."""

    type: int
    version: int
    count: int
    first_event: int
    first_alloc: int
    payload: bytes


def blocks_of(file: bytes) -> Iterator[Block]:
    """Walks from header to header; the index (chapter 8) would only save time."""
    at = 64
    while file[at : at + 4] in (b"\xb1VMB", b"VMS-"):
        if file[at : at + 8] == b"VMS-END\n":  # what was added later stands after a trailer
            at += 32
            continue
        header = file[at : at + 64]
        if zlib.crc32(header[:60]) != struct.unpack_from("<I", header, 60)[0]:
            raise ValueError("a block header is damaged")
        kind, version, stored, raw, compression, count = struct.unpack_from("<HHIIBxxxI", header, 4)
        first_event, first_alloc, checksum = struct.unpack_from("<QQI", header, 40)
        payload = file[at + 64 : at + 64 + stored]
        if len(payload) != stored or zlib.crc32(payload) != checksum:
            raise ValueError("a payload is damaged")
        yield Block(kind, version, count, first_event, first_alloc, decompress(payload, raw) if compression else payload)
        at += 64 + stored


class Column(NamedTuple):
    transform: int
    parameter: int
    values: List[int]


def stored_values(storage: int, count: int, data: bytes) -> List[int]:
    """Chapter 5.2."""
    if 1 <= storage <= 8:
        if len(data) != storage * count:
            raise ValueError("byte planes of a wrong length")
        planes = [data[i * count : (i + 1) * count] for i in range(storage)]
        return [sum(plane[i] << 8 * k for k, plane in enumerate(planes)) for i in range(count)]
    cursor = Cursor(data)
    if storage == 0:
        return [cursor.varint()] * count
    if storage != 9:
        raise ValueError("a storage that format 1 does not have")
    dictionary = [cursor.varint() for _ in range(cursor.varint())]
    return [dictionary[place] for place in cursor.take(count)]


def columns_of(payload: bytes) -> Dict[Tuple[int, int], Column]:
    """Chapter 5.1, for the columns that this reader knows."""
    cursor = Cursor(payload)
    directory = [(*cursor.take(4), cursor.varint(), cursor.varint()) for _ in range(cursor.varint())]
    columns = {}
    for kind, field, transform, storage, count, length in directory:
        data = cursor.take(length)
        if kind == 0 or (kind in SCHEMA and (field & 0x7F) < len(SCHEMA[kind][1])):
            columns[kind, field] = Column(transform & 15, transform >> 4, stored_values(storage, count, data))
    return columns


def deltas(values: List[int]) -> List[int]:
    result, previous = [], 0
    for value in values:
        previous = (previous + unzigzag(value)) & U64
        result.append(previous)
    return result


def plain(columns: Dict[Tuple[int, int], Column], field: int, count: int) -> List[int]:
    """A column of type 0: absent ones are zeros."""
    column = columns.get((0, field), Column(0, 0, [0] * count))
    return deltas(column.values) if column.transform == 1 else column.values


class Event(NamedTuple):
    time: int
    thread: int
    process: int
    type: int
    fields: List[int]


def events_of(block: Block) -> Iterator[Event]:
    """Chapter 6: one event after the other, with the state that the transforms need."""
    columns = columns_of(block.payload)
    types = plain(columns, 0, block.count)
    times = plain(columns, 1, block.count)
    threads = plain(columns, 3, 0)
    processes = plain(columns, 4, len(threads))
    values = {key: iter(column.values) for key, column in columns.items()}
    literals = {key: iter(deltas(column.values)) for key, column in columns.items() if key[1] & 0x80}
    previous: Dict[Tuple[int, int], int] = {}
    history: Dict[Tuple[int, int], List[int]] = {}
    allocations: List[Tuple[int, int]] = []
    running: Dict[Tuple[int, int], int] = {}

    for kind, time, place in zip(types, times, plain(columns, 2, block.count)):
        process = processes[place]
        fields = [0] * len(SCHEMA[kind][1]) if kind in SCHEMA else []
        referred_size = 0
        for field in range(len(fields)):
            key = (kind, field)
            if key not in columns:
                continue
            column, value = columns[key], next(values[key])
            if column.transform == 1:
                value = previous[key] = (previous.get(key, 0) + unzigzag(value)) & U64
            elif column.transform == 2:
                if value == 0:
                    value = next(literals[kind, field | 0x80])
                else:
                    value, referred_size = allocations[-value]
            elif column.transform == 3:
                value = (unzigzag(value) + referred_size) & U64
            elif column.transform == 4:
                value = (unzigzag(value) + fields[column.parameter]) & U64
            elif column.transform == 7:
                seen = history.setdefault(key, [])
                value = seen[-value] if value else next(literals[kind, field | 0x80])
                seen.append(value)
            fields[field] = value
        if kind in (ALLOC, FREE):
            follow_totals(kind, fields, columns, running, (process * 31 + fields[2]) % 64)
        if kind == ALLOC:
            allocations.append((fields[0], fields[1]))
        if kind in SCHEMA:
            yield Event(time, threads[place], process, kind, fields)


def follow_totals(kind: int, fields: List[int], columns: Dict[Tuple[int, int], Column],
                  running: Dict[Tuple[int, int], int], slot: int) -> None:
    """Chapter 6.3: transforms 5 and 6, whose state allocs and frees share."""
    total, level = (6, 7) if kind == ALLOC else (4, 5)
    change = fields[1] if kind == ALLOC else -fields[1]
    if (kind, total) in columns and columns[kind, total].transform == 5:
        fields[total] = (unzigzag(fields[total]) + running.get((slot, 0), 0) + change) & U64
    if (kind, level) in columns and columns[kind, level].transform == 6:
        fields[level] = (unzigzag(fields[level]) + running.get((slot, 1), 0)) & U64
    running[slot, 0], running[slot, 1] = fields[total], fields[level]


class Trace:
    """Chapters 3 and 7: everything but the events."""

    def __init__(self, file: bytes) -> None:
        if file[:8] != b"\x89VMS\r\n\x1a\n" or zlib.crc32(file[:60]) != struct.unpack_from("<I", file, 60)[0]:
            raise ValueError("not a trace")
        major, minor = struct.unpack_from("<HH", file, 8)
        if major != 1:
            raise ValueError(f"trace format {major}.{minor}; this reads 1")
        self.clock = struct.unpack_from("<QQ", file, 32)
        self.strings: Dict[int, bytes] = {}
        self.stacks: Dict[int, List[int]] = {}
        self.processes: Dict[int, Tuple[int, ...]] = {}
        self.threads: Dict[int, Tuple[int, ...]] = {}
        self.metadata: Dict[bytes, bytes] = {}
        self.sources: Dict[bytes, bytes] = {}
        self.programs: Dict[int, Tuple[int, bytes, bytes]] = {}
        self.variants: Dict[bytes, bytes] = {}
        self.event_blocks: List[Block] = []
        for block in blocks_of(file):
            if block.version > 1:
                continue
            reader = {1: self.read_strings, 2: self.read_stacks, 3: self.read_processes, 4: self.read_threads,
                      5: self.read_metadata, 9: self.read_sources,
                      10: self.read_programs, 11: self.read_variants}.get(block.type)
            if reader:
                reader(Cursor(block.payload), block.count)
            elif block.type == 6:
                self.event_blocks.append(block)

    def read_strings(self, cursor: Cursor, count: int) -> None:
        first = cursor.varint()
        for i in range(count):
            self.strings[first + i] = cursor.text()

    def read_stacks(self, cursor: Cursor, count: int) -> None:
        first = cursor.varint()
        for i in range(first, first + count):
            distance, frame = cursor.varint(), cursor.varint()
            self.stacks[i] = (self.stacks.get(i - distance, []) if distance else []) + [frame]

    def read_processes(self, cursor: Cursor, count: int) -> None:
        for _ in range(count):
            number, record = cursor.varint(), Cursor(cursor.text())
            pid, parent, start, end, status = (record.varint() for _ in range(5))
            signed = unzigzag(status) - ((unzigzag(status) >> 63) << 64)
            self.processes[number] = (pid, parent, start, end, signed, record.text(), record.text())

    def read_threads(self, cursor: Cursor, count: int) -> None:
        for _ in range(count):
            number, record = cursor.varint(), Cursor(cursor.text())
            self.threads[number] = (record.varint(), record.varint(), record.text())

    def read_metadata(self, cursor: Cursor, count: int) -> None:
        for _ in range(count):
            key = cursor.text()
            self.metadata[key] = cursor.text()

    def read_sources(self, cursor: Cursor, count: int) -> None:
        for _ in range(count):
            record = Cursor(cursor.text())
            path = record.text()
            self.sources[path] = record.text()

    def read_programs(self, cursor: Cursor, count: int) -> None:
        for _ in range(count):
            number, record = cursor.varint(), Cursor(cursor.text())
            self.programs[number] = (record.varint(), record.text(), record.text())

    def read_variants(self, cursor: Cursor, count: int) -> None:
        for _ in range(count):
            record = Cursor(cursor.text())
            key = record.text()
            self.variants[key] = bytes(b ^ 0x5A for b in record.text())


def quoted(text: bytes) -> str:
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in text) + '"'


def lines_of(trace: Trace) -> Iterator[str]:
    yield "clock {} {}".format(*trace.clock)
    for key, value in sorted(trace.metadata.items()):
        yield f"metadata {quoted(key)} {quoted(value)}"
    for number, (pid, parent, start, end, status, executable, command) in sorted(trace.processes.items()):
        yield (f"process {number} pid={pid} parent={parent} start={start} end={end} status={status} "
               f"executable={quoted(executable)} command={quoted(command)}")
    for number, (process, os_thread, name) in sorted(trace.threads.items()):
        yield f"thread {number} process={process} os_thread={os_thread} name={quoted(name)}"
    for number, text in sorted(trace.strings.items()):
        yield f"string {number} {quoted(text)}"
    for path, content in sorted(trace.sources.items()):
        yield f"source {quoted(path)} {quoted(content)}"
    for number, (step, seal, text) in sorted(trace.programs.items()):
        yield f"program {number} step={step} seal={quoted(seal)} {quoted(text)}"
    for key, inner in sorted(trace.variants.items()):
        yield f"variant {quoted(key)} {quoted(inner)}"
    for number, frames in sorted(trace.stacks.items()):
        yield f"stack {number} {' '.join(map(str, frames))}"
    alive: Dict[Tuple[int, int], Tuple[int, ...]] = {}
    for block in trace.event_blocks:
        number = block.first_alloc
        for event in events_of(block):
            name, fields = SCHEMA[event.type]
            yield f"event {event.time} {event.thread} {name}" + "".join(
                f" {field}={value}" for field, value in zip(fields, event.fields) if value)
            if event.type == ALLOC:
                number += 1
                alive[event.process, event.fields[0]] = (number, *event.fields[:3], event.time, event.process)
            elif event.type == FREE:
                alive.pop((event.process, event.fields[0]), None)
    for number, address, size, device, time, process in sorted(alive.values()):
        yield f"live {number} address={address} size={size} device={device} time={time} process={process}"


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        trace = Trace(file.read())
    sys.stdout.writelines(line + "\n" for line in lines_of(trace))


if __name__ == "__main__":
    main()
