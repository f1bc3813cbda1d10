# SPDX-License-Identifier: Apache-2.0
"""Compares the driver's records after an attach with the simulated device's own ledger: to the byte, by library, at every moment."""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent, HERE.parent / "simulated_cuda", HERE.parent / "driver_level"):
    sys.path.insert(0, str(folder))

import device as simulated_device
import drawn
import recorded_run
from attach_test import Training, attach
from ledger import HANDLES, MEM_GET_INFO, DriverSum, ledger_rows
import tracing  # noqa: E402  next to this file

EVENTS = ("mark", "driver_alloc", "driver_free", "driver_map", "driver_total")
PYTORCH = "libc10_cuda.so"


class SinceAttach(DriverSum):
    """Memory that others than PyTorch's allocator held before the attach is known only as one number: `before`."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self.before = before

    def driver_total(self, _device: str, source: str, used: str, total: str, identity: str) -> None:
        used = str(int(used) - self.before) if int(source) == MEM_GET_INFO else used
        super().driver_total(_device, source, used, total, identity)

    def driver_free(self, address: str, *rest: str) -> None:
        """Handles from before the attach are not known: their memory counts until it is unmapped."""
        if int(rest[-1]) & 0xff not in HANDLES or int(address) in self.handles:
            super().driver_free(address, *rest)


@drawn.share(2)
class DriverLevel(Training):
    def check(self, settings: str) -> None:
        interpreter = recorded_run.python()
        if not simulated_device.is_served(interpreter):
            self.skipTest("this torch has no CUDA part")
        output, trace = self.folder / "ledgers.json", self.folder / "run.vms"
        variables = {"PYTORCH_CUDA_ALLOC_CONF": settings, "VRAMSCOPE_SIMULATED_NCCL": "100MiB", "VRAMSCOPE_SIMULATED_KERNELS": "0"}
        environment = simulated_device.environment(interpreter, "a100-40gb", **variables)
        process = self.start(str(HERE / "driver_target.py"), str(output), env=environment)
        done = attach(process.pid, "-o", str(trace))
        self.assertEqual(done.code, 0, done.stderr.decode())
        _, errors = process.communicate("", timeout=900)
        self.assertEqual((process.returncode, errors), (0, ""))

        ledgers = [ledger_rows(ledger) for ledger in json.loads(output.read_text())]
        before = {library: size for library, size in ledgers[0].items() if library != PYTORCH}
        self.assertGreater(ledgers[0][PYTORCH], 0)
        records, at = SinceAttach(sum(before.values())), 0
        for event in recorded_run.events(trace, *EVENTS):
            if event.type != "mark":
                records.add(event)
            elif event.fields[0] == "9":
                at = event.number(1) - 1
                rows = {library: records.rows().get(library, 0) + before.get(library, 0) for library in ledgers[at]}
                self.assertEqual(rows, ledgers[at], f"at moment {at}")
        self.assertEqual(at, len(ledgers) - 1)
        self.assertGreater(records.samples, 0)
        self.assertTrue(any(library.startswith("libnccl") for ledger in ledgers[1:] for library in ledger), "it came after the attach")
        self.assertNotIn(PYTORCH, records.rows(), "all segments have gone, also those of before")

    def test_segments_of_cuda_malloc(self) -> None:
        self.check("expandable_segments:False")

    def test_expandable_segments(self) -> None:
        self.check("expandable_segments:True")


if __name__ == "__main__":
    if not tracing.is_allowed():
        print("this system lets nobody trace")
        sys.exit(77)  # ctest shows it as skipped
    recorded_run.main()
