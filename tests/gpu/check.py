# SPDX-License-Identifier: Apache-2.0
"""What check.sh measures: the GPU's facts; real recordings against dry runs, event for event; the oracle on real CUDA tensors."""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

import recorded_run  # noqa: E402

STEPS = ("--steps", "4")
PROGRAMS: Dict[str, List[str]] = {
    "GPT": ["gpt.py"],
    "GPT, bf16": ["gpt.py", "--amp", "bf16"],
    "GPT, checkpointing": ["gpt.py", "--checkpoint"],
    "GPT, AdamW fused, 4 micro-batches": ["gpt.py", "--optimizer-impl", "fused", "--accumulate", "4"],
    "ResNet": ["resnet.py"],
    "ResNet, bf16": ["resnet.py", "--amp", "bf16"],
    "GAN": ["gan.py"],
}
ORACLES = ("GptOnCuda", "ResnetOnCuda", "GanOnCuda", "AutoencoderLbfgsOnCuda", "GptOnGpus")
MIB = 1 << 20


def facts(python: str, what: str) -> Dict[str, Any]:
    done = subprocess.run([python, str(Path(__file__).with_name("facts.py")), what], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def model_named(product: str) -> Optional[str]:
    """The model that `vramscope dryrun --gpu list` has for what the driver calls the GPU."""
    listing = subprocess.run([recorded_run.vramscope(), "dryrun", "--gpu", "list"], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        if line.rstrip().endswith(product):
            return line.split()[0]
    return None


def history(trace: Path) -> List[int]:
    """Sizes of the allocations (positive) and frees (negative) on the first GPU, in order."""
    sizes: Dict[int, int] = {}
    changes = []
    for event in recorded_run.events(trace, "alloc", "free"):
        if event.number(2) == 256:  # cuda:0
            address = event.number(0)
            if event.type == "alloc":
                sizes[address] = event.number(1)
            changes.append(sizes.get(address, 0) if event.type == "alloc" else -sizes.pop(address, 0))
    return changes


def peak(trace: Path) -> Tuple[int, int]:
    """(allocated, reserved) bytes."""
    device = next(device for device in recorded_run.ask("report", str(trace))["devices"] if device["chosen"])
    return device["peak"]["allocated_bytes"], device["peak_reserved_bytes"]


def equal_events(real: List[int], predicted: List[int]) -> str:
    same = next((index for index, (one, other) in enumerate(zip(real, predicted)) if one != other), min(len(real), len(predicted)))
    return f"{same:,} of {len(real):,}" if same == len(real) == len(predicted) else f"first {same:,} of {len(real):,}, predicted {len(predicted):,}"


def error(real: int, predicted: int) -> str:
    return "0" if real == predicted else f"{100 * (predicted / real - 1):+.3f} %"


def compare_programs(python: str, model: str, programs: Dict[str, List[str]]) -> List[str]:
    rows = ["| program | events identical, in order | peak allocated, MiB | error | peak reserved, MiB | error |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(prefix="vramscope-gpu-") as folder:
        for name, words in programs.items():
            real, predicted = Path(folder) / "real.vms", Path(folder) / "predicted.vms"
            command = [python, str(recorded_run.SAMPLES / words[0]), "--device", "cuda", *STEPS, *words[1:]]
            recorded = recorded_run.record(real, command, timeout=600, env=dict(os.environ))
            options = ["--gpu", model, "--steps", "all", "--keep-init", "-o", str(predicted)]
            dry = recorded_run.run([recorded_run.vramscope(), "dryrun", *options, "--", *command], timeout=600)
            if recorded.code or dry.code:
                rows.append(f"| {name} | failed: {(recorded.stderr if recorded.code else dry.stderr).decode().strip().splitlines()[-1:]} | | | | |")
                continue
            (allocated, reserved), (allocated_too, reserved_too) = peak(real), peak(predicted)
            rows.append(f"| {name} | {equal_events(history(real), history(predicted))} | {allocated / MIB:,.1f} | {error(allocated, allocated_too)} "
                        f"| {reserved / MIB:,.0f} | {error(reserved, reserved_too)} |")
    return rows


def ask_oracle(python: str) -> List[str]:
    """Each class of tests/truth on real tensors."""
    lines = []
    for name in ORACLES:
        environment = {**os.environ, "VRAMSCOPE_TEST_PYTHON": python, "VRAMSCOPE_TEST_REAL_GPU": "1"}
        done = subprocess.run([sys.executable, str(TESTS / "truth/truth_test.py"), name], env=environment, capture_output=True, text=True)
        lines.append(f"- oracle {name}: {done.stderr.strip().splitlines()[-1]}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="an interpreter with PyTorch that finds the GPU")
    parser.add_argument("--out", type=Path, default=TESTS.parent / "docs/gpu-results.md")
    parser.add_argument("--quick", action="store_true", help="one program, no oracle")
    options = parser.parse_args()

    context, kernels = facts(options.python, "context"), facts(options.python, "kernels")
    model = model_named(context["gpu"])
    lines = [f"## {context['gpu']}, driver {context['driver']}, PyTorch {context['torch']}, {datetime.date.today()}", "",
             f"- {context['capacity_bytes'] / MIB:,.0f} MiB, {context['multiprocessors']} multiprocessors, cuDNN {context['cudnn']}",
             f"- context {context['used_bytes'] / MIB:,.0f} MiB, with the first kernels {kernels['used_bytes'] / MIB:,.0f} MiB, if nobody else uses the GPU", ""]
    if model is None:
        lines += [f"No model of `vramscope dryrun --gpu list` is called {context['gpu']}: nothing to compare dry runs with.", ""]
    else:
        chosen = dict(list(PROGRAMS.items())[:1]) if options.quick else PROGRAMS
        lines += [f"Dry runs on `{model}` against recordings of this GPU:", "", *compare_programs(options.python, model, chosen), ""]
    if not options.quick:
        lines += [*ask_oracle(options.python), ""]
    if not options.out.exists():
        options.out.write_text("# Results on real GPUs\n\nWritten by `tests/gpu/check.sh`, newest last.\n\n", encoding="utf-8")
    with options.out.open("a", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
