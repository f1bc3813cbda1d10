# SPDX-License-Identifier: Apache-2.0
"""The report of a recorded run agrees with PyTorch's own introspection, for every sample, precision and optimizer.

    python3 truth_test.py [Gpt Resnet Gan AutoencoderLbfgs]                      tensors on the CPU
    python3 truth_test.py [GptOnCuda ResnetOnCuda GanOnCuda ...]                 on the simulated GPU: some of the variants
    python3 truth_test.py GptOnGpus                                              two GPUs, streams, graphs, cudaMallocAsync
    VRAMSCOPE_TEST_EVERY=1 python3 truth_test.py GptOnCuda                       all of them
"""
import json
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "simulated_cuda"))

import device as simulated_device
import drawn
import recorded_run
from compare import compare
from recorded_run import SAMPLES, Event, RecordingTest, target

ORACLE = Path(__file__).resolve().parent / "oracle.py"
TRAINED_STEPS = 6
STEPS = "1,3,6"  # the one that makes optimizer state; a deep one (2 to 4 are); a light one after it
MOST_SHOWN = 12
EVERY = drawn.EVERY  # each variant, in a process of its own

PLAIN: Dict[str, List[str]] = {"plain": []}
VARIANTS: Dict[str, List[str]] = {
    "amp_bf16": ["--amp", "bf16"],
    "checkpointing": ["--checkpoint"],
    "accumulation_4": ["--accumulate", "4"],
}
OPTIMIZERS: Dict[str, Dict[str, List[str]]] = {
    optimizer: {
        f"{optimizer}_{implementation.replace('-', '_')}": ["--optimizer", optimizer, "--optimizer-impl", implementation]
        for implementation in ("foreach", "for-loop", "fused")
    }
    for optimizer in ("sgd", "momentum", "adam", "adamw")
}
ALL_OPTIMIZERS = {name: flags for group in OPTIMIZERS.values() for name, flags in group.items()}
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

    def check(self, trainings: Sequence[Sequence[str]], profiled: bool) -> None:
        for interpreter in filter(self.serves, recorded_run.pythons() or [recorded_run.python()]):
            with self.subTest(python=interpreter):
                self._check(interpreter, [[*self.size, *flags] for flags in trainings], profiled)

    def _check(self, interpreter: str, trainings: Sequence[Sequence[str]], profiled: bool) -> None:
        points_file, events_file, trace = (self.folder / name for name in ("points.jsonl", "events.jsonl", "run.vms"))
        command = [interpreter, str(ORACLE), "--points", str(points_file), "--steps", self.steps, "--devices", ",".join(self.devices)]
        if profiled:
            command += ["--memory-events", str(events_file)]
        command.append(str(self.program()))
        for number, flags in enumerate(trainings):
            command += [*(["--then"] if number else []), "--device", self.device, "--steps", str(TRAINED_STEPS), *flags]
        deep = ",".join(f"{first}-{first + 2}" for first in range(2, TRAINED_STEPS * len(trainings), TRAINED_STEPS))
        done = recorded_run.record(trace, command, ["--deep-steps", deep], env=self.environment(interpreter))
        self.assertEqual(done.code, 0, done.stderr.decode())

        points = read_points(points_file)
        for number, flags in enumerate(trainings):
            found = [point for point in points if point["training"] == number]
            if found or b"PyTorch" not in done.stderr or b" has no " not in done.stderr:
                with self.subTest(flags):
                    self.agree(found, trace)
        if profiled:
            self._agree_with_profiler(events_file, trace)

    def program(self) -> Path:
        return SAMPLES / f"{self.sample}.py"

    def environment(self, interpreter: str) -> Dict[str, str]:
        """The environment of the recorded command."""
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
            self.fail(f"{device}: {len(differences)} differences:\n" + "\n".join(map(str, differences[:MOST_SHOWN])) + more +
                      "\n" + what_is_known_of(trace))


def what_is_known_of(trace: Path) -> str:
    """What may explain a difference: records that were lost, hooks that had trouble, and the ranges (modules, autocast) of each step."""
    facts, report = recorded_run.ask("info", str(trace)), recorded_run.ask("report", str(trace))
    trouble = [each for each in facts["coverage"] if each["state"] not in ("hooked", "proven", "missing")]
    begun = [event.monotonic_ns - facts["start_monotonic_ns"] for event in recorded_run.events(trace, "range_begin")]
    steps = []
    for number, step in enumerate(report["steps"], 1):
        within = [time for time in begun if step["begin_ns"] <= time < step["end_ns"]]
        first = f", the first after {(within[0] - step['begin_ns']) / 1e6:.1f} ms" if within else ""
        steps.append(f"step {number}{' deep' if step['deep'] else ''}: {len(within)} ranges{first}")
    return "\n".join([f"lost: {facts['metadata'].get('check.lost_records')}, {facts['dropped_events']}; trouble: {trouble}", *steps])


