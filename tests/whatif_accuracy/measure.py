#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far predictions of `vramscope whatif` are from the truth: rows for docs/accuracy.md.

    measure.py --python /venv/bin/python [--set development] [--model NAME]

Each model is trained on the simulated device by train.py: as it is, and once for each lever with that lever really on, each in a process of its
own. The first one's recording is what is predicted from; the truth is what PyTorch itself counted in the others
(torch.cuda.max_memory_allocated and max_memory_reserved). Nothing is left out: what is refused or could not be run is listed.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 3600
RANKS = 4  # of which the first is run, alone

# name: what whatif is asked for, and the switches of train.py that do the same. {half} and {double} are of the batch.
LEVERS: Dict[str, Tuple[List[str], List[str]]] = {
    "batch x0.5": (["--batch", "0.5x"], ["--batch", "{half}"]),
    "batch x2": (["--batch", "2x"], ["--batch", "{double}"]),
    "accumulate 4": (["--accumulate", "4"], ["--accumulate", "4"]),
    "checkpoint all": (["--checkpoint", "all"], ["--checkpoint"]),
    "sgd": (["--optimizer", "sgd"], ["--optimizer", "sgd"]),
    "momentum": (["--optimizer", "momentum"], ["--optimizer", "momentum"]),
    "adamw fused": (["--optimizer", "adamw:fused"], ["--optimizer", "adamw:fused"]),
    "adamw for-loop": (["--optimizer", "adamw:for-loop"], ["--optimizer", "adamw:for-loop"]),
    "keep gradients": (["--zero-grad", "keep"], ["--keep-gradients"]),
    "amp bf16": (["--amp", "bf16"], ["--amp", "bf16"]),
    "amp fp16": (["--amp", "fp16"], ["--amp", "fp16"]),
    "precision bf16": (["--precision", "bf16"], ["--precision", "bf16"]),
    "precision fp16": (["--precision", "fp16"], ["--precision", "fp16"]),
    "precision, checkpoint": (["--precision", "bf16", "--checkpoint", "all"], ["--precision", "bf16", "--checkpoint"]),
    "precision, batch x2": (["--precision", "bf16", "--batch", "2x"], ["--precision", "bf16", "--batch", "{double}"]),
    "precision, accumulate 4": (["--precision", "bf16", "--accumulate", "4"], ["--precision", "bf16", "--accumulate", "4"]),
    "precision, sgd": (["--precision", "bf16", "--optimizer", "sgd"], ["--precision", "bf16", "--optimizer", "sgd"]),
    "precision, adamw fused": (["--precision", "bf16", "--optimizer", "adamw:fused"], ["--precision", "bf16", "--optimizer", "adamw:fused"]),
    **{f"shard {kind}": (["--shard", kind.replace(":", f":{RANKS}:") if ":" in kind else f"{kind}:{RANKS}"], ["--shard", kind]) for kind in ("ddp", "ddp:view", "zero1", "zero2", "fsdp")},
    "fsdp, sgd": (["--shard", f"fsdp:{RANKS}", "--optimizer", "sgd"], ["--shard", "fsdp", "--optimizer", "sgd"]),
    "fsdp, precision": (["--shard", f"fsdp:{RANKS}", "--precision", "bf16"], ["--shard", "fsdp", "--precision", "bf16"]),
    "fsdp, checkpoint": (["--shard", f"fsdp:{RANKS}", "--checkpoint", "all"], ["--shard", "fsdp", "--checkpoint"]),
    "ddp, batch x2": (["--shard", f"ddp:{RANKS}", "--batch", "2x"], ["--shard", "ddp", "--batch", "{double}"]),
    "freeze blocks": (["--freeze", "{blocks}"], ["--freeze", "{blocks}"]),
    "freeze all but the head": (["--freeze", "{body}"], ["--freeze", "{body}"]),
    "freeze, amp": (["--freeze", "{body}", "--amp", "bf16"], ["--freeze", "{body}", "--amp", "bf16"]),
    "freeze, precision": (["--freeze", "{blocks}", "--precision", "bf16"], ["--freeze", "{blocks}", "--precision", "bf16"]),
    "freeze, checkpoint": (["--freeze", "{blocks}", "--checkpoint", "all"], ["--freeze", "{blocks}", "--checkpoint"]),
    "freeze, batch x2": (["--freeze", "{body}", "--batch", "2x"], ["--freeze", "{body}", "--batch", "{double}"]),
    "freeze, sgd": (["--freeze", "{blocks}", "--optimizer", "sgd"], ["--freeze", "{blocks}", "--optimizer", "sgd"]),
    "lora": (["--lora", "8:{blocks}"], ["--lora", "8:{blocks}"]),
    "lora, amp": (["--lora", "8:{blocks}", "--amp", "bf16"], ["--lora", "8:{blocks}", "--amp", "bf16"]),
    "lora, batch x2": (["--lora", "8:{blocks}", "--batch", "2x"], ["--lora", "8:{blocks}", "--batch", "{double}"]),
    "lora, checkpoint": (["--lora", "8:{blocks}", "--checkpoint", "all"], ["--lora", "8:{blocks}", "--checkpoint"]),
    "lora, precision": (["--lora", "8:{blocks}", "--precision", "bf16"], ["--lora", "8:{blocks}", "--precision", "bf16"]),
    "quantize int8, lora": (["--quantize", "int8:{blocks}", "--lora", "8:{blocks}"], ["--quantize", "int8:{blocks}", "--lora", "8:{blocks}"]),
    "quantize nf4, lora": (["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}"], ["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}"]),
    "quantize nf4, freeze": (["--quantize", "nf4:{blocks}", "--freeze", "{blocks}"], ["--quantize", "nf4:{blocks}", "--freeze", "{blocks}"]),
    "quantize nf4, lora, batch x2": (["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--batch", "2x"], ["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--batch", "{double}"]),
    "quantize nf4, lora, checkpoint": (["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--checkpoint", "all"], ["--quantize", "nf4:{blocks}", "--lora", "8:{blocks}", "--checkpoint"]),
    "offload optimizer": (["--offload", "optimizer"], ["--offload"]),
    **{f"alloc-conf {setting}": (["--alloc-conf", setting], ["--alloc-conf", setting])
       for setting in ("expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4", "garbage_collection_threshold:0.8")},
    **{f"empty-cache {when}": (["--empty-cache", when], ["--empty-cache", when]) for when in ("before-backward", "before-optimizer", "after-step")},
    "amp, checkpoint": (["--amp", "bf16", "--checkpoint", "all"], ["--amp", "bf16", "--checkpoint"]),
    "amp, batch x2": (["--amp", "bf16", "--batch", "2x"], ["--amp", "bf16", "--batch", "{double}"]),
    "amp, accumulate 4": (["--amp", "bf16", "--accumulate", "4"], ["--amp", "bf16", "--accumulate", "4"]),
}

