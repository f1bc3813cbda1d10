# SPDX-License-Identifier: Apache-2.0
"""Sums the driver's records of a trace, by the rules of trace_format/event.h alone, to compare them with the simulated device's ledger."""
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402

PAGE = 2 << 20  # what the device gives out is whole pages of this
# trace::DriverMemory
DEVICE, MANAGED, POOL_BLOCK, PHYSICAL, REFERENCE, RESERVATION, ARRAY, GRAPH, CONTEXT, MODULE, IMPORTED, MULTICAST, PINNED, REGISTERED = range(1, 15)
HANDLES = (PHYSICAL, REFERENCE, MULTICAST)
IN_PAGES = (DEVICE, MANAGED, ARRAY)
# trace::DriverTotalSource
MEM_GET_INFO, POOL, GRAPHS = 1, 2, 3


class Taken(NamedTuple):
    library: str
    kind: int
    size: int


class Physical:
    """Memory of cuMemCreate: it exists as long as it has a handle or a mapping."""

    def __init__(self, taken: Taken) -> None:
        self.taken = taken
        self.handles = 1
        self.mappings = 0


class DriverSum:
    """The sum of the records of one process so far. `under_way`: by how many bytes the driver's total may differ from it, because other threads
    allocate or free at the same time and their records come earlier or later."""

    def __init__(self, under_way: int = 0) -> None:
        self.under_way = under_way
        self.live: Dict[int, Taken] = {}
        self.handles: Dict[int, Physical] = {}
        self.physical: List[Physical] = []
        self.mappings: Dict[int, Any] = {}
        self.pools: Dict[int, int] = {}
        self.graphs: Dict[int, int] = {}
        self.code: Dict[str, int] = {}  # by library
        self.modules: Dict[int, str] = {}  # address -> the library that owns it
        self.host: Dict[int, int] = {}
        self.samples = 0

    def add(self, event: recorded_run.Event) -> None:
        getattr(self, event.type)(*event.fields)

    def driver_alloc(self, address: str, size: str, _device: str, _stream: str, _api: str, library: str, flags: str, result: str) -> None:
        if result != "0":
            assert size == "0" and address == "0", "a call that failed has taken nothing"
            return
        kind = int(flags) & 0xff
        taken = Taken(library, kind, int(size))
        if kind in (PINNED, REGISTERED):
            self.host[int(address)] = int(size)
        elif kind == MODULE:
            self.code[library] = self.code.get(library, 0) + int(size)
            self.modules[int(address)] = library
        elif kind == REFERENCE and int(address) in self.handles:
            self.handles[int(address)].handles += 1
        elif kind in HANDLES:
            self.handles[int(address)] = Physical(taken)
            self.physical.append(self.handles[int(address)])
        else:
            assert kind == RESERVATION or int(address) not in self.live, f"{address} was taken twice"
            self.live[self.key(kind, address)] = taken

    def driver_free(self, address: str, size: str, _device: str, _api: str, library: str, result: str, flags: str) -> None:
        kind = int(flags) & 0xff
        if kind == MODULE:
            self.code[self.modules.get(int(address), library)] -= int(size)
        elif result != "0" or address == "0":
            pass
        elif kind in (PINNED, REGISTERED):
            del self.host[int(address)]
        elif kind in HANDLES:
            handle = self.handles[int(address)]
            handle.handles -= 1
            if handle.handles == 0:
                del self.handles[int(address)]
        else:
            self.live.pop(self.key(kind, address), None)

    @staticmethod
    def key(kind: int, address: str) -> int:
        return -int(address) if kind == RESERVATION else int(address)

    def driver_map(self, address: str, size: str, _device: str, mapped: str, handle: str, result: str, _library: str) -> None:
        if result != "0":
            return
        if mapped == "1":
            self.mappings[int(address)] = self.handles[int(handle)]
            self.handles[int(handle)].mappings += 1
            return
        for begin in [begin for begin in self.mappings if int(address) <= begin < int(address) + int(size)]:
            self.mappings.pop(begin).mappings -= 1

    def driver_total(self, _device: str, source: str, used: str, _total: str, identity: str) -> None:
        if int(source) == POOL:
            self.pools[int(identity)] = int(used)
        elif int(source) == GRAPHS:
            self.graphs[0] = int(used)
        elif int(source) == MEM_GET_INFO:
            self.samples += 1
            assert abs(int(used) - self.total()) <= self.under_way, f"the driver says {used}, the records {self.total()}"

    def rows(self) -> Dict[str, int]:
        """Bytes by library; "" is the context's, "pools" what pools and graphs have reserved."""
        rows: Dict[str, int] = {"pools": sum(self.pools.values()) + sum(self.graphs.values())}
        for taken in self.live.values():
            if taken.kind in IN_PAGES:
                rows[taken.library] = rows.get(taken.library, 0) + -(-taken.size // PAGE) * PAGE
            elif taken.kind == CONTEXT:  # of no library in the ledger
                rows[""] = rows.get("", 0) + taken.size
        for library, size in self.code.items():
            rows[library] = rows.get(library, 0) + size
        for physical in self.physical:
            if physical.taken.kind == PHYSICAL and (physical.handles or physical.mappings):
                rows[physical.taken.library] = rows.get(physical.taken.library, 0) + physical.taken.size
        return {library: size for library, size in rows.items() if size}

    def total(self) -> int:
        return sum(self.rows().values())


class LedgerChange(NamedTuple):
    monotonic_ns: int
    what: str
    rows: Dict[str, int]  # after it, in the form of DriverSum.rows


def ledger_changes(journal: Path) -> List[LedgerChange]:
    """The device's own account of one process, change by change (injector/simulated_cuda/device/journal.h)."""
    live: Dict[Tuple[str, str], int] = {}
    changes = []
    for line in journal.read_text(encoding="utf-8").splitlines():
        monotonic_ns, _device, now, rest = line.split(" ", 3)
        call, _, library = rest.rpartition(" ")
        live[library, call] = int(now)
        rows: Dict[str, int] = {}
        for (owner, _), size in live.items():
            rows[owner] = rows.get(owner, 0) + size
        changes.append(LedgerChange(int(monotonic_ns), rest, {library: size for library, size in rows.items() if size}))
    return changes


def ledger_rows(ledger: Dict[str, Any], pool_calls: Any = ("Async", "MemAllocNode", "cuGraph")) -> Dict[str, int]:
    """The rows of a ledger, in the form of DriverSum.rows."""
    rows: Dict[str, int] = {}
    for row in ledger["devices"][0]["rows"]:
        library = "pools" if any(word in row["call"] for word in pool_calls) else row["library"]
        rows[library] = rows.get(library, 0) + row["live_bytes"]
    return {library: size for library, size in rows.items() if size}
