#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that a plan of `vramscope plan` really fits.

Oracle: PyTorch's own allocator. Each problem is a program and a limit, a share of the memory that it reserves. The program is recorded once on the
simulated GPU, and run once more with the best plan applied from outside. What it then reserves must be within the limit.

    python3 plan_test.py --all        20 problems, and the table for docs/accuracy.md
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "simulated_cuda")]
import drawn  # noqa: E402
import recorded_run  # noqa: E402
from recorded_run import SAMPLES, clean_environment, python, run, vramscope  # noqa: E402

GPU = "rtx-4090"
COMMON = ["--device", "cuda", "--workers", "1"]
PROGRAMS = {
    "gpt": ["gpt.py", "--layers", "6", "--dim", "256", "--batch", "32", "--steps", "4"],
    "gpt, wide": ["gpt.py", "--layers", "2", "--dim", "1024", "--batch", "8", "--steps", "4"],
    "gpt, deep": ["gpt.py", "--layers", "14", "--dim", "128", "--batch", "32", "--steps", "4"],
    "resnet": ["resnet.py", "--layers", "2", "--dim", "64", "--batch", "64", "--steps", "4"],
    "mlp": ["mlp_small.py", "--dim", "2048", "--batch", "256", "--layers", "6", "--steps", "4"],
}
SHARES = (0.9, 0.75, 0.6, 0.45)  # of what the program reserves
FORBIDDEN = "empty-cache"  # the cheapest change there is: the others would not be tried


class Problem(NamedTuple):
    program: str
    share: float


USUAL = Problem("gpt", 0.6)


class Row(NamedTuple):
    problem: Problem
    plan: str  # "" = there was none
    limit: int
    predicted: int
    at_most: int
    measured: int  # 0 = it could not be run with the plan
    why_not: str


def record(program: str, folder: Path) -> Tuple[Path, List[str]]:
    sample, *flags = PROGRAMS[program]
    command = [python(), str(SAMPLES / sample), *COMMON, *flags]
    trace = folder / "run.vms"
    done = run([vramscope(), "dryrun", "--gpu", GPU, "--steps", "all", "-o", str(trace), "--", *command], env=clean_environment(), timeout=900)
    if done.code != 0:
        raise AssertionError(f"{program}: exit {done.code}: {done.stderr.decode()[-2000:]}")
    return trace, command


def plan(trace: Path, *options: str) -> Tuple[int, Dict[str, Any]]:
    done = run([vramscope(), "plan", str(trace), "--json", *options], env=clean_environment(), timeout=600)
    if done.code not in (0, 1):
        raise AssertionError(f"plan {' '.join(options)}: exit {done.code}: {done.stderr.decode()}")
    return done.code, json.loads(done.stdout)


def solve(trace: Path, command: List[str], problem: Problem) -> Row:
    _, recorded = plan(trace, "--fit", "1TiB")
    limit = int(problem.share * recorded["before"]["peak"]["reserved_peak_bytes"])
    code, answer = plan(trace, "--fit", f'{limit + recorded["beside_bytes"]}B', "--forbid", FORBIDDEN, "--top", "1", "--verify", "--gpu", GPU, "--", *command)
    assert answer["reserved_limit_bytes"] == limit
    if code == 1:
        return Row(problem, "", limit, 0, answer["floor"]["reserved_at_most_bytes"], 0, "")
    best = answer["plans"][0]
    measured = best["measured"]
    text = " ".join(f"--{change['lever']} {change['value']}" for change in best["changes"])
    return Row(problem, text, limit, best["after"]["peak"]["reserved_peak_bytes"], best["reserved_at_most_bytes"], measured.get("reserved_bytes", 0),
               measured.get("why_not", ""))


