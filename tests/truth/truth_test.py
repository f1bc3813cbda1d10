# SPDX-License-Identifier: Apache-2.0
"""The report of a recorded run agrees with PyTorch's own introspection, for every sample, precision and optimizer.

    python3 truth_test.py [Gpt Resnet Gan AutoencoderLbfgs]                      tensors on the CPU
    python3 truth_test.py [GptOnCuda ResnetOnCuda GanOnCuda ...]                 on the simulated GPU: some of the variants
    python3 truth_test.py GptOnGpus                                              two GPUs, streams, graphs, cudaMallocAsync
    VRAMSCOPE_TEST_EVERY=1 python3 truth_test.py GptOnCuda                       all of them
"""
import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import recorded_run
from compare import compare
from recorded_run import SAMPLES, Event, RecordingTest, target

ORACLE = Path(__file__).resolve().parent / "oracle.py"
STEPS = "1,3,6"  # the one that makes optimizer state; a deep one (2 to 4 are); a light one after it
MOST_SHOWN = 12

VARIANTS: Dict[str, List[str]] = {
    "plain": [],
    "amp_bf16": ["--amp", "bf16"],
    "checkpointing": ["--checkpoint"],
    "accumulation_4": ["--accumulate", "4"],
}
OPTIMIZERS: Dict[str, List[str]] = {
    f"{optimizer}_{implementation.replace('-', '_')}": ["--optimizer", optimizer, "--optimizer-impl", implementation]
    for optimizer in ("sgd", "momentum", "adam", "adamw")
    for implementation in ("foreach", "for-loop", "fused")
}
EXPANDABLE = {"expandable_segments": ["--batch", "16"]}
AMP_FP16 = {"amp_fp16": ["--amp", "fp16"]}


class TruthTest(RecordingTest):
    """One sample; a method for each variant is added below."""

    sample: str
    size: Sequence[str]
    device = "cpu"
    devices: Sequence[str] = ("cpu",)  # as reports name them
    steps = STEPS

    def serves(self, interpreter: str) -> bool:
        return True

    def check(self, flags: Sequence[str], profiled: bool) -> None:
        for interpreter in filter(self.serves, recorded_run.pythons() or [recorded_run.python()]):
            with self.subTest(python=interpreter):
                self._check(interpreter, [*self.size, *flags], profiled)

    def _check(self, interpreter: str, flags: Sequence[str], profiled: bool) -> None:
        points_file, events_file, trace = (self.folder / name for name in ("points.jsonl", "events.jsonl", "run.vms"))
        oracle = [str(ORACLE), "--points", str(points_file), "--steps", self.steps, "--devices", ",".join(self.devices)]
        if profiled:
            oracle += ["--memory-events", str(events_file)]
        command = [interpreter, *oracle, str(self.program()), "--device", self.device, "--steps", "6", *flags]
        done = recorded_run.record(trace, command, env=self.environment(interpreter))
        if b"PyTorch" in done.stderr and b" has no " in done.stderr:
            self.skipTest(done.stderr.decode().strip().splitlines()[-1])
        self.assertEqual(done.code, 0, done.stderr.decode())

        self.agree(read_points(points_file), trace)
        if profiled:
            self._agree_with_profiler(events_file, trace)

    def program(self) -> Path:
        return SAMPLES / f"{self.sample}.py"

    def environment(self, interpreter: str) -> Dict[str, str]:
        """Of the recorded command."""
        return recorded_run.clean_environment()

    def _agree_with_profiler(self, events_file: Path, trace: Path) -> None:
        """Every allocation and free of the trace is one of torch.profiler's, of the same size, with the same total after it."""
        (begin, end), *expected = [tuple(json.loads(line)) for line in events_file.read_text().splitlines()]
        found = list(profiled_totals(recorded_run.events(trace, "alloc", "free"), self.devices[0], begin, end))
        self.assertGreater(len(found), 1000)
        for index, (ours, theirs) in enumerate(zip(found, expected)):
            self.assertEqual(ours, theirs, f"(bytes, total) of memory event {index} of {len(expected)}")
        self.assertEqual(len(found), len(expected))

    def agree(self, points: List[Dict[str, Any]], trace: Path) -> None:
        for device in self.devices:
            self._agree_on(device, [point for point in points if point["device"] == device], trace)

    def _agree_on(self, device: str, points: List[Dict[str, Any]], trace: Path) -> None:
        self.assertGreaterEqual(len(points), 15, "5 points of each of 3 steps")
        at = [argument for point in points for argument in ("--at", f"mono:{(point['before_ns'] + point['after_ns']) // 2}")]
        moments = recorded_run.ask("report", str(trace), "--device", device, "--blocks", *at)["moments"]
        differences = compare(points, moments)
        if differences:
            more = f"\n... and {len(differences) - MOST_SHOWN} more" if len(differences) > MOST_SHOWN else ""
            self.fail(f"{device}: {len(differences)} differences:\n" + "\n".join(map(str, differences[:MOST_SHOWN])) + more)


