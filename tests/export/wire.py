# SPDX-License-Identifier: Apache-2.0
"""Reads Protocol Buffers' wire format (https://protobuf.dev/programming-guides/encoding) and the parts of Perfetto's and pprof's messages
that exports contain. It is a second implementation, so that a wrong field number in one of the two is found."""
import gzip
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple, Union


def varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[Tuple[int, Union[int, bytes]]]:
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field is cut off"
            yield key >> 3, data[at:at + value]
            at += value
        else:
            assert key & 7 == 0, f"wire type {key & 7}"
            yield key >> 3, value


def message(data: bytes) -> Dict[int, Any]:
    """Fields that repeat keep the last value, as readers of single fields do."""
    return dict(fields(data))


def numbers(data: bytes) -> List[int]:
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def published(path: Path) -> List[Tuple[int, int, int]]:
    """Time, type and counter value of each track event, as Perfetto's own definitions read the file (the package `perfetto` of PyPI); every
    track must be described, and no field may be unknown to them. ImportError without the package."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    described = {packet.track_descriptor.uuid for packet in trace.packet if packet.HasField("track_descriptor")}
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    assert {packet.track_event.track_uuid for packet in events} <= described
    clocks = sum(packet.HasField("clock_snapshot") for packet in trace.packet)
    assert len(events) + len(described) + clocks == len(trace.packet)
    trace.DiscardUnknownFields()
    assert len(trace.SerializeToString()) == path.stat().st_size, "a field has a number that Perfetto does not know"
    return [(packet.timestamp, packet.track_event.type, packet.track_event.counter_value) for packet in events]


class Event(NamedTuple):
    time_ns: int
    type: int  # 1 begin, 2 end, 3 instant, 4 counter
    track: str
    name: str
    value: int
    requested: int


def perfetto(path: Path) -> List[Event]:
    """Trace.packet = 1; the other numbers as in protos/perfetto/trace/track_event/*.proto."""
    tracks: Dict[int, str] = {}
    events: List[Event] = []
    for _, packet in fields(path.read_bytes()):
        assert isinstance(packet, bytes)
        said = message(packet)
        if 60 in said:
            descriptor = message(said[60])
            named = descriptor.get(2, b"") or message(descriptor.get(4, b"")).get(5, b"")
            tracks[descriptor[1]] = named.decode()
        if 11 in said:
            event = message(said[11])
            annotations = [message(value) for number, value in fields(said[11]) if number == 4]
            requested = next((note[3] for note in annotations if note.get(10) == b"requested_bytes"), 0)
            events.append(Event(said[8], event[9], tracks[event[11]], event.get(23, b"").decode(), event.get(30, 0), requested))
    return events


def pprof_bytes(path: Path) -> int:
    """The sum of the second value (inuse_space) of all samples; every location must exist."""
    profile = list(fields(gzip.decompress(path.read_bytes())))
    locations = {message(value)[1] for number, value in profile if number == 4}
    total = 0
    for number, value in profile:
        if number == 2:
            sample = message(value)
            assert set(numbers(sample[1])) <= locations
            total += numbers(sample[2])[1]
    return total