def read_points(file: Path) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def profiled_totals(events: Iterable[Event], device: str, begin: int, end: int) -> Iterator[Tuple[int, int]]:
    """(bytes, total) of one device as torch.profiler counts them: only blocks that were allocated while it ran."""
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
        if not usual or name in usual or EVERY:
            # torch.profiler also runs, except in the plain variant, which must pass without it, and in the one whose allocator it cannot see.
            _add_test(case, name, [flags], profiled=name not in ("plain", "cuda_malloc_async"))


def add_tests_in_turn(case: type, *groups: Dict[str, List[str]]) -> None:
    """The variants of a group train one after the other in one process, because importing PyTorch takes longest. One group of three is drawn."""
    turn = drawn.chosen(["_".join(group) for group in groups], 3)
    for group in groups:
        if EVERY:
            add_tests(case, group)
        else:
            _add_test(case, "_".join(group), list(group.values()), profiled=True, has_turn="_".join(group) in turn)


def _add_test(case: type, name: str, trainings: Sequence[Sequence[str]], profiled: bool, has_turn: bool = True) -> None:
    def test(self: Any) -> None:
        if not has_turn and not drawn.is_asked_for(case.__qualname__, test_name):
            self.skipTest("not its turn; VRAMSCOPE_TEST_EVERY=1 runs it")
        self.check(trainings, profiled)

    test_name = f"test_{name}_agrees_with_pytorch"
    setattr(case, test_name, test)


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
    """The same on the simulated GPU, where PyTorch's own caching allocator lists its blocks."""

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

    def check(self, trainings: Sequence[Sequence[str]], profiled: bool) -> None:
        self.devices = ("cuda:0", "cuda:1") if "two_devices" in trainings[0] else ("cuda:0",)
        super().check(trainings, profiled)


class GptCpp(TruthTest):
    """LibTorch alone: no Python in the recorded process."""

    size = ("--layers", "2", "--dim", "64", "--batch", "4")

    def check(self, trainings: Sequence[Sequence[str]], profiled: bool) -> None:
        (flags,) = trainings
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


for case in (Gpt, Resnet, Gan):
    add_tests(case, PLAIN)
    add_tests_in_turn(case, VARIANTS, *OPTIMIZERS.values())
add_tests(AutoencoderLbfgs, PLAIN)
add_tests_in_turn(AutoencoderLbfgs, VARIANTS)
ON_CUDA = {**VARIANTS, **AMP_FP16}
for case in (GptOnCuda, ResnetOnCuda, GanOnCuda, AutoencoderLbfgsOnCuda):
    add_tests(case, PLAIN)
add_tests_in_turn(GptOnCuda, ON_CUDA)
add_tests(GptOnCuda, {**EXPANDABLE, **ALL_OPTIMIZERS}, usual=(*EXPANDABLE, "adamw_fused"))
add_tests(ResnetOnCuda, {**ON_CUDA, **EXPANDABLE, **ALL_OPTIMIZERS}, usual=("amp_fp16",))
add_tests(GanOnCuda, {**ON_CUDA, **EXPANDABLE, **ALL_OPTIMIZERS}, usual=("momentum_foreach",))
add_tests(AutoencoderLbfgsOnCuda, {**VARIANTS, **EXPANDABLE}, usual=("none",))
add_tests(GptOnGpus, {
    "two_devices": ["two_devices"],
    "two_devices_checkpointing": ["two_devices", "--checkpoint"],
    "streams": ["streams"],
    "graph": ["graph"],
    "graphed_layers": ["graphed_layers"],
    "cuda_malloc_async": ["one_device"],
}, usual=("two_devices_checkpointing", "streams", "graph", "cuda_malloc_async"))
CPP = {
    **PLAIN,
    **VARIANTS,
    **{optimizer: ["--optimizer", optimizer] for optimizer in ("sgd", "momentum", "adam", "adamw")},
}
add_tests(GptCpp, CPP)
add_tests(GptCppOnCuda, CPP)
for case in (Gpt, Resnet, Gan, AutoencoderLbfgs, GptOnCuda, ResnetOnCuda, GanOnCuda, AutoencoderLbfgsOnCuda, GptOnGpus):
    drawn.share(2)(case)
del TruthTest, OnCuda  # they are no tests of their own

if __name__ == "__main__":
    recorded_run.main()
