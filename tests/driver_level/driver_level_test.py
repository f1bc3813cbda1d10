# SPDX-License-Identifier: Apache-2.0
"""Compares the driver's records with the simulated device's own ledger: after every call, to the byte, by library."""
import ctypes.util
import json
import os
import random
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from recorded_run import RecordingTest, clean_environment, events, record, target  # noqa: E402
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))
from device import DeviceTest, environment, torch_folder  # noqa: E402
from ledger import DriverSum, ledger_changes, ledger_rows  # noqa: E402

HERE = Path(__file__).resolve().parent
DRIVER_EVENTS = ("driver_alloc", "driver_free", "driver_map", "driver_total")


def simulated_folder(release: str = "cuda13") -> str:
    return str(Path(recorded_run.vramscope()).resolve().parent.parent / "lib/vramscope/simulated_cuda" / release)


class Calls(RecordingTest):
    def steps(self, *arguments: str, **variables: str) -> List[Dict[str, Any]]:
        """Runs the program. Returns its steps, each with the sum of the records before its mark."""
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
        self.assertGreater(len(steps), 120)
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


@drawn.share(2)
class Clients(RecordingTest):
    """Libraries that reach the driver in different ways, in one process."""

    def compare(self, *clients: str, preload: str = "", program: str = "clients", under: Sequence[str] = (),
                under_way: int = 0) -> None:
        """The program prints the same with and without the recorder, and each library has the same bytes in the trace as in the ledger."""
        libraries = []
        for client in clients:
            deep, colon, name = client.rpartition(":")
            libraries.append(deep + colon + target(f"lib{name}.so"))
        folders = f"{simulated_folder('cuda13')}:{simulated_folder('cuda12')}"
        run_environment = clean_environment(LD_LIBRARY_PATH=folders, **({"LD_PRELOAD": preload} if preload else {}))
        trace = self.folder / "run.vms"
        command = [*under, target(program), *libraries]
        alone = recorded_run.run(command, env=run_environment)
        done = record(trace, command, env=run_environment)
        self.assertEqual((alone.code, alone.stderr), (0, b""))
        self.assertEqual((done.code, done.stderr), (0, b""))
        alone_ledger, alone_loader = self.parts(alone.stdout.decode())
        ledger, loader = self.parts(done.stdout.decode())
        self.assertEqual(ledger_rows(ledger), ledger_rows(alone_ledger), "the ledger is the same without us")
        self.assertEqual(alone_loader.split()[0], loader.split()[0], "the loader answers the same")
        self.assertEqual((alone_loader.split()[1], loader.split()[1]), ("0", "1"), "and sees who asks")
        records = DriverSum(under_way)
        for event in events(trace, *DRIVER_EVENTS):
            records.add(event)
        self.assertEqual(records.rows(), ledger_rows(ledger))
        self.assertEqual(len(records.rows()), 1 + len(clients), "the context and each library")

    @staticmethod
    def parts(stdout: str) -> Tuple[Any, str]:
        """The ledger, and what the program prints about the loader."""
        text = stdout[stdout.index('{"process"'):]
        end = text.rindex("}\n") + 1
        return json.loads(text[:end]), text[end:]

    def test_shared_runtime(self) -> None:
        self.compare("client_of_13")

    def test_static_runtime(self) -> None:
        self.compare("client_of_static")

    def test_two_runtimes_shared_and_one_static(self) -> None:
        self.compare("client_of_12", "client_of_static", "client_of_13")

    def test_linked_to_the_driver(self) -> None:
        self.compare("client_of_driver", "deep:client_of_12")

    def test_deep_binding(self) -> None:
        self.compare("deep:client_of_13", "deep:client_of_static")
        self.compare("deep:client_of_driver")

    def test_sanitizers(self) -> None:
        for program in ("clients_address", "clients_thread"):
            with self.subTest(program=program):
                self.compare("client_of_13", "client_of_static", program=program)

    def test_debugger(self) -> None:
        if shutil.which("gdb") is None:
            self.skipTest("there is no gdb")
        self.compare("client_of_12", "client_of_static", under=["gdb", "-q", "-nx", "-readnever", "-batch", "-ex", "run", "--args"])

    def test_openmp(self) -> None:
        """Threads of the compiler's OpenMP, of LLVM's, and of both. LLVM's looks functions up itself, and serves the compiler's calls if loaded first."""
        under_way = 3 * (2 << 20)  # the first client's 2 MiB, by each other thread of four
        self.compare("client_with_openmp", "client_of_static", under_way=under_way)
        llvm = ctypes.util.find_library("omp") or ctypes.util.find_library("omp5")
        if llvm is None:
            self.skipTest("LLVM's OpenMP is not installed")
        self.compare("client_with_openmp", "client_of_12", preload=llvm, under_way=under_way)
        self.compare("client_with_openmp", "client_of_static", preload=f"libgomp.so.1:{llvm}", under_way=under_way)

    def test_other_allocators(self) -> None:
        for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
            with self.subTest(allocator=name):
                path = os.environ.get("VRAMSCOPE_TEST_ALLOCATORS", "/usr/lib/x86_64-linux-gnu") + "/" + name
                if not Path(path).exists():
                    self.skipTest(f"{name} is not installed")
                self.compare("client_of_13", "client_of_static", preload=path)