def read_points(file: Path) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def profiled_totals(events: Iterable[Event], device: str, begin: int, end: int) -> Iterator[Tuple[int, int]]:
    """(bytes, total) of one device as torch.profiler counts them: only blocks that were born while it ran."""
    code = 255 if device == "cpu" else 256 + int(device.split(":")[1])  # as events name it (trace_format/event.h)
    alive: Dict[int, int] = {}
    total = 0
    for event in events:
        if begin <= event.monotonic_ns <= end and event.number(2) == code:
            address = event.number(0)
            change = event.number(1) if event.type == "alloc" else -alive.pop(address, 0)
            if event.type == "alloc":
                alive[address] = change
            if change:
                total += change
                yield change, total


def add_tests(case: type, variants: Dict[str, List[str]], usual: Sequence[str] = ()) -> None:
    """With `usual`, the other variants run only with VRAMSCOPE_TEST_EVERY set."""
    for name, flags in variants.items():
        if usual and name not in usual and not os.environ.get("VRAMSCOPE_TEST_EVERY"):
            continue

        # torch.profiler runs along in every variant but the plain one, which must stand without it, and the one that it sees nothing of.
        def test(self: TruthTest, flags: List[str] = flags, profiled: bool = name not in ("plain", "cuda_malloc_async")) -> None:
            self.check(flags, profiled)

        setattr(case, f"test_{name}_agrees_with_pytorch", test)


class Gpt(TruthTest):
    sample = "gpt"
    size = ("--layers", "2", "--dim", "64", "--batch", "4")


class Resnet(TruthTest):
    sample = "resnet"
    size = ("--layers", "1", "--dim", "8", "--batch", "4")


class Gan(TruthTest):
    sample = "gan"
    size = ("--layers", "2", "--dim", "32", "--batch", "16")


class AutoencoderLbfgs(TruthTest):
    sample = "autoencoder_lbfgs"
    size = ("--layers", "2", "--dim", "32", "--batch", "16")


class OnCuda(TruthTest):
    """The same on the simulated GPU, where PyTorch's own caching allocator says which blocks there are."""

    device = "cuda"
    devices = ("cuda:0",)

    def serves(self, interpreter: str) -> bool:
        return simulated_device.is_served(interpreter)

    def environment(self, interpreter: str) -> Dict[str, str]:
        settings = "expandable_segments:True" if "expandable" in self.id() else ""
        return simulated_device.environment(interpreter, "a100-40gb", PYTORCH_CUDA_ALLOC_CONF=settings, PYTORCH_ALLOC_CONF=settings)


class GptOnCuda(OnCuda):
    sample, size = Gpt.sample, Gpt.size


class ResnetOnCuda(OnCuda):
    sample, size = Resnet.sample, Resnet.size


class GanOnCuda(OnCuda):
    sample, size = Gan.sample, Gan.size


class AutoencoderLbfgsOnCuda(OnCuda):
    sample, size = AutoencoderLbfgs.sample, AutoencoderLbfgs.size


