# SPDX-License-Identifier: Apache-2.0
"""The driver's records against the simulated device's own ledger: after every call, to the byte, by library."""
import json
import random
import re
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, clean_environment, events, record, target  # noqa: E402
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))
from device import DeviceTest, environment  # noqa: E402
from ledger import DriverSum, ledger_rows  # noqa: E402

HERE = Path(__file__).resolve().parent
DRIVER_EVENTS = ("driver_alloc", "driver_free", "driver_map", "driver_total")


def simulated_folder(release: str = "cuda13") -> str:
    return str(Path(recorded_run.vramscope()).resolve().parent.parent / "lib/vramscope/simulated_cuda" / release)


class Calls(RecordingTest):
    def steps(self, *arguments: str, **variables: str) -> List[Dict[str, Any]]:
        """Runs the program; its steps, each with what the records before its mark add up to."""
        trace = self.folder / "run.vms"
        environment = clean_environment(LD_LIBRARY_PATH=simulated_folder(), VRAMSCOPE_SIMULATED_MODULE="4MiB", **variables)
        done = record(trace, [target("driver_calls"), *arguments], env=environment)
        self.assertEqual(done.code, 0, done.stderr.decode())
        steps = [json.loads(line) for line in done.stdout.splitlines()]
        self.sum = DriverSum()
        self.names = set()
        at = 0
        for event in events(trace, "mark", *DRIVER_EVENTS):
            if event.type != "mark":
                self.sum.add(event)
                if event.type == "driver_alloc":
                    self.names.add(event.fields[4])
            elif event.fields[0] == "9":
                self.assertEqual(event.number(1), steps[at]["step"])
                steps[at]["rows"] = self.sum.rows()
                at += 1
        self.assertEqual(at, len(steps), "every step is marked")
        return steps

    def assert_equal_at_every_step(self, steps: List[Dict[str, Any]]) -> None:
        for step in steps:
            self.assertEqual(step["rows"], ledger_rows(step["ledger"]), f'after step {step["step"]}, {step["call"]}')
        self.assertGreater(len(steps), 90)
        self.assertGreater(self.sum.samples, 0)
        self.assertFalse(self.sum.host)

    def test_functions_found_by_dlsym(self) -> None:
        self.assert_equal_at_every_step(self.steps("dlsym"))

    def test_functions_found_by_cu_get_proc_address(self) -> None:
        self.assert_equal_at_every_step(self.steps("address"))

    def test_the_switch_leaves_everything_alone(self) -> None:
        steps = self.steps("dlsym", VRAMSCOPE_NO_DRIVER_HOOKS="1")
        self.assertTrue(all(step["rows"] == {} for step in steps))

    def test_functions_for_the_threads_own_stream(self) -> None:
        self.assert_equal_at_every_step(self.steps("per-thread"))
        self.assertIn("cuMemAllocAsync_ptsz", self.names)

    def test_every_function_of_the_table_is_called(self) -> None:
        called = {step["call"] for step in self.steps("dlsym")} | {"cuGetProcAddress"}
        table = (recorded_run.SOURCE / "injector/cuda/driver_functions.def").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"^DRIVER_FUNCTION\(\w+, (\w+)", table, re.MULTILINE)) - called, set())


class Torch(DeviceTest):
    """Stock PyTorch: after every allocation, and after every library that takes memory itself."""

    def compare(self, **variables: str) -> None:
        for python in self.for_each_python():
            output, trace = self.folder / "ledgers.json", self.folder / "run.vms"
            trace.unlink(missing_ok=True)
            seed = str(random.randrange(1 << 30))
            run_environment = environment(python, VRAMSCOPE_SIMULATED_NCCL="100MiB", **variables)
            done = record(trace, [python, str(HERE / "torch_program.py"), str(output), seed], env=run_environment)
            self.assertEqual(done.code, 0, f"seed {seed}: {done.stderr.decode()}")
            ledgers = json.loads(output.read_text(encoding="utf-8"))
            records, at = DriverSum(), 0
            for event in events(trace, "mark", *DRIVER_EVENTS):
                if event.type != "mark":
                    records.add(event)
                elif event.fields[0] == "9":
                    expected = ledgers[at]
                    self.assertEqual(records.rows(), ledger_rows(expected["ledger"]), f"seed {seed}: after {expected['what']}")
                    at += 1
            self.assertEqual(at, len(ledgers))
            self.assertGreater(records.samples, 0)

    def test_segments(self) -> None:
        self.compare()

    def test_expandable_segments(self) -> None:
        self.compare(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True", PYTORCH_ALLOC_CONF="expandable_segments:True")

    def test_cuda_malloc_async(self) -> None:
        self.compare(PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync", PYTORCH_ALLOC_CONF="backend:cudaMallocAsync")


if __name__ == "__main__":
    recorded_run.main()
