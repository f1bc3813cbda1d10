# SPDX-License-Identifier: Apache-2.0
"""Measures `vramscope try` on Keras programs: the peak of memory with a change applied from outside, against the same change in the program's code
(keras_models.py). Both are dry runs. `try` compares runs by requested bytes, so the table does too; the last columns are about allocated bytes.

    VRAMSCOPE_BIN=build/release/bin/vramscope VRAMSCOPE_TENSORFLOW_PYTHON=... python3 tests/tensorflow/try_accuracy.py --out FOLDER [--model mlp ...]

One cell takes two runs of 8 to 20 seconds. FOLDER keeps each figure, and a second call measures only what is missing. Also measured is the noise: the
unchanged program against itself. An error is tried / written - 1; a wrong sign is a change of more than 1 % that goes in the other direction."""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

PROGRAM = str(Path(__file__).resolve().parent / "keras_models.py")
PYTHON = os.environ.get("VRAMSCOPE_TENSORFLOW_PYTHON", "")
GPU = "h100-80gb"
BASE = {"--batch": "64", "--steps": "6"}
CANNOT_JUDGE = 3
NOISE = 3  # runs of each unchanged program
# The environment that `try` gives to both of its runs.
ORDER = {"PYTHONHASHSEED": "0", "TF_NUM_INTEROP_THREADS": "1"}


class Change(NamedTuple):
    outside: List[str]
    written: Dict[str, str]  # options of keras_models.py
    gpu: str = GPU


CHANGES = {
    "amp bf16": Change(["--amp", "bf16"], {"--policy": "mixed_bfloat16"}),
    "amp fp16": Change(["--amp", "fp16"], {"--policy": "mixed_float16"}),
    "precision bf16": Change(["--precision", "bf16"], {"--policy": "bfloat16"}),
    "optimizer momentum": Change(["--optimizer", "momentum"], {"--optimizer": "momentum"}),
    "optimizer adafactor": Change(["--optimizer", "adafactor"], {"--optimizer": "adafactor"}),
    "batch 0.5x": Change(["--batch", "0.5x"], {"--batch": "32", "--steps": "12"}),
    "batch 2x": Change(["--batch", "2x"], {"--batch": "128", "--steps": "3"}),
    "accumulate 2": Change(["--accumulate", "2"], {"--batch": "32", "--steps": "12", "--accumulate": "2"}),
    "shard ddp:2": Change(["--shard", "ddp:2"], {"--replicas": "2"}, GPU + ":2"),
    "checkpoint all": Change(["--checkpoint", "all"], {"--recompute": ""}),
}
MODELS = ("mlp", "cnn", "transformer", "lstm", "unet", "text", "eager_mlp", "graph_transformer", "resnet", "mobilenet", "efficientnet")


def program(model: str, options: Dict[str, str]) -> List[str]:
    words = [PYTHON, PROGRAM, "--model", model]
    for name, value in {**BASE, **options}.items():
        words += [name, value] if value else [name]
    return words


def asked(words: List[str]) -> Any:
    """The answer of a command in JSON, or what it says instead."""
    done = subprocess.run([os.environ["VRAMSCOPE_BIN"], *words], capture_output=True, text=True, check=False, env={**os.environ, **ORDER})
    answered = done.returncode in (0, CANNOT_JUDGE) and done.stdout.startswith("{")  # a program that fails has a peak too
    return json.loads(done.stdout) if answered else {"failed": f"exit {done.returncode}: {done.stderr[-600:]}"}


