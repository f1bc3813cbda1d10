#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for a cheaper plan than the one that `vramscope plan --verify` proposes: really runs every combination of a grid that costs less.

    python3 exhaustive.py --results FILE [--program NAME]        20 problems, and the table for docs/accuracy.md

Oracle: PyTorch's own allocator on the simulated GPU. The grid, for each program:

    alloc-conf    as it is, expandable_segments:True
    optimizer     as it is, adamw in a loop and fused, momentum, sgd
    checkpoint    every set of blocks if there are at most six, else every run of consecutive blocks

Which one is cheaper is decided by the planner's own order: time, then depth (docs/plan.md). A combination is not run if its prediction is more than a
quarter above the limit, ten times the largest error so far (docs/accuracy.md). FILE keeps the results, so that an interrupted run goes on.
"""
import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "simulated_cuda")]
import plan_test  # noqa: E402
from device import environment  # noqa: E402
from recorded_run import ask, python  # noqa: E402

Changes = Tuple[Tuple[str, str], ...]  # lever and value
DEPTHS = ("alloc-conf", "empty-cache", "optimizer", "checkpoint")
BLOCKS = {"gpt": ("blocks", 6), "gpt, wide": ("blocks", 2), "gpt, deep": ("blocks", 14), "resnet": ("blocks", 6), "mlp": ("hidden", 5)}
BEYOND = 1.25  # of the limit
AT_A_TIME = 256  # questions to whatif
MOST_FOR_ALL_SETS = 6


class Judged(NamedTuple):
    changes: Changes
    rank: Tuple[bool, float, int]
    predicted: int
    at_most: int


def rank(changes: Changes, extra_ns: float) -> Tuple[bool, float, int]:
    """The order of profiler/plan/rank.h, for programs that train with AdamW."""
    other = any(lever == "optimizer" and not value.startswith("adamw") for lever, value in changes)
    depth = sum(1 << (len(DEPTHS) if lever == "optimizer" and not value.startswith("adamw") else DEPTHS.index(lever)) for lever, value in changes)
    return other, extra_ns, depth


def block_sets(count: int) -> Iterator[List[int]]:
    if count <= MOST_FOR_ALL_SETS:
        for size in range(1, count + 1):
            yield from map(list, itertools.combinations(range(count), size))
    else:
        yield from (list(range(first, end)) for first in range(count) for end in range(first + 1, count + 1))


def grid(path: str, blocks: int) -> Iterator[Changes]:
    for choice in itertools.product(
        [(), (("alloc-conf", "expandable_segments:True"),)],
        [(), *((("optimizer", name),) for name in ("adamw:for-loop", "adamw:fused", "momentum", "sgd"))],
        [(), *((("checkpoint", ",".join(f"{path}.{block}" for block in chosen)),) for chosen in block_sets(blocks))],
    ):
        yield tuple(itertools.chain(*choice))


def judge(trace: Path, combinations: List[Changes]) -> List[Judged]:
    judged = []
    for begin in range(0, len(combinations), AT_A_TIME):
        some = combinations[begin:begin + AT_A_TIME]
        texts = [" ".join(f"{lever}={value}" for lever, value in changes) for changes in some]
        answer = ask("whatif", str(trace), *(word for text in texts for word in ("--compare", text)))
        for changes, case in zip(some, answer["cases"]):
            if not case["refused"]:
                extra_ns = sum(lever["extra_ns"] or 0 for lever in case["levers"])
                judged.append(Judged(changes, rank(changes, extra_ns), case["after"]["peak"]["reserved_peak_bytes"],
                                     case["error_band"]["reserved_at_most_bytes"]))
    return judged


class Reruns:
    """The runs so far, kept in a file: program and changes, and the bytes that were reserved."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.reserved: Dict[str, Any] = {row["name"]: row["reserved"] for row in map(json.loads, lines)}

    def run(self, program: str, combinations: List[Changes]) -> None:
        cases = [case(program, changes) for changes in combinations if name_of(program, changes) not in self.reserved]
        if not cases:
            return
        with tempfile.TemporaryFile("w+") as questions, subprocess.Popen(
                [python(), str(HERE / "rerun.py")], stdin=questions, stdout=subprocess.PIPE, text=True,
                env=environment(python(), plan_test.GPU, PYTHONWARNINGS="ignore")) as running:
            json.dump(cases, questions)
            questions.seek(0)
            assert running.stdout is not None
            for line in running.stdout:
                row = json.loads(line)
                self.reserved[row["name"]] = row["reserved"]
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(line)

    def of(self, program: str, changes: Changes) -> Any:
        return self.reserved.get(name_of(program, changes))