@drawn.share(2)
class Samples(DeviceTest):
    """All sample programs: after every change of the device's ledger and every record of the driver, the same rows to the byte."""

    def compare(self, python: str, command: Sequence[str], preload: str = "", **variables: str) -> None:
        """A call is recorded after it has allocated, or before it frees. So a ledger equals the sum of the records before or after one of
        those between this change and the next, and the sum after each record equals the ledger before or after that moment."""
        trace, journal = self.folder / "run.vms", self.folder / "journal"
        run_environment = environment(python, VRAMSCOPE_SIMULATED_JOURNAL=str(journal), **variables)
        run_environment["LD_PRELOAD"] += f":{preload}" if preload else ""
        trace.unlink(missing_ok=True)
        done = record(trace, command, env=run_environment, timeout=900)
        self.assertEqual(done.code, 0, done.stderr.decode())
        changes = ledger_changes(journal)
        records, around, compared, at = DriverSum(), [{}], 0, 0
        ledger: Dict[str, int] = {}
        for event in events(trace, *DRIVER_EVENTS):
            begin = at
            while at < len(changes) and changes[at].monotonic_ns < event.monotonic_ns:
                at += 1
            if at != begin:
                self.assertIn(ledger, around, f"before change {begin}, {changes[begin].what}")
                around, ledger = [around[-1]], changes[at - 1].rows
            records.add(event)
            around.append(records.rows())
            coming = changes[at].rows if at < len(changes) else ledger
            self.assertIn(around[-1], (ledger, coming), f"after record {compared}, {event}")
            compared += 1
        self.assertEqual(around[-1], changes[-1].rows)
        self.assertGreater(compared, 10)
        self.assertTrue(any(change.what.startswith("kernels") for change in changes), "code is loaded at first launches")

    def test_python_samples(self) -> None:
        python = recorded_run.python()
        self.compare(python, [python, str(HERE / "samples.py")])

    def test_python_samples_in_expandable_segments(self) -> None:
        settings = "expandable_segments:True"
        python = recorded_run.python()
        self.compare(python, [python, str(HERE / "samples.py")], PYTORCH_CUDA_ALLOC_CONF=settings, PYTORCH_ALLOC_CONF=settings)

    def test_libtorch_sample(self) -> None:
        command = [str(Path(target("list_events")).parent.parent / "samples/sample_gpt"), "--device", "cuda", "--steps", "2", "--layers", "2", "--dim", "64"]
        if not Path(command[0]).exists():
            self.skipTest("the LibTorch sample was not built")
        python, settings = recorded_run.python(), "expandable_segments:True"
        kernels = str(torch_folder(python) / "lib/libtorch_cuda.so")  # the sample is linked without it
        self.compare(python, command, kernels)
        self.compare(python, command, kernels, PYTORCH_CUDA_ALLOC_CONF=settings, PYTORCH_ALLOC_CONF=settings)


@drawn.share(2)
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
