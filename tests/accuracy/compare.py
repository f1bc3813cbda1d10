# SPDX-License-Identifier: Apache-2.0
"""Compares what a program measured on the simulated device with what its author measured on a real one.

Kinds:
    snapshot                            two torch.cuda.memory._snapshot() pickles: events in order, peak allocated, reserved
    csv:KEYS:VALUE                      two tables; VALUE is bytes, rows are identified by KEYS
    jsonl:FIELD=VALUE:KEYS:VALUE        the same in JSON lines, of which only those with that field count; VALUE is MiB
    phases                              the JSON of one public script: a peak in GiB for each rank and phase
    text                                what both printed, found by regular expressions (figures_in)
"""
import csv
import io
import itertools
import json
import pickle
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

MIB, GIB = 1 << 20, 1 << 30
UNITS = {"mib": MIB, "gib": GIB, "bytes": 1}
Event = Tuple[str, int]
Figures = Dict[Any, float]  # what the figure measures -> bytes


class Row(NamedTuple):
    """One line of the table; errors are simulated / recorded - 1."""

    allocated: Optional[int]
    allocated_error: Optional[float]  # the worst, if there are several figures
    reserved: Optional[int] = None
    reserved_error: Optional[float] = None
    events: Optional[int] = None  # recorded
    same_events: Optional[int] = None  # equal to the simulated ones, in order, from the first
    figures: int = 1
    frees_swapped: bool = False  # the same events, except for the order of frees that directly follow one another


class _Plain(pickle.Unpickler):
    """Reads only dicts, lists, strings and numbers, because recordings are foreign input."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a recording has no business with {module}.{name}")


def load_snapshot(data: bytes) -> Dict[str, Any]:
    return _Plain(io.BytesIO(data)).load()


def history(snapshot: Dict[str, Any]) -> List[Event]:
    """(action, bytes) of each event of the device that has any."""
    traces = [trace for trace in snapshot["device_traces"] if trace]
    return [(event["action"], event["size"]) for event in (traces[0] if traces else []) if event["action"] != "snapshot"]


def frees_sorted(events: Sequence[Event]) -> List[Event]:
    """The events, with the frees between two allocations in the order of their sizes."""
    found: List[Event] = []
    for frees, run in itertools.groupby(events, key=lambda event: event[0].startswith("free")):
        together = list(run)
        found += sorted(together) if frees else together
    return found


def peak_allocated(snapshot: Dict[str, Any]) -> int:
    """The peak, computed backward from what is live at the end, because histories begin in the middle of a run."""
    alive = sum(block["size"] for segment in snapshot["segments"] for block in segment["blocks"] if block["state"] == "active_allocated")
    peak = alive
    for action, size in reversed(history(snapshot)):
        alive += {"alloc": -size, "free_requested": size}.get(action, 0)
        peak = max(peak, alive)
    return peak


def reserved(snapshot: Dict[str, Any]) -> int:
    return sum(segment["total_size"] for segment in snapshot["segments"])


def compare(kind: str, recorded: bytes, simulated: bytes, recorded_patterns: Sequence[str] = (), simulated_patterns: Sequence[str] = ()) -> Row:
    if kind == "text":
        theirs, ours = figures_in(recorded, recorded_patterns), figures_in(simulated, simulated_patterns)
        return _figures(theirs["allocated"], ours["allocated"], theirs["reserved"], ours["reserved"])
    if kind == "snapshot":
        return _snapshots(load_snapshot(recorded), load_snapshot(simulated))
    name, *rest = kind.split(":")
    if name == "csv":
        return _figures(_csv(recorded, *rest), _csv(simulated, *rest))
    if name == "jsonl":
        return _figures(_jsonl(recorded, *rest), _jsonl(simulated, *rest))
    return _figures(_phases(recorded), _phases(simulated))


def _snapshots(recorded: Dict[str, Any], simulated: Dict[str, Any]) -> Row:
    theirs, ours = history(recorded), history(simulated)
    same = next((index for index, pair in enumerate(zip(theirs, ours)) if pair[0] != pair[1]), min(len(theirs), len(ours)))
    if same == len(theirs) and len(ours) != len(theirs):
        same -= 1  # a longer history is a difference, too
    peak, taken = peak_allocated(recorded), reserved(recorded)
    return Row(peak, peak_allocated(simulated) / peak - 1, taken, reserved(simulated) / taken - 1, len(theirs), same,
               frees_swapped=theirs != ours and frees_sorted(theirs) == frees_sorted(ours))


def figures_in(text: bytes, patterns: Sequence[str]) -> Dict[str, Figures]:
    """What the patterns find, as "allocated" and "reserved". A group named allocated_mib is a figure in MiB, and so on (UNITS); all other
    groups of the match, and the pattern's index, tell what the figure measures. If there are two figures for the same thing, the later one
    counts, because programs print their peak again and again."""
    found: Dict[str, Figures] = {"allocated": {}, "reserved": {}}
    for index, pattern in enumerate(patterns):
        for match in re.finditer(pattern, text.decode(errors="replace"), re.MULTILINE):
            values = {name: value for name, value in match.groupdict().items() if name.partition("_")[0] in found}
            of = (index, *(value.lower() for name, value in match.groupdict().items() if name not in values))
            for name, value in values.items():
                which, _, unit = name.partition("_")
                found[which][of] = float(value.replace(",", "")) * UNITS[unit]
    return found


def _errors(recorded: Figures, simulated: Figures) -> List[float]:
    return [simulated[key] / value - 1 for key, value in recorded.items() if key in simulated and value]


def _figures(allocated: Figures, simulated: Figures, reserved: Optional[Figures] = None, simulated_reserved: Optional[Figures] = None) -> Row:
    errors, reserved_errors = _errors(allocated, simulated), _errors(reserved or {}, simulated_reserved or {})
    if not errors and not reserved_errors:
        raise ValueError("the program left no figure that was recorded")
    worst, worst_reserved = (max(some, key=abs) if some else None for some in (errors, reserved_errors))
    return Row(int(max(allocated.values())) if errors else None, worst, int(max(reserved.values())) if reserved and reserved_errors else None,
               worst_reserved, figures=max(len(errors), len(reserved_errors)))


def _csv(data: bytes, keys: str, value: str) -> Dict[Any, float]:
    rows = csv.DictReader(io.StringIO(data.decode()))
    return {tuple(row[key] for key in keys.split(",")): float(row[value]) for row in rows if row.get(value)}


def _jsonl(data: bytes, chosen: str, keys: str, value: str) -> Dict[Any, float]:
    field, wanted = chosen.split("=")
    rows = [json.loads(line) for line in data.decode().splitlines()]
    return {tuple(row[key] for key in keys.split(",")): row[value] * MIB
            for row in rows if row[field] == wanted and isinstance(row.get(value), (int, float))}


def _phases(data: bytes) -> Dict[Any, float]:
    return {(rank["rank"], phase): facts["phase_peak_gib"] * GIB
            for result in json.loads(data)["results"] for rank in result["memory"]["per_rank"] for phase, facts in rank["phases"].items()}
