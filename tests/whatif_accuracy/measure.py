#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how far predictions of `vramscope whatif` are from the truth: the tables of docs/accuracy.md.

    measure.py --python /venv/bin/python --results FOLDER [--set unseen] [--model NAME]
    measure.py --tables FOLDER
    measure.py --keep FOLDER           saves the measurements to measured.csv.xz, from which --measured takes them instead of measuring again

Each model is trained on the simulated device by train.py: as it is, and once for each change with that change really made, each in a process of its
own. Predictions are made from the recording of the unchanged run. The truth is what PyTorch itself counted in the changed runs
(torch.cuda.max_memory_allocated and max_memory_reserved). Nothing is left out: changes that are refused or could not be run are listed.

Measuring takes two hours on one core, recording and predicting twenty minutes. The measurements depend only on the releases of PyTorch and of the
models' packages (docs/accuracy.md), not on our rules, so they are kept next to this file.

FOLDER keeps the recordings (MODEL.vms, MODEL.json), the measurements (truths.jsonl) and the predictions (predictions.jsonl). A run that was
interrupted goes on where it stopped; --again predicts again, from new recordings, and keeps the measurements.
"""

import argparse
import csv
import json
import lzma
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple, Union

import bounds
from cells import Cell, Peaks, misses, table
from subjects import ALL, FROZEN, SIZES, UNSEEN, possible, words

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "measured.csv.xz"
TIMEOUT_S = 3600
# With these settings peaks are the same whatever else is installed: Triton's kernels need no workspace where PyTorch's own do, and a real cuDNN needs
# other workspaces than the simulated device's model (docs/accuracy.md, "With cuDNN's own workspaces"). PYTHONHASHSEED: some models iterate over sets of
# strings, whose order is otherwise random in each process.
SAME_EVERYWHERE = {"VRAMSCOPE_SIMULATED_CUDNN_LIBRARY": "none", "TORCH_DISABLE_NATIVE_JIT": "1", "PYTHONHASHSEED": "0", "VRAMSCOPE_VARIANTS": "none"}
RANKS = 4  # of which the first is run, alone
UNCHANGED = "as it is"

# name -> options of whatif, and the switches of train.py that do the same. {half} and {double}: of the batch size.
# Options in RERUN are answered by a re-run of the recorded program, all others by transformations.
LEVERS: Dict[str, Tuple[List[str], List[str]]] = {
    "batch x0.5": (["--batch", "0.5x"], ["--batch", "{half}"]),
    "batch x2": (["--batch", "2x"], ["--batch", "{double}"]),
    "sequence x0.5": (["--sequence", "0.5x"], ["--sequence", "0.5"]),
    "sequence x2": (["--sequence", "2x"], ["--sequence", "2"]),
    "sequence x0.5, batch x2": (["--sequence", "0.5x", "--batch", "2x"], ["--sequence", "0.5", "--batch", "{double}"]),
    "sequence x0.5, amp": (["--sequence", "0.5x", "--amp", "bf16"], ["--sequence", "0.5", "--amp", "bf16"]),
    "sequence x0.5, checkpoint": (["--sequence", "0.5x", "--checkpoint", "{checkpointed}"], ["--sequence", "0.5", "--checkpoint"]),
    "accumulate 4": (["--accumulate", "4"], ["--accumulate", "4"]),
    "checkpoint all": (["--checkpoint", "{checkpointed}"], ["--checkpoint"]),
    "checkpoint, matmuls kept": (["--checkpoint", "{checkpointed},ops:matmul"], ["--checkpoint", "--keep-ops", "mm,addmm,bmm,baddbmm"]),
    "checkpoint, addmm kept, batch x2": (["--checkpoint", "{checkpointed},ops:addmm", "--batch", "2x"], ["--checkpoint", "--keep-ops", "addmm", "--batch", "{double}"]),
    "sgd": (["--optimizer", "sgd"], ["--optimizer", "sgd"]),
    "momentum": (["--optimizer", "momentum"], ["--optimizer", "momentum"]),
    "adamw fused": (["--optimizer", "adamw:fused"], ["--optimizer", "adamw:fused"]),
    "adamw for-loop": (["--optimizer", "adamw:for-loop"], ["--optimizer", "adamw:for-loop"]),
    "adafactor": (["--optimizer", "adafactor"], ["--optimizer", "adafactor"]),
    "adafactor foreach": (["--optimizer", "adafactor:foreach"], ["--optimizer", "adafactor:foreach"]),
    "adafactor, precision": (["--optimizer", "adafactor", "--precision", "bf16"], ["--optimizer", "adafactor", "--precision", "bf16"]),
    "adamw8bit": (["--optimizer", "adamw8bit"], ["--optimizer", "adamw8bit"]),
    "keep gradients": (["--zero-grad", "keep"], ["--keep-gradients"]),
    "amp bf16": (["--amp", "bf16"], ["--amp", "bf16"]),
    "amp fp16": (["--amp", "fp16"], ["--amp", "fp16"]),
    "precision bf16": (["--precision", "bf16"], ["--precision", "bf16"]),
    "precision fp16": (["--precision", "fp16"], ["--precision", "fp16"]),
    "precision, checkpoint": (["--precision", "bf16", "--checkpoint", "{checkpointed}"], ["--precision", "bf16", "--checkpoint"]),
    "precision, batch x2": (["--precision", "bf16", "--batch", "2x"], ["--precision", "bf16", "--batch", "{double}"]),
    "precision, accumulate 4": (["--precision", "bf16", "--accumulate", "4"], ["--precision", "bf16", "--accumulate", "4"]),
    "precision, sgd": (["--precision", "bf16", "--optimizer", "sgd"], ["--precision", "bf16", "--optimizer", "sgd"]),
    "precision, adamw fused": (["--precision", "bf16", "--optimizer", "adamw:fused"], ["--precision", "bf16", "--optimizer", "adamw:fused"]),
    **{f"shard {kind}": (["--shard", kind.replace(":", f":{RANKS}:") if ":" in kind else f"{kind}:{RANKS}" + "{units}" * (kind in ("zero2", "fsdp"))], ["--shard", kind])
       for kind in ("ddp", "ddp:view", "zero1", "zero2", "fsdp")},
    "pipeline of 2": (["--shard", "pp:2"], ["--shard", "pp:2:1"]),
    "pipeline of 2, 4 parts": (["--shard", "pp:2:4"], ["--shard", "pp:2:4"]),
    "tp, for-loop": (["--shard", f"tp:{RANKS}", "--optimizer", "adamw:for-loop"], ["--shard", "tp", "--optimizer", "adamw:for-loop"]),
    "tp, sgd": (["--shard", f"tp:{RANKS}", "--optimizer", "sgd"], ["--shard", "tp", "--optimizer", "sgd:for-loop"]),
    "fsdp, sgd": (["--shard", f"fsdp:{RANKS}{{units}}", "--optimizer", "sgd"], ["--shard", "fsdp", "--optimizer", "sgd"]),
    "fsdp, precision": (["--shard", f"fsdp:{RANKS}{{units}}", "--precision", "bf16"], ["--shard", "fsdp", "--precision", "bf16"]),
    "fsdp, checkpoint": (["--shard", f"fsdp:{RANKS}{{units}}", "--checkpoint", "{checkpointed}"], ["--shard", "fsdp", "--checkpoint"]),
    "ddp, batch x2": (["--shard", f"ddp:{RANKS}", "--batch", "2x"], ["--shard", "ddp", "--batch", "{double}"]),
    "attention efficient": (["--attention", "efficient"], ["--attention", "efficient"]),
    "attention efficient, batch x2": (["--attention", "efficient", "--batch", "2x"], ["--attention", "efficient", "--batch", "{double}"]),
    "attention efficient, checkpoint": (["--attention", "efficient", "--checkpoint", "{checkpointed}"], ["--attention", "efficient", "--checkpoint"]),
    "attention flash, precision": (["--attention", "flash", "--precision", "bf16"], ["--attention", "flash", "--precision", "bf16"]),
    "attention flash, amp": (["--attention", "flash", "--amp", "bf16"], ["--attention", "flash", "--amp", "bf16"]),
    "attention math": (["--attention", "math"], ["--attention", "math"]),
    "attention math, precision": (["--attention", "math", "--precision", "bf16"], ["--attention", "math", "--precision", "bf16"]),
    "attention math, batch x2": (["--attention", "math", "--batch", "2x"], ["--attention", "math", "--batch", "{double}"]),
    "cross-entropy fused": (["--cross-entropy", "fused"], ["--cross-entropy", "fused"]),
    "cross-entropy chunked:8": (["--cross-entropy", "chunked:8"], ["--cross-entropy", "chunked:8"]),
    "cross-entropy chunked:8, batch x2": (["--cross-entropy", "chunked:8", "--batch", "2x"], ["--cross-entropy", "chunked:8", "--batch", "{double}"]),
    "cross-entropy chunked:8, precision": (["--cross-entropy", "chunked:8", "--precision", "bf16"], ["--cross-entropy", "chunked:8", "--precision", "bf16"]),
    "cross-entropy chunked:8, checkpoint": (["--cross-entropy", "chunked:8", "--checkpoint", "{checkpointed}"], ["--cross-entropy", "chunked:8", "--checkpoint"]),
    "free early": (["--free-early", "all"], ["--free-early"]),
    "free early, batch x2": (["--free-early", "all", "--batch", "2x"], ["--free-early", "--batch", "{double}"]),
    "freeze blocks": (["--freeze", "{blocks}"], ["--freeze", "{blocks}"]),
    "freeze all but the head": (["--freeze", "{body}"], ["--freeze", "{body}"]),
    "freeze, amp": (["--freeze", "{body}", "--amp", "bf16"], ["--freeze", "{body}", "--amp", "bf16"]),
    "freeze, precision": (["--freeze", "{blocks}", "--precision", "bf16"], ["--freeze", "{blocks}", "--precision", "bf16"]),
    "freeze, checkpoint": (["--freeze", "{blocks}", "--checkpoint", "{checkpointed}"], ["--freeze", "{blocks}", "--checkpoint"]),
    "freeze, batch x2": (["--freeze", "{body}", "--batch", "2x"], ["--freeze", "{body}", "--batch", "{double}"]),
    "freeze, sgd": (["--freeze", "{blocks}", "--optimizer", "sgd"], ["--freeze", "{blocks}", "--optimizer", "sgd"]),
    "lora": (["--lora", "8:{blocks}"], ["--lora", "8:{blocks}"]),
    "lora, amp": (["--lora", "8:{blocks}", "--amp", "bf16"], ["--lora", "8:{blocks}", "--amp", "bf16"]),
    "lora, batch x2": (["--lora", "8:{blocks}", "--batch", "2x"], ["--lora", "8:{blocks}", "--batch", "{double}"]),
    "lora, checkpoint": (["--lora", "8:{blocks}", "--checkpoint", "{checkpointed}"], ["--lora", "8:{blocks}", "--checkpoint"]),
    "lora, precision": (["--lora", "8:{blocks}", "--precision", "bf16"], ["--lora", "8:{blocks}", "--precision", "bf16"]),
    "quantize int8, lora": (["--quantize", "int8:{blocks}", "--lora", "8:{blocks}"], ["--quantize", "int8:{blocks}", "--lora", "8:{blocks}"]),
    "quantize nf4, lora": (["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}"], ["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}"]),
    "quantize nf4, freeze": (["--quantize", "nf4:{blocks}", "--freeze", "{blocks}"], ["--quantize", "nf4:{blocks}", "--freeze", "{blocks}"]),
    "quantize nf4, lora, batch x2": (["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--batch", "2x"], ["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--batch", "{double}"]),
    "quantize nf4, lora, checkpoint": (["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--checkpoint", "{checkpointed}"], ["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--checkpoint"]),
    "offload optimizer": (["--offload", "optimizer"], ["--offload", "optimizer"]),
    "offload activations": (["--offload", "activations"], ["--offload", "activations"]),
    "offload both": (["--offload", "activations,optimizer"], ["--offload", "activations,optimizer"]),
    "offload activations, amp": (["--offload", "activations", "--amp", "bf16"], ["--offload", "activations", "--amp", "bf16"]),
    "offload activations, batch x2": (["--offload", "activations", "--batch", "2x"], ["--offload", "activations", "--batch", "{double}"]),
    "offload activations, checkpoint": (["--offload", "activations", "--checkpoint", "{checkpointed}"], ["--offload", "activations", "--checkpoint"]),
    "offload activations, precision": (["--offload", "activations", "--precision", "bf16"], ["--offload", "activations", "--precision", "bf16"]),
    **{f"alloc-conf {setting}": (["--alloc-conf", setting], ["--alloc-conf", setting])
       for setting in ("expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4", "garbage_collection_threshold:0.8")},
    **{f"empty-cache {when}": (["--empty-cache", when], ["--empty-cache", when]) for when in ("before-backward", "before-optimizer", "after-step")},
    "amp, checkpoint": (["--amp", "bf16", "--checkpoint", "{checkpointed}"], ["--amp", "bf16", "--checkpoint"]),
    "amp, batch x2": (["--amp", "bf16", "--batch", "2x"], ["--amp", "bf16", "--batch", "{double}"]),
    "amp, accumulate 4": (["--amp", "bf16", "--accumulate", "4"], ["--amp", "bf16", "--accumulate", "4"]),
}


RERUN = ("--batch", "--sequence", "--amp", "--precision", "--attention", "--cross-entropy", "--lora", "--freeze", "--quantize", "--accumulate")


def is_rerun(lever: str) -> bool:
    asked = LEVERS[lever][0]
    return any(word in RERUN or word.startswith(("tp:", "pp:")) or word.startswith("adafactor") or word.endswith("8bit") for word in asked)


def vramscope(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([os.environ["VRAMSCOPE_BIN"], *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def train(python: str, model: str, variants: List[List[str]], depth: str, trace: Path) -> Iterator[Tuple[int, int, int]]:
    """(pid, allocated, reserved) of each variant as soon as it ends; zeros for one that could not be run."""
    program = [python, str(HERE / "train.py"), "--model", model, "--variants", json.dumps(variants)]
    command = [os.environ["VRAMSCOPE_BIN"], "dryrun", "--depth", depth, "--steps", "all", "--world-size", str(RANKS), "--gpu", "a100-40gb", "-o", str(trace), "--", *program]
    ended, environment = 0, {**SAME_EVERYWHERE, **os.environ}
    with open(trace.with_suffix(".log"), "w+", encoding="utf-8") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if re.fullmatch(r"\d+ \d+ \d+\n", line):
                pid, allocated, reserved = (int(word) for word in line.split())
                ended += 1
                yield pid, allocated, reserved
        running.wait()
        if ended != len(variants):
            log.seek(0)
            raise RuntimeError(f"{model}: {ended} of {len(variants)} variants ended:\n{log.read()[-2000:]}")


def in_code(model: str, size: str, lever: str) -> List[str]:
    """The switches of train.py."""
    known = words(model, size)
    changed = [word.format(**known) for word in LEVERS[lever][1]] if lever != UNCHANGED else []
    if lever != UNCHANGED and known["units"] and any("{units}" in word for word in LEVERS[lever][0]):
        changed += ["--units", known["units"][1:]]
    return ["--size", size, "--batch", known["batch"], *changed]  # if a switch is given twice, the last one counts


def record(python: str, model: str, sizes: List[str], trace: Path) -> Dict[str, Tuple[int, int, int]]:
    """By size: the process id and the peaks. The program is noted in the sixth step."""
    return dict(zip(sizes, train(python, model, [[*in_code(model, size, UNCHANGED), "--steps", "6"] for size in sizes], "auto", trace)))


def predict(trace: Path, pid: int, model: str, size: str, levers: List[str]) -> Dict[str, Union[Peaks, str]]:
    """The peaks of each change, or why it was refused."""
    known = words(model, size)
    asked = {}
    for lever in levers:
        options = [word.format(**known) for word in LEVERS[lever][0]]
        asked[lever] = " ".join(f"{name[2:]}={value}" for name, value in zip(options[::2], options[1::2]))
    answers: Dict[str, Union[Peaks, str]] = {}
    for by in ("transform", "rerun"):
        asked_so = {lever: text for lever, text in asked.items() if is_rerun(lever) == (by == "rerun")}
        if asked_so:
            answers.update(answer(trace, pid, asked_so, ["--by", "rerun"] if by == "rerun" else []))
    return answers


def answer(trace: Path, pid: int, asked: Dict[str, str], how: List[str]) -> Dict[str, Union[Peaks, str]]:
    done = vramscope("whatif", str(trace), "--process", str(pid), "--json", *how, *(word for text in asked.values() for word in ("--compare", text)))
    if not done.stdout:  # one change that cannot be judged ends the whole call without an answer
        if len(asked) == 1:
            return {lever: done.stderr.strip()[-400:] for lever in asked}
        return {lever: found for each, text in asked.items() for lever, found in answer(trace, pid, {each: text}, how).items()}
    answers: Dict[str, Union[Peaks, str]] = {}
    for lever, case in zip(asked, json.loads(done.stdout)["cases"]):
        refused = "; ".join(refusal["reason"] for refusal in case["refused"])
        peak = case["after"]["peak"]
        answers[lever] = refused or (peak["allocated_bytes"], peak["reserved_peak_bytes"])
    return answers


class Results:
    """What a folder keeps: rows of JSON, appended as they come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def rows(self, name: str) -> Dict[Tuple[str, str, str], Any]:
        path = self.folder / name
        with self.lock:  # no row that the thread of another model has half written
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return {(row["model"], row["size"], row["lever"]): row["peaks"] for row in map(json.loads, lines)}

    def add(self, name: str, model: str, size: str, lever: str, peaks: Union[Peaks, str]) -> None:
        with self.lock, open(self.folder / name, "a", encoding="utf-8") as file:
            file.write(json.dumps({"model": model, "size": size, "lever": lever, "peaks": peaks}) + "\n")

    def take_measured(self, models: List[str]) -> None:
        """Adds to the folder what the file has of these models and the folder lacks."""
        known = self.rows("truths.jsonl")
        with lzma.open(MEASURED, "rt", encoding="utf-8", newline="") as file:
            for model, size, lever, allocated, reserved in csv.reader(file):
                if model in models and (model, size, lever) not in known:
                    self.add("truths.jsonl", model, size, lever, (int(allocated), int(reserved)))

    def keep_measured(self) -> None:
        """Writes the measurements to the file. Zeros are for programs that fail with the change."""
        with lzma.open(MEASURED, "wt", encoding="utf-8", newline="", preset=9) as file:
            csv.writer(file, lineterminator="\n").writerows((*key, *peaks) for key, peaks in sorted(self.rows("truths.jsonl").items()))

    def forget_predictions(self, models: List[str]) -> None:
        kept = [key for key in self.rows("predictions.jsonl") if key[0] not in models]
        answers = self.rows("predictions.jsonl")
        (self.folder / "predictions.jsonl").unlink(missing_ok=True)
        for key in kept:
            self.add("predictions.jsonl", *key, answers[key])
        for model in models:
            (self.folder / f"{model}.json").unlink(missing_ok=True)

    def cells(self) -> List[Cell]:
        """The cells that were both measured and predicted."""
        truths, predictions = self.rows("truths.jsonl"), self.rows("predictions.jsonl")
        return [Cell(*key, tuple(truths[(*key[:2], UNCHANGED)]), tuple(truths[key]), tuple(answer))
                for key, answer in predictions.items() if not isinstance(answer, str) and any(truths.get(key, ()))]

    def without_answer(self) -> Dict[str, List[str]]:
        """Programs without an answer, by change and reason. Not those that were not predicted yet."""
        found: Dict[str, List[str]] = {}
        truths, predictions = self.rows("truths.jsonl"), self.rows("predictions.jsonl")
        for key, peaks in truths.items():
            answer = predictions.get(key)
            if key[2] != UNCHANGED and (not any(peaks) or isinstance(answer, str)):
                why = answer if any(peaks) else "the program failed"
                found.setdefault(f"{key[2]}: {why}", []).append(f"{key[0]} {key[1]}")
        return found


