# SPDX-License-Identifier: Apache-2.0
"""Runs one program of programs.py in the ways that users run theirs, and reports what differs.

    plain     as it is, on the CPU, where its results are real
    record    under `vramscope record`: the same exit code and output, and the report's categories equal what the program knows about its memory
    dryrun    under `vramscope dryrun` with default options, on simulated GPUs: exit code 0, and the same for the categories
    try       under `vramscope try --dry`
"""
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import recorded_run  # noqa: E402

GPU = "h100-80gb"
MODES = ("plain", "record", "dryrun", "try")
TIMEOUT = 300.0  # of one program


class Known(NamedTuple):
    """A program, as far as it is known without importing PyTorch."""

    name: str
    ranks: int
    gpus: int
    on_cpu: bool = True
    alone: bool = False


def command(python: str, known: Known, alone: bool) -> List[str]:
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(known.ranks)] if known.ranks and not alone else []
    return [python, *launcher, str(HERE / "programs.py"), known.name]


def gpus(known: Known) -> List[str]:
    if known.alone:
        return ["--gpu", GPU, "--world-size", str(known.ranks), "--rank", "0"]
    return ["--gpu", GPU if known.gpus == 1 else f"{GPU}:{known.gpus}"]


def results(output: bytes) -> List[Any]:
    """The JSON lines of a program: frameworks print more, with times."""
    return [json.loads(line) for line in output.decode(errors="replace").splitlines() if line.startswith('{"steps"')]


class Modes:
    def __init__(self, python: str, known: Known, folder: Path) -> None:
        self._python, self._known, self._folder = python, known, folder

    def run(self, mode: str) -> Optional[List[str]]:
        """What is wrong, in sentences; empty: nothing. None: there is no such way to run it."""
        if mode in ("plain", "record") and not self._known.on_cpu:
            return None
        return getattr(self, "_" + ("try_" if mode == "try" else mode))()

    def _plain(self) -> List[str]:
        done = self._call([])
        self._expected = results(done.stdout)
        return _failure(done) if done.code else [] if self._expected else ["the program printed no result"]

    def _record(self) -> List[str]:
        trace = self._folder / "record.vms"
        done = self._call([recorded_run.vramscope(), "record", "--quiet", "-o", str(trace), "--"])
        if done.code:
            return _failure(done)
        found = results(done.stdout)
        differences = [] if found == self._expected else [f"printed {found}, without the recorder {self._expected}"]
        return differences + self._labels(trace)

    def _dryrun(self) -> List[str]:
        trace = self._folder / "dryrun.vms"
        done = self._call([recorded_run.vramscope(), "dryrun", *gpus(self._known), "-o", str(trace), "--"])
        return _failure(done) if done.code else self._labels(trace)

    def _try_(self) -> List[str]:
        done = self._call([recorded_run.vramscope(), "try", "--dry", *gpus(self._known), "--empty-cache", "after-step", "--"])
        return _failure(done) if done.code else []

    def _call(self, before: List[str]) -> recorded_run.Finished:
        for file in self._folder.glob("points.*"):
            file.unlink()
        environment = recorded_run.clean_environment(VRAMSCOPE_POINTS=str(self._folder / "points"), TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1")
        return recorded_run.run([*before, *command(self._python, self._known, bool(before) and self._known.alone)],
                                timeout=TIMEOUT * (2 if "try" in before else 1), env=environment)

    def _labels(self, trace: Path) -> List[str]:
        """Where the report's categories differ from what the program knew at its points."""
        recorded = {process["pid"] for process in recorded_run.ask("info", str(trace))["processes"]}
        wrong = []
        for file in sorted(self._folder.glob("points.*")):
            points = [json.loads(line) for line in file.read_text().splitlines()]
            points = [point for point in points if point["pid"] in recorded]  # a dry run may run the command several times
            if not points:
                return [f"{file.suffix[1:]}: the trace has none of the processes that made points"]
            at = [argument for point in points for argument in ("--at", f"mono:{(point['before_ns'] + point['after_ns']) // 2}")]
            answer = recorded_run.ask("report", str(trace), "--process", str(points[0]["pid"]), "--device", points[0]["device"], *at)
            for number, (point, moment) in enumerate(zip(points, answer["moments"]), 1):
                for role, expected in point["bytes"].items():
                    if moment["categories"][role] != expected:
                        wrong.append(f"{file.suffix[1:]}: step {number}: {role} {moment['categories'][role]}, the program has {expected}")
        return wrong if at_least_one(self._folder) else ["the program made no point"]


def at_least_one(folder: Path) -> bool:
    return any(os.path.getsize(file) for file in folder.glob("points.*"))


def _failure(done: recorded_run.Finished) -> List[str]:
    lines = [line for line in (done.stdout + done.stderr).decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line and "ChildFailedError" not in line]
    return [f"exit code {done.code}: {(errors or lines[:1] or ['no message'])[-1].strip()[:300]}"]


def known_programs(python: str) -> Dict[str, Known]:
    """All programs, as programs.py lists them."""
    ask = "import json, programs; print(json.dumps([[name, p.packages, p.ranks, p.gpus, p.on_cpu, p.alone] for name, p in programs.PROGRAMS.items()]))"
    done = recorded_run.run([python, "-c", ask], cwd=str(HERE))
    if done.code:
        raise AssertionError(done.stderr.decode())
    return {name: Known(name, *rest) for name, _, *rest in json.loads(done.stdout)}
