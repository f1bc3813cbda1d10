# SPDX-License-Identifier: Apache-2.0
"""Measures what recording costs the recorded program, compared with other profilers.

    VRAMSCOPE_TEST_PYTHON=.../python bench/record_cost.py [--pairs 10] [--only mlp] [--clock cpu]

How: a pair is one run of a variant and one unrecorded run at the same time. The two programs share one core and run in turns of some
milliseconds, so that a busy neighbor or a slower clock affects both. The collector has the other cores. The figure of a run is its median
step, that of a pair is the ratio of its two runs, and that of a variant is the median of its pairs, printed with the middle half of them.
Ratios below 1 are noise. "Quiet" is the same ratio for the fastest tenth of the steps. On a busy machine, `--clock cpu` compares CPU time.

Prints a table; fails only on figures so bad that something is broken (LIMITS).
"""
import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from recorded_run import SAMPLES, clean_environment, python, vramscope  # noqa: E402

STEP_TIME = str(Path(__file__).resolve().parent / "step_time.py")

Wrap = Callable[[List[str], Path], List[str]]  # (command of the program, scratch folder) -> command that measures it


class Workload(NamedTuple):
    title: str
    arguments: List[str]  # of step_time.py
    turn: int             # steps in a turn: 5 ms or more, so that the caches are warm in most of them
    unit: float           # ns in the unit that is printed
    unit_name: str


WORKLOADS: Dict[str, Workload] = {
    "loop": Workload("tight loop: torch.empty(256) and its free", ["loop"], 1, 1, "ns"),
    "mlp": Workload("small-op MLP, samples/mlp_small.py", [str(SAMPLES / "mlp_small.py"), "--steps", "2000"], 50, 1e3, "us/step"),
    "gpt": Workload("samples/gpt.py", [str(SAMPLES / "gpt.py"), "--steps", "60"], 1, 1e6, "ms/step"),
}


# Not RANK: if it is set, the samples create a process group.
RANK_OF_JOB = ["env", "SLURM_PROCID=0", "SLURM_NTASKS=2"]


def recorded(*options: str, names: bool = True, of_job: bool = False) -> Wrap:
    def wrap(command: List[str], scratch: Path) -> List[str]:
        if of_job:  # so that it gets a summary
            command = [*RANK_OF_JOB, *command]
        if not names:  # without the Python shim
            command = ["env", "-u", "PYTHONPATH", "VRAMSCOPE_OPTIONS=device=auto;depth=light;deep_steps=2-4;stacks=none", *command]
        return [vramscope(), "record", "--quiet", "-o", str(scratch / "run.vms"), *options, "--", *command]
    return wrap


def memray(*options: str) -> Wrap:
    def wrap(command: List[str], scratch: Path) -> List[str]:
        at = command.index(STEP_TIME)
        return [*command[:at], "-m", "memray", "run", "-q", "-f", "-o", str(scratch / "memray.bin"), *options, *command[at:]]
    return wrap


def heaptrack(command: List[str], scratch: Path) -> List[str]:
    known = subprocess.run(["heaptrack", "--help"], capture_output=True).stdout
    option = "--record-only" if b"--record-only" in known else "--raw"  # renamed in heaptrack 1.5
    return ["heaptrack", option, "-o", str(scratch / "heaptrack"), *command]


def profiled(kind: str) -> Wrap:
    def wrap(command: List[str], scratch: Path) -> List[str]:
        at = command.index(STEP_TIME) + 1
        return [*command[:at], "--profile", kind, *command[at:]]
    return wrap


VARIANTS: Dict[str, Wrap] = {
    "vramscope, no names": recorded("--depth", "light", names=False),
    "vramscope, light": recorded("--depth", "light"),
    "vramscope, light, one rank of a job": recorded("--depth", "light", of_job=True),
    "vramscope, light, --keep summary": recorded("--depth", "light", "--keep", "summary", of_job=True),
    "vramscope, default": recorded(),
    "vramscope, default, no program": recorded("--program", "off"),
    "vramscope, every step deep": recorded("--depth", "all"),
    "vramscope, every step deep, Python stacks": recorded("--depth", "all", "--stacks", "python"),
    "vramscope, every step deep, all stacks": recorded("--depth", "all", "--stacks", "all"),
    "torch.profiler(profile_memory)": profiled("memory"),
    "torch.profiler(..., with_stack)": profiled("stack"),
    "memray": memray(),
    "memray --native": memray("--native"),
    "heaptrack": heaptrack,
}
# Far beyond what was promised: only a broken build or a very busy machine is slower.
LIMITS = {("mlp", "vramscope, light"): 1.25, ("gpt", "vramscope, light"): 1.15}


def available(variant: str) -> bool:
    if variant == "heaptrack":
        return shutil.which("heaptrack") is not None
    if variant.startswith("memray"):
        return subprocess.run([python(), "-c", "import memray"], env=environment(), capture_output=True).returncode == 0
    return True


def environment(**settings: str) -> Dict[str, str]:
    extra = os.environ.get("VRAMSCOPE_BENCH_PYTHONPATH")  # where memray is, if not installed with PyTorch
    return clean_environment(**settings, **({"PYTHONPATH": extra} if extra else {}))