class Run(NamedTuple):
    python: str
    results: Results
    sizes: List[str]
    levers: List[str]

    def measure(self, model: str) -> None:
        known = self.results.rows("truths.jsonl")
        wanted = [(size, lever) for size in self.sizes for lever in [UNCHANGED, *possible(model, self.levers)] if (model, size, lever) not in known]
        if not wanted:
            return
        trace = self.results.folder / f"{model}-truths.vms"
        variants = [in_code(model, size, lever) for size, lever in wanted]
        for (size, lever), (_, *peaks) in zip(wanted, train(self.python, model, variants, "light", trace)):
            self.results.add("truths.jsonl", model, size, lever, (peaks[0], peaks[1]))
        trace.unlink(missing_ok=True)

    def predict(self, model: str) -> None:
        trace, facts = self.results.folder / f"{model}.vms", self.results.folder / f"{model}.json"
        recorded = json.loads(facts.read_text(encoding="utf-8")) if facts.exists() else {}
        if not set(self.sizes) <= set(recorded):
            recorded = {size: list(peaks) for size, peaks in record(self.python, model, sorted({*self.sizes, *recorded}), trace).items()}
            facts.write_text(json.dumps(recorded), encoding="utf-8")
        truths, known = self.results.rows("truths.jsonl"), self.results.rows("predictions.jsonl")
        for size in self.sizes:
            pid, *peaks = recorded[size]
            if peaks != truths.get((model, size, UNCHANGED), peaks):
                print(f"{model} {size}: recorded {peaks}, not recorded {truths[model, size, UNCHANGED]}", flush=True)
            levers = [lever for lever in possible(model, self.levers) if (model, size, lever) in truths and (model, size, lever) not in known]
            answers = predict(trace, pid, model, size, levers) if levers else {}
            for lever, answer in answers.items():
                self.results.add("predictions.jsonl", model, size, lever, answer)

    def model(self, model: str, truths: bool, predictions: bool) -> None:
        begin = time.monotonic()
        try:
            if truths:
                self.measure(model)
            if predictions:
                self.predict(model)
        except RuntimeError as failure:
            print(failure, flush=True)
        print(f"{model}: {time.monotonic() - begin:.0f} s", flush=True)