# model, sizes with their batches. Half of the models to develop on, half to be looked at once, at the end.
DEVELOPMENT = {
    "transformer": {"small": 8, "large": 16},
    "convolutional": {"small": 8, "large": 32},
    "recurrent": {"small": 8, "large": 16},
    "resnet50": {"small": 8, "large": 16},
    "bert": {"small": 4, "large": 8},
    "gpt2": {"small": 4, "large": 8},
    "llama": {"small": 4, "large": 8},
    "vit": {"small": 8, "large": 16},
    "t5": {"small": 4, "large": 8},
}
# What "freeze" is asked for: the blocks, and all but the head.
FREEZE = {
    "transformer": ("layers.*", "layers.*,table,places"),
    "convolutional": ("blocks.*", "stem,blocks.*"),
    "recurrent": ("lstm", "table,lstm"),
    "resnet50": ("layer1,layer2", "conv1,bn1,layer1,layer2,layer3,layer4"),
    "bert": ("bert.encoder.layer.*", "bert"),
    "gpt2": ("transformer.h.*", "transformer.h.*"),
    "llama": ("model.layers.*", "model"),
    "vit": ("vit.encoder.layer.*,vit.layers.*", "vit"),
    "t5": ("encoder", "encoder"),
}
UNCHECKPOINTED = ("resnet50", "recurrent")  # no blocks, or no switch for them
UNADAPTED = ("convolutional", "recurrent", "resnet50")  # no linear layers in their blocks
HELD_OUT = ("convnext", "unet", "lstm", "gan", "moe", "whisper", "opt", "mobilenet", "swin", "mamba")  # to be written, not to be tuned on


class Cell(NamedTuple):
    model: str
    size: str
    lever: str
    change: float  # of the allocated peak, in truth: -0.2 = 20 % less
    allocated: float  # prediction / truth - 1
    reserved: float
    sign_wrong: bool


