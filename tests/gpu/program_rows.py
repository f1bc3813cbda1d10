# SPDX-License-Identifier: Apache-2.0
"""Rows that compare dry runs with reality, measure the cost of recording, attach, and run the oracle of tests/truth on real tensors."""
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from machine import TESTS, CannotRun, Failed, Machine, Outcome, mib

SLOWDOWN = Path(__file__).with_name("slowdown.py")
SAMPLES = TESTS.parent / "samples"
STEPS = ("--steps", "4")
PROGRAMS: Dict[str, List[str]] = {
    "GPT": ["gpt.py"],
    "GPT, bf16": ["gpt.py", "--amp", "bf16"],
    "GPT, checkpointing": ["gpt.py", "--checkpoint"],
    "GPT, 4 micro-batches": ["gpt.py", "--accumulate", "4"],
    "ResNet": ["resnet.py"],
    "ResNet, bf16": ["resnet.py", "--amp", "bf16"],
    "GAN": ["gan.py"],
}
# The largest errors that a dry run promises (docs/dryrun.md): two figures of the allocator, and that of the device, which has modeled parts.
ALLOCATED, RESERVED, DEVICE = 0.01, 0.03, 0.05
ORACLES = ("GptOnCuda", "ResnetOnCuda", "GanOnCuda", "AutoencoderLbfgsOnCuda", "GptOnGpus")


def model_named(machine: Machine, product: str) -> Optional[str]:
    """The model of `vramscope dryrun --gpu list` that the driver calls `product`."""
    for line in machine.run([machine.vramscope, "dryrun", "--gpu", "list"], 30, dict(os.environ)).splitlines():
        if line.rstrip().endswith(product):
            return line.split()[0]
    return None


def peaks(machine: Machine, trace: Path) -> Tuple[int, int, Optional[int]]:
    """Allocated, reserved, and used of the whole device."""
    device = next(device for device in machine.ask("report", str(trace))["devices"] if device["chosen"])
    return device["peak"]["allocated_bytes"], device["peak_reserved_bytes"] or 0, device["peak_device_used_bytes"]


def dryrun(machine: Machine, name: str, facts: Dict[str, Any]) -> Outcome:
    """Compares what a dry run predicts with a recording on the GPU."""
    model = machine.simulated or model_named(machine, facts["gpu"])
    if model is None:
        raise CannotRun(f"`vramscope dryrun --gpu list` has no model of {facts['gpu']}")
    words = PROGRAMS[name]
    key = "".join(letter if letter.isalnum() else "-" for letter in name)
    real, foretold = machine.work / f"real-{key}.vms", machine.work / f"foretold-{key}.vms"
    command = [machine.python, str(SAMPLES / words[0]), "--device", "cuda", *STEPS, *words[1:]]
    machine.run([machine.vramscope, "record", "--quiet", "-o", str(fresh(real)), "--", *command], 240)
    machine.run([machine.vramscope, "dryrun", "--gpu", model, "--steps", "all", "--keep-init", "-o", str(fresh(foretold)), "--", *command], 240,
                dict(os.environ))
    measured, passed = [], True
    for what, limit, one, other in zip(("allocated", "reserved", "device"), (ALLOCATED, RESERVED, DEVICE), peaks(machine, real), peaks(machine, foretold)):
        if not one or other is None:
            continue
        error = other / one - 1
        passed = passed and abs(error) <= limit
        measured.append(f"{what} {mib(one)} {'0' if one == other else f'{100 * error:+.3f} %'}")
    return Outcome(passed, "; ".join(measured))


def fresh(trace: Path) -> Path:
    trace.unlink(missing_ok=True)
    return trace


# ---- the cost

ROUNDS = 3
SLOWEST = 1.03  # of a step, recorded with the defaults