def print_tables(results: Results) -> None:
    cells = results.cells()
    for title, models in (("Frozen set", FROZEN), ("Unseen", UNSEEN)):
        chosen = [cell for cell in cells if cell.model in models]
        if chosen:
            print(f"\n{title}: {', '.join(dict.fromkeys(cell.model for cell in chosen))}\n\n{table(chosen, LEVERS)}\n\n{misses(chosen)}")
    changes = {name: ["re-run"] if is_rerun(name) else [bounds.change_of(lever[2:], value) for lever, value in zip(asked[::2], asked[1::2])]
               for name, (asked, _) in LEVERS.items()}
    known = bounds.bounds(cells, changes)
    print(f"\nBounds:\n\n{bounds.table(known)}\n\n{bounds.in_code(known)}\n")
    for peak, found in bounds.outside(cells, changes).items():
        print(f"{peak}: {len(found)} of {len(cells)} are above the bounds of the other models")
        print("".join(f"  {cell.model} {cell.size}, {cell.lever}: {100 * (cell.allocated if peak == 'allocated' else cell.reserved):+.2f}\n" for cell in found), end="")
    print("\nWithout an answer:")
    for what, programs in results.without_answer().items():
        print(f"  {what}: {', '.join(programs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="an interpreter with torch, and the packages of the models (docs/accuracy.md)")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where results are kept")
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="print the tables of such a folder, and run nothing")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was measured in such a folder in measured.csv.xz, and run nothing")
    parser.add_argument("--measured", action="store_true", help="take what measured.csv.xz has, and measure the rest")
    parser.add_argument("--set", choices=("frozen", "unseen", "both"), default="frozen")
    parser.add_argument("--model", action="append", choices=sorted(ALL), help="only this one; may be given several times")
    parser.add_argument("--size", action="append", choices=SIZES)
    parser.add_argument("--lever", action="append", choices=list(LEVERS), help="only this one; may be given several times")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time")
    parser.add_argument("--again", action="store_true", help="predict anew what was predicted")
    parser.add_argument("--truths-only", action="store_true", help="predict nothing yet")
    parser.add_argument("--predictions-only", action="store_true", help="measure nothing more")
    options = parser.parse_args()
    if options.tables:
        print_tables(Results(options.tables))
        return
    if options.keep:
        Results(options.keep).keep_measured()
        return
    if not options.python or not options.results:
        parser.error("--python and --results are needed, or --tables")
    os.environ.setdefault("VRAMSCOPE_PYTHON", options.python)  # runs the noted programs
    models = options.model or list({"frozen": FROZEN, "unseen": UNSEEN, "both": ALL}[options.set])
    run = Run(options.python, Results(options.results.resolve()), options.size or list(SIZES), options.lever or list(LEVERS))
    if options.again:
        run.results.forget_predictions(models)
    if options.measured:
        run.results.take_measured(models)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda model: run.model(model, not options.predictions_only, not options.truths_only), models))
    if not options.truths_only:
        print_tables(run.results)


if __name__ == "__main__":
    sys.exit(main())