class GptOnGpus(OnCuda):
    """What only GPUs have: several of them, streams, graphs, another allocator."""

    size = Gpt.size
    steps = "1,2,4,6"  # a graph is captured in step 4, and in step 6 only the optimizer calls PyTorch

    def program(self) -> Path:
        return ORACLE.parent / "gpt_on_gpus.py"

    def environment(self, interpreter: str) -> Dict[str, str]:
        settings = "backend:cudaMallocAsync" if "cuda_malloc_async" in self.id() else ""
        return simulated_device.environment(interpreter, "a100-40gb:2", PYTORCH_CUDA_ALLOC_CONF=settings, PYTORCH_ALLOC_CONF=settings)

    def check(self, flags: Sequence[str], profiled: bool) -> None:
        self.devices = ("cuda:0", "cuda:1") if "two_devices" in flags else ("cuda:0",)
        super().check(flags, profiled)


class GptCpp(TruthTest):
    """LibTorch alone: no Python in the recorded process."""

    size = ("--layers", "2", "--dim", "64", "--batch", "4")

    def check(self, flags: Sequence[str], profiled: bool) -> None:
        for number, interpreter in enumerate(recorded_run.pythons() or [recorded_run.python()]):
            if not self.serves(interpreter):
                continue
            program = target(f"oracle_gpt_{number}" if number else "oracle_gpt")
            with self.subTest(program=program):
                points_file, trace = self.folder / "points.jsonl", self.folder / "run.vms"
                command = [program, str(points_file), STEPS, "--device", self.device, "--steps", "6", *self.size, *flags]
                self.recorded(command, trace=trace, env=self.environment(interpreter))
                self.agree(read_points(points_file), trace)
                hooks = recorded_run.ask("report", str(trace))["coverage"]
                missing = [hook["hook"] for hook in hooks if hook["state"] == "missing" and "cu" in hook["hook"].lower()]
                self.assertEqual(missing, [], "a program without libtorch_cuda misses nothing of it")


class GptCppOnCuda(GptCpp):
    device, devices, serves = "cuda", OnCuda.devices, OnCuda.serves

    def environment(self, interpreter: str) -> Dict[str, str]:
        libtorch = simulated_device.torch_folder(interpreter) / "lib" / "libtorch_cuda.so"  # the sample is linked without it
        environment = simulated_device.environment(interpreter, "a100-40gb")
        return {**environment, "LD_PRELOAD": f"{environment['LD_PRELOAD']}:{libtorch}"}


add_tests(Gpt, {**VARIANTS, **OPTIMIZERS})
add_tests(Resnet, {**VARIANTS, **OPTIMIZERS})
add_tests(Gan, {**VARIANTS, **OPTIMIZERS})
add_tests(AutoencoderLbfgs, VARIANTS)
ON_CUDA = {**VARIANTS, **AMP_FP16, **EXPANDABLE}
add_tests(GptOnCuda, {**ON_CUDA, **OPTIMIZERS}, usual=(*ON_CUDA, "adamw_fused"))
add_tests(ResnetOnCuda, {**ON_CUDA, **OPTIMIZERS}, usual=("plain", "amp_fp16"))
add_tests(GanOnCuda, {**ON_CUDA, **OPTIMIZERS}, usual=("plain", "momentum_foreach"))
add_tests(AutoencoderLbfgsOnCuda, {**VARIANTS, **EXPANDABLE}, usual=("plain",))
add_tests(GptOnGpus, {
    "two_devices": ["two_devices"],
    "two_devices_checkpointing": ["two_devices", "--checkpoint"],
    "streams": ["streams"],
    "graph": ["graph"],
    "graphed_layers": ["graphed_layers"],
    "cuda_malloc_async": ["one_device"],
}, usual=("two_devices_checkpointing", "streams", "graph", "cuda_malloc_async"))
CPP = {
    **VARIANTS,
    **{optimizer: ["--optimizer", optimizer] for optimizer in ("sgd", "momentum", "adam", "adamw")},
}
add_tests(GptCpp, CPP)
add_tests(GptCppOnCuda, CPP)
del TruthTest, OnCuda  # they are no tests of their own

if __name__ == "__main__":
    recorded_run.main()