def name_of(program: str, changes: Changes) -> str:
    return " ".join([program + ":", *(f"{lever}={value}" for lever, value in changes)])


def case(program: str, changes: Changes) -> Dict[str, Any]:
    """The changes as flags of the sample; blocks by `try`."""
    sample, *flags = [*plan_test.PROGRAMS[program][:1], *plan_test.COMMON, *plan_test.PROGRAMS[program][1:]]
    asked = dict(changes)
    family, _, way = asked.get("optimizer", "").partition(":")
    flags += (["--optimizer", family] if family else []) + (["--optimizer-impl", way] if way else [])
    checkpoint = asked["checkpoint"].split(",") if "checkpoint" in asked else []
    return {"name": name_of(program, changes), "program": sample[:-3], "flags": flags, "checkpoint": checkpoint, "alloc_conf": asked.get("alloc-conf", "")}


def solve(program: str, reruns: Reruns) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trace, command = plan_test.record(program, Path(folder))
        judged = judge(trace, list(grid(*BLOCKS[program])))
        _, recorded = plan_test.plan(trace, "--fit", "1TiB")
        for share in plan_test.SHARES:
            limit = int(share * recorded["before"]["peak"]["reserved_peak_bytes"])
            _, answer = plan_test.plan(trace, "--fit", f'{limit + recorded["beside_bytes"]}B', "--forbid", plan_test.FORBIDDEN, "--top", "1",
                                       "--verify", "--gpu", plan_test.GPU, "--", *command)
            if not answer["plans"]:
                print(f"| {program} | {limit / (1 << 20):.1f} | none | | | | |", flush=True)
                continue
            best = answer["plans"][0]
            chosen: Changes = tuple((change["lever"], change["value"]) for change in best["changes"])
            cost = rank(chosen, best["extra_ns"] or 0)
            cheaper = [one for one in judged if one.rank[0] <= cost[0] and one.rank < cost and one.rank[1] < cost[1] * (1 + 1e-9) + 1]
            near = sorted((one for one in cheaper if one.predicted <= BEYOND * limit), key=lambda one: one.rank)
            reruns.run(program, [chosen, *(one.changes for one in near)])
            fit = [one for one in near if (reruns.of(program, one.changes) or limit + 1) <= limit]
            overlooked = [one for one in cheaper if one.at_most <= limit]
            measured = reruns.of(program, chosen)
            told = name_of(program, fit[0].changes).partition(": ")[2] if fit else "none"
            row = [program, f"{limit / (1 << 20):.1f}", name_of(program, chosen).partition(": ")[2], f"{measured / (1 << 20):.1f}" if measured else "not run",
                   f"{len(cheaper)}, {len(near)}", str(len(overlooked)), told]
            print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, metavar="FILE")
    parser.add_argument("--program", action="append", choices=list(plan_test.PROGRAMS))
    options = parser.parse_args()
    print("| program | limit, MiB | plan | measured | cheaper, of them run | within the limit by their bound | cheapest that really fits |\n"
          "|---|---|---|---|---|---|---|")
    for program in options.program or plan_test.PROGRAMS:
        solve(program, Reruns(options.results))


if __name__ == "__main__":
    main()