def cores() -> Tuple[str, str]:
    """The core of the program, and those of everything else."""
    usable = sorted(os.sched_getaffinity(0))
    return str(usable[-1]), ",".join(map(str, usable[:-1] or usable))


def start(
    workload: Workload, wrap: Optional[Wrap], pair: int, scratch: Path, turns: socket.socket, begins: bool, clock: str
) -> "subprocess.Popen[bytes]":
    program_core, other_cores = cores()
    taking_turns = ["--turns", str(turns.fileno()), "--turn-steps", str(workload.turn)] + ["--turn-begins"] * begins
    command = ["taskset", "-c", program_core, python(), STEP_TIME, "--clock", clock, *taking_turns, str(scratch / "result.json"), *workload.arguments]
    if wrap:
        command = wrap(command, scratch)
    command = ["taskset", "-c", other_cores, *command]
    settings = environment(PYTHONHASHSEED=str(pair))  # hash collisions change the time by a percent or two: the same for both
    return subprocess.Popen(command, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[turns.fileno()])


def measure(workload: Workload, base: Optional[Wrap], wrap: Wrap, pair: int, clock: str) -> List[Tuple[float, float]]:
    """Runs the base (None: unrecorded) and the variant as a pair. For each: ns of the median step, and of the slowest step of the fastest tenth."""
    with tempfile.TemporaryDirectory(prefix="vramscope-bench-") as folder:
        running = []
        ends = socket.socketpair()
        for end, name, changed, begins in zip(ends, ("base", "changed"), (base, wrap), (pair % 2 == 0, pair % 2 == 1)):
            scratch = Path(folder) / name  # separate also for a variant paired with itself, whose ratio shows the noise
            scratch.mkdir()
            running.append((scratch, start(workload, changed, pair, scratch, end, begins, clock)))
        for end in ends:
            end.close()  # a program that ends early must not leave the other waiting
        results = []
        for scratch, program in running:
            _, errors = program.communicate()
            if program.returncode != 0:
                raise RuntimeError(f"{program.args}: exit {program.returncode}: {errors.decode()[-500:]}")
            times = json.loads((scratch / "result.json").read_text())
            results.append((times["median_ns"], times["p10_ns"]))
        return results


class Cost(NamedTuple):
    plain: float
    with_recording: float
    ratios: List[float]
    quiet_ratios: List[float]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def quiet(self) -> float:
        return statistics.median(self.quiet_ratios)

    @property
    def spread(self) -> Tuple[float, float]:
        quarters = statistics.quantiles(self.ratios, n=4)
        return quarters[0], quarters[2]


def compare(workload: Workload, base: Optional[Wrap], variants: List[str], pairs: int, clock: str) -> Dict[str, Cost]:
    plain: Dict[str, List[Tuple[float, float]]] = {variant: [] for variant in variants}
    changed: Dict[str, List[Tuple[float, float]]] = {variant: [] for variant in variants}
    for pair in range(pairs):
        for variant in variants:
            unrecorded, recorded_run = measure(workload, base, VARIANTS[variant], pair, clock)
            plain[variant].append(unrecorded)
            changed[variant].append(recorded_run)
        print(f"{workload.title}: pair {pair + 1} of {pairs}", file=sys.stderr)
    return {variant: _cost(plain[variant], changed[variant]) for variant in variants}


def _cost(plain: List[Tuple[float, float]], changed: List[Tuple[float, float]]) -> Cost:
    ratios, quiet = ([after[i] / before[i] for before, after in zip(plain, changed)] for i in (0, 1))
    return Cost(statistics.median(run[0] for run in plain), statistics.median(run[0] for run in changed), ratios, quiet)


def show(workload: Workload, costs: Dict[str, Cost], loop: bool) -> None:
    print(f"\n{workload.title}\n")
    print(f"| variant | {workload.unit_name} without | with | ratio | middle half | quiet |{' ns per event |' if loop else ''}")
    print(f"|---|---|---|---|---|---|{'---|' if loop else ''}")
    for variant, cost in costs.items():
        low, high = cost.spread
        row = f"| {variant} | {cost.plain / workload.unit:.1f} | {cost.with_recording / workload.unit:.1f} | "
        row += f"{cost.ratio:.3f} | {low:.3f} to {high:.3f} | {cost.quiet:.3f} |"
        print(row + (f" {(cost.ratio - 1) * cost.plain / 2:.1f} |" if loop else ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", choices=WORKLOADS, action="append", help="one workload; may be given again")
    parser.add_argument("--variant", action="append", help="variants whose name has this in it; may be given again")
    parser.add_argument("--against", choices=VARIANTS, help="pair each run with this variant instead of an unrecorded run")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="compare time, or CPU time of the program")
    options = parser.parse_args()
    variants = [name for name in VARIANTS if available(name) and (not options.variant or any(part in name for part in options.variant))]
    broken = []
    for key in options.only or WORKLOADS:
        costs = compare(WORKLOADS[key], VARIANTS.get(options.against), variants, options.pairs, options.clock)
        show(WORKLOADS[key], costs, key == "loop")
        broken += [f"{key}, {name}: {cost.ratio:.2f}" for name, cost in costs.items() if cost.ratio > LIMITS.get((key, name), float("inf"))]
    for sentence in broken:
        print(f"far too slow: {sentence}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