def vramscope(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([os.environ["VRAMSCOPE_BIN"], *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def train(python: str, model: str, size: str, batch: int, variants: List[List[str]], trace: Path) -> List[Tuple[int, int, int]]:
    """(pid, allocated, reserved) of the program as it is and of each variant; zeros for what could not be run."""
    command = [python, str(HERE / "train.py"), "--model", model, "--size", size, "--batch", str(batch), "--variants", json.dumps([[]] + variants)]
    done = vramscope("dryrun", "--steps", "all", "--world-size", str(RANKS), "--gpu", "a100-40gb", "-o", str(trace), "--", *command)
    counters = [tuple(int(word) for word in line.split()) for line in done.stdout.splitlines() if re.fullmatch(r"\d+ \d+ \d+", line)]
    if len(counters) != len(variants) + 1:
        raise SystemExit(f"{model} {size} did not run:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return [(pid, allocated, reserved) for pid, allocated, reserved in counters]


def predict(trace: Path, pid: int, levers: List[str]) -> Optional[Dict[str, int]]:
    """The predicted peak, or nothing when a lever was refused."""
    done = vramscope("whatif", str(trace), "--process", str(pid), "--json", *levers)
    if done.returncode != 0:
        print(f"    refused: {' '.join(levers)}: {done.stdout[-400:] if done.stdout else done.stderr.strip()}", file=sys.stderr)
        return None
    peak: Dict[str, int] = json.loads(done.stdout)["after"]["peak"]
    return peak


def cells(python: str, model: str, size: str, batch: int, names: List[str]) -> List[Cell]:
    blocks, body = FREEZE[model]
    words = {"half": str(batch // 2), "double": str(batch * 2), "blocks": blocks, "body": body}
    variants = [[word.format(**words) for word in LEVERS[name][1]] for name in names]
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "run.vms"
        (base_pid, base_allocated, _), *truths = train(python, model, size, batch, variants, trace)
        rows = []
        for name, (_, allocated, reserved) in zip(names, truths):
            peak = predict(trace, base_pid, [word.format(**words) for word in LEVERS[name][0]]) if allocated else None
            if peak is None:
                print(f"{model} {size} {name}: no answer", flush=True)
                continue
            change = allocated / base_allocated - 1
            predicted = peak["allocated_bytes"] / base_allocated - 1
            wrong = abs(change) > 0.01 and change * predicted <= 0
            rows.append(Cell(model, size, name, change, peak["allocated_bytes"] / allocated - 1, peak["reserved_bytes"] / reserved - 1, wrong))
            print(f"{model} {size} {name}: change {change:+.2%}, allocated {rows[-1].allocated:+.3%}, reserved {rows[-1].reserved:+.3%}", flush=True)
        return rows


def unfit(model: str, lever: str) -> bool:
    """Whether the model has no blocks for it, or no switch."""
    return (model in UNCHECKPOINTED and "checkpoint" in lever) or (model in UNADAPTED and ("lora" in lever or "quantize" in lever)) or (model == "recurrent" and ("fsdp" in lever or "zero2" in lever))


def percentile(values: List[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(rows: List[Cell]) -> str:
    """Median, 95th percentile and worst of the sizes of the errors, and the mean of the errors, in per cent."""
    lines = ["| lever | cells | allocated: median | p95 | worst | bias | reserved: median | p95 | worst | bias | wrong signs |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for lever in [*LEVERS, "all"]:
        chosen = [row for row in rows if lever in ("all", row.lever)]
        if not chosen:
            continue
        columns = [lever, str(len(chosen))]
        for errors in ([row.allocated for row in chosen], [row.reserved for row in chosen]):
            sizes = [abs(error) for error in errors]
            columns += [f"{100 * value:.2f}" for value in (statistics.median(sizes), percentile(sizes, 0.95), max(sizes))]
            columns.append(f"{100 * statistics.fmean(errors):+.2f}")
        lines.append("| " + " | ".join([*columns, str(sum(row.sign_wrong for row in chosen))]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="an interpreter with torch, and transformers and torchvision for their models")
    parser.add_argument("--model", action="append", choices=sorted(DEVELOPMENT), help="only this one; may be given several times")
    parser.add_argument("--size", action="append", choices=("small", "large"))
    parser.add_argument("--lever", action="append", choices=list(LEVERS), help="only this one; may be given several times")
    options = parser.parse_args()
    rows: List[Cell] = []
    for model in options.model or DEVELOPMENT:
        for size in options.size or DEVELOPMENT[model]:
            names = [name for name in options.lever or LEVERS if not unfit(model, name)]
            rows += cells(options.python, model, size, DEVELOPMENT[model][size], names)
    print(table(rows))


if __name__ == "__main__":
    main()