class Measured:
    """Figures by name, kept in a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._file = folder, folder / "figures.json"
        self.figures: Dict[str, Any] = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}

    def keep(self, key: str, value: Any) -> None:
        self.figures[key] = value
        self._file.write_text(json.dumps(self.figures, indent=1), encoding="utf-8")

    def dry_run(self, key: str, words: List[str], gpu: str = GPU, trace: Optional[Path] = None) -> None:
        if key not in self.figures or (trace is not None and not trace.exists()):
            kept = ["-o", str(trace)] if trace is not None else []
            answer = asked(["dryrun", "--gpu", gpu, "--steps", "all", "--xla", "off", "--json", *kept, "--", *words])
            self.keep(key, peaks(answer["peak"]) if "peak" in answer else answer)

    def tried(self, key: str, change: Change, words: List[str], before: Path) -> None:
        if key in self.figures:
            return
        how = ["--dry", "--gpu", change.gpu, "--steps", "all", "--xla", "off", "--before", str(before)]
        answer = asked(["try", *how, "--json", *change.outside, "--", *words])
        whys = [one["why"] for one in answer.get("not_applied", [])]
        self.keep(key, {"refused": whys} if whys else peaks(answer["after"]["peak"]) if "after" in answer else answer)


def peaks(peak: Dict[str, Any]) -> Dict[str, int]:
    return {"requested": peak["requested_peak_bytes"], "allocated": peak["allocated_bytes"]}


def measure_noise(measured: Measured, model: str) -> None:
    for number in range(1, NOISE):
        measured.dry_run(f"{model} | plain {number}", program(model, {}))


def measure(measured: Measured, model: str, name: str) -> None:
    before = measured.folder / f"{model}.vms"
    change = CHANGES[name]
    measured.dry_run(f"{model} | plain 0", program(model, {}), trace=before)
    measured.dry_run(f"{model} | {name} | written", program(model, change.written), change.gpu)
    measured.tried(f"{model} | {name} | tried", change, program(model, {}), before)
    print(model, name, measured.figures[f"{model} | {name} | written"], measured.figures[f"{model} | {name} | tried"], flush=True)


def error_of(figures: Dict[str, Any], model: str, name: str, which: str) -> Optional[float]:
    """Percent; None if the change was refused or a run failed."""
    tried, written = (figures.get(f"{model} | {name} | {side}", {}).get(which) for side in ("tried", "written"))
    return 100 * (tried / written - 1) if tried and written else None


def has_wrong_sign(figures: Dict[str, Any], model: str, name: str, which: str) -> bool:
    plain = figures[f"{model} | plain 0"][which]
    tried, written = (figures[f"{model} | {name} | {side}"][which] / plain - 1 for side in ("tried", "written"))
    return tried * written < 0 and max(abs(tried), abs(written)) > 0.01


def summary(figures: Dict[str, Any], cells: List[Tuple[str, str]], which: str) -> str:
    """ "equal | median | p95 | worst | wrong signs" of the compared cells."""
    compared = [(cell, error) for cell in cells if (error := error_of(figures, *cell, which)) is not None]
    if not compared:
        return " | | | |"
    ordered = sorted((error for _, error in compared), key=abs)
    equal = sum(1 for error in ordered if error == 0)
    p95 = abs(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))])
    wrong = sum(1 for cell, _ in compared if has_wrong_sign(figures, *cell, which))
    return f"{equal} | {statistics.median(map(abs, ordered)):.3f} | {p95:.2f} | {ordered[-1]:+.2f} | {wrong}"


def print_tables(figures: Dict[str, Any], models: List[str], changes: List[str]) -> None:
    columns = " | equal | median | p95 | worst | wrong signs"
    print(f"| requested, then allocated | cells | refused or failed{columns}{columns} |\n|{'---|' * 13}")
    cells = [(model, name) for model in models for name in changes if f"{model} | {name} | tried" in figures]
    groups = [("all", cells)]
    groups += [(name, [cell for cell in cells if cell[1] == name]) for name in changes]
    groups += [(model, [cell for cell in cells if cell[0] == model]) for model in models]
    for title, group in groups:
        refused = sum(1 for cell in group if error_of(figures, *cell, "requested") is None)
        print(f"| {title} | {len(group)} | {refused} | {summary(figures, group, 'requested')} | {summary(figures, group, 'allocated')} |")
    for model in models:
        for which in ("requested", "allocated"):
            runs = [figures.get(f"{model} | plain {number}", {}).get(which) for number in range(NOISE)]
            if all(runs):
                print(f"noise of {model}, {which}: {100 * (max(runs) / min(runs) - 1):.2f} % of {max(runs)} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument("--change", action="append", choices=tuple(CHANGES))
    options = parser.parse_args()
    if not PYTHON:
        sys.exit("set VRAMSCOPE_TENSORFLOW_PYTHON to a Python that has TensorFlow")
    measured = Measured(options.out)
    models, changes = options.model or list(MODELS), options.change or list(CHANGES)
    for name in changes:  # change by change: if it is stopped early, each model has some cells
        for model in models:
            measure(measured, model, name)
    for model in models:
        measure_noise(measured, model)
    print_tables(measured.figures, models, changes)


if __name__ == "__main__":
    main()