def slowdown(machine: Machine) -> Outcome:
    """Milliseconds a step: plain, recorded, torch.profiler with memory, _record_memory_history; in turn, the median of rounds."""
    if machine.simulated:
        raise CannotRun("needs a real GPU: kernels take no time on the simulated device")
    took: Dict[str, List[float]] = {}
    for number in range(ROUNDS):
        for way in ("plain", "vramscope", "history", "profiler"):
            command = [machine.python, str(SLOWDOWN), "plain" if way == "vramscope" else way]
            if way == "vramscope":
                command = [machine.vramscope, "record", "--quiet", "-o", str(fresh(machine.work / f"slowdown-{number}.vms")), "--", *command]
            took.setdefault(way, []).append(float(machine.run(command, 120).splitlines()[-1]))
    median = {way: statistics.median(times) for way, times in took.items()}
    text = ", ".join(f"{way} {time:.2f} ms ({time / median['plain']:.3f})" for way, time in median.items())
    return Outcome(median["vramscope"] <= SLOWEST * median["plain"], text)


# ---- attach

def attach(machine: Machine) -> Outcome:
    """Attaches to a running job, records five steps, and detaches. The job ends as if nothing had happened."""
    notes, trace = machine.work / "attached.jsonl", fresh(machine.work / "attached.vms")
    notes.unlink(missing_ok=True)
    with subprocess.Popen(machine.train("eager", notes, 4000 if machine.simulated is None else 400), env=machine.environment(), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as job:
        try:
            wait_for(lambda: notes.exists() and len(notes.read_text(encoding="utf-8").splitlines()) > 5, 120, job)
            machine.run([machine.vramscope, "attach", str(job.pid), "--duration", "5s", "-o", str(trace)], 90, dict(os.environ))
            if job.poll() is not None:
                return Outcome(False, f"the job ended with {job.returncode} while it was attached to")
            steps = len(notes.read_text(encoding="utf-8").splitlines())
            wait_for(lambda: len(notes.read_text(encoding="utf-8").splitlines()) > steps + 3, 60, job)
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()
    seen = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    answer = machine.ask("report", str(trace))
    begin = answer["peak"]["monotonic_ns"] - answer["peak"]["time_ns"]
    inside = [note for note in seen if begin + 10 ** 9 < note["monotonic_ns"] < begin + answer["duration_ns"]]
    if not inside:
        return Outcome(False, f"nothing of the {len(seen)} moments was recorded")
    at = [word for note in inside[:20] for word in ("--at", f"mono:{note['monotonic_ns']}")]
    moments = machine.ask("report", str(trace), *at)["moments"]
    worst = max(abs(moment["allocated_bytes"] - note["allocated"]) for note, moment in zip(inside, moments))
    return Outcome(worst == 0, f"{len(moments)} moments, allocated off by at most {mib(worst)}; the job went on")


def wait_for(done: Any, seconds: float, job: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + seconds
    while not done():
        if job.poll() is not None:
            assert job.stderr is not None
            raise Failed(f"the job ended with {job.returncode}: {job.stderr.read().strip()[-200:]}")
        if time.monotonic() > end:
            raise Failed(f"the job made no step for {seconds:.0f} s")
        time.sleep(0.1)


# ---- the oracle

def oracle(machine: Machine, name: str) -> Outcome:
    """Runs a class of tests/truth on this GPU's tensors."""
    if machine.simulated:
        raise CannotRun("on the simulated device this is a test of its own (ctest -R truth)")
    if not (machine.build / "tests/list_events").exists():
        raise CannotRun(f"{machine.build} has no tests/list_events")
    environment = {**os.environ, "VRAMSCOPE_BIN": machine.vramscope, "VRAMSCOPE_BINARY_DIR": str(machine.build / "tests"),
                   "VRAMSCOPE_TEST_PYTHON": machine.python, "VRAMSCOPE_TEST_REAL_GPU": "1", "VRAMSCOPE_TEST_DRAW": "all"}
    done = subprocess.run([sys.executable, str(TESTS / "truth/truth_test.py"), name], env=environment, capture_output=True, text=True, timeout=900, check=False)
    last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    if done.returncode == 77:
        raise CannotRun(last)
    return Outcome(done.returncode == 0, last)