class Plans(recorded_run.RecordingTest):
    def test_the_best_plan_fits_when_the_program_is_really_run_with_it(self) -> None:
        trace, command = record(USUAL.program, self.folder)
        row = solve(trace, command, USUAL)
        self.assertTrue(row.plan)
        self.assertEqual(row.why_not, "")
        self.assertLessEqual(row.at_most, row.limit)
        self.assertLessEqual(row.measured, row.limit)
        self.check_other_questions(trace)

    def check_other_questions(self, trace: Path) -> None:
        code, nothing = plan(trace, "--fit", "1MiB")
        self.assertEqual(code, 1)
        self.assertGreater(nothing["shortfall_bytes"], 0)
        self.assertEqual(nothing["plans"], [])
        refused = run([vramscope(), "plan", str(trace), "--largest-batch", "--fit", "24GiB"], env=clean_environment(), timeout=600)
        self.assertEqual(refused.code, 3)
        self.assertIn("re-runs of the recorded program", refused.stderr.decode())
        _, smallest = plan(trace, "--smallest-gpu")
        self.assertTrue(smallest["gpus"][0]["fits_as_recorded"])
        _, only = plan(trace, "--fit", f'{nothing["beside_bytes"] + nothing["before"]["peak"]["reserved_peak_bytes"] * 9 // 10}B', "--allow", "checkpoint")
        self.assertEqual({change["lever"] for change in only["plans"][0]["changes"]}, {"checkpoint"})

    def test_bad_usage_is_told(self) -> None:
        for words, part in (([], "plan needs a trace"), (["x.vms"], "plan needs a limit"), (["x.vms", "--fit", "huge"], "--fit needs a size"),
                            (["x.vms", "--fit", "1GiB", "--allow", "magic"], "there is no change called"),
                            (["x.vms", "--fit", "1GiB", "--", "ls"], "only with --verify"),
                            (["--vary", "tp=--tp", "--", "ls"], "--vary needs a GPU and a command"), (["x.vms", "--world-size", "2"], "needs --vary"),
                            (["--fit", "t4", "--vary", "tp=--tp", "--", "ls"], "add --world-size, or the values"),
                            (["--fit", "t4", "--vary", "tp", "--", "ls"], "must be a name and a flag")):
            done = run([vramscope(), "plan", *words])
            self.assertEqual(done.code, 2)
            self.assertIn(part, done.stderr.decode())


@drawn.whole(3)
class Layouts(recorded_run.RecordingTest):
    def test_layouts_of_a_job_are_dry_run(self) -> None:
        """The oracle is a dry run of the same command with that flag. A value that the program refuses is a row, too."""
        program = [python(), str(Path(__file__).with_name("layouts.py"))]
        job = ["--world-size", "2"]
        done = run([vramscope(), "plan", "--fit", "h100-80gb", *job, "--vary", "tp=--tp:1,2,3", "--json", "--", *program])
        self.assertEqual(done.code, 0, done.stderr.decode())
        replicated, sharded, refused = json.loads(done.stdout)["layouts"]
        self.assertEqual([row["values"]["tp"] for row in (replicated, sharded, refused)], [1, 2, 3])
        self.assertEqual((replicated["fits"], sharded["fits"], refused["fits"]), (True, True, None))
        self.assertIn("failed with exit code 1", refused["why_not"])
        saved = replicated["peak"]["allocated_bytes"] - sharded["peak"]["allocated_bytes"]
        self.assertGreater(saved, 1.5 * 4 * 4 * (1 << 20), "nearly half of parameters, gradients and two states")
        alone = run([vramscope(), "dryrun", "--gpu", "h100-80gb", *job, "--quiet", "--json", "--", *program, "--tp", "2"])
        self.assertEqual(sharded["peak"]["allocated_bytes"], json.loads(alone.stdout)["peak"]["allocated_bytes"])


def all_problems() -> None:
    print("| program | limit, MiB | plan | predicted | at most | measured | fits |")
    print("|---|---|---|---|---|---|---|")
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            trace, command = record(program, Path(folder))
            for share in SHARES:
                row = solve(trace, command, Problem(program, share))
                numbers = [f"{value / (1 << 20):.1f}" for value in (row.limit, row.predicted, row.at_most, row.measured)]
                fits = "no plan" if not row.plan else "?" if row.why_not else "yes" if row.measured <= row.limit else "no"
                print(f"| {program} | {numbers[0]} | {row.plan} | {numbers[1]} | {numbers[2]} | {numbers[3]} | {fits} {row.why_not}|", flush=True)


if __name__ == "__main__":
    if "--all" in sys.argv[1:]:
        os.environ.setdefault("VRAMSCOPE_TEST_PYTHON", sys.executable)
        all_problems()
    else:
        recorded_run.main()
