# SPDX-License-Identifier: Apache-2.0
"""Checks a build on a machine with a GPU, row by row, and writes a Markdown table. Each row passes or fails by itself.

    check.py BUILD --python PYTHON --out FOLDER [--only WORD...] [--again] [--minutes N] [--simulated MODEL]

A row is measured once: what FOLDER/results.json has is not measured again, so that a check which was cut off goes on where it was. The table is written
after every row. Exit 0: no row failed.
"""
import argparse
import datetime
import functools
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple

from machine import CannotRun, Failed, Machine, Outcome, mib
import program_rows
import recorded_rows

SKIPPED = "not here"
LATE = "no time"


class Row(NamedTuple):
    name: str
    what: str
    measure: Callable[[], Outcome]


def facts(machine: Machine, what: str) -> Dict[str, Any]:
    """The output of `facts.py`, which runs once; its answer is kept."""
    kept = machine.work / f"facts-{what}.json"
    if not kept.exists():
        lines = machine.run([machine.python, str(Path(__file__).with_name("facts.py")), what], 120).splitlines()
        kept.write_text(lines[-1], encoding="utf-8")
    return json.loads(kept.read_text(encoding="utf-8"))


def context(machine: Machine) -> Outcome:
    first, kernels = facts(machine, "context"), facts(machine, "kernels")
    return Outcome(first["used_bytes"] > 0,
                   f"context {mib(first['used_bytes'])}, with the first kernels {mib(kernels['used_bytes'])}, if nobody else uses the GPU")


def rows_of(machine: Machine) -> List[Row]:
    """The surest and cheapest first: time may run out."""
    bind = functools.partial
    rows = [Row("context", "what a process takes before its first tensor", bind(context, machine))]
    for way in recorded_rows.WAYS:
        for check, measure in recorded_rows.CHECKS.items():
            rows.append(Row(f"{way} {check}", recorded_rows.TITLES[check], bind(measure, machine, way)))
    for way, row, library in recorded_rows.LIBRARIES:
        rows.append(Row(f"{way} {library}", "what this library takes is known to be its own", bind(recorded_rows.told_apart, machine, way, row, library)))
    rows.append(Row("attach", "attach to a running job", bind(program_rows.attach, machine)))
    rows.append(Row("slowdown", "milliseconds a step, at most 3 % more", bind(program_rows.slowdown, machine)))
    for name in program_rows.PROGRAMS:
        rows.append(Row(f"dryrun {name}", "dry run = recording: allocated 1 %, reserved 3 %, device 5 %",
                        lambda name=name: program_rows.dryrun(machine, name, facts(machine, "context"))))
    rows.append(Row("cupti", "--cupti on counts what the hooks count", bind(recorded_rows.cupti, machine)))
    rows.append(Row("profiler", "torch.profiler works beside the recorder", bind(recorded_rows.profiler_beside, machine)))
    for name in program_rows.ORACLES:
        rows.append(Row(f"oracle {name}", "tests/truth on real tensors", bind(program_rows.oracle, machine, name)))
    return rows


def measure(row: Row) -> Dict[str, Any]:
    begin = time.monotonic()
    try:
        outcome = row.measure()
        result = "pass" if outcome.passed else "FAIL" if outcome.passed is not None else SKIPPED
        measured = outcome.measured
    except CannotRun as reason:
        result, measured = SKIPPED, str(reason)
    except (Failed, subprocess.TimeoutExpired) as reason:
        result, measured = "FAIL", str(reason)
    except Exception as error:  # a row that breaks must not stop the others
        traceback.print_exc()
        result, measured = "FAIL", f"{type(error).__name__}: {error}"
    return {"result": result, "measured": measured, "seconds": round(time.monotonic() - begin, 1)}


def table(machine: Machine, rows: List[Row], results: Dict[str, Any], headline: str) -> str:
    counts = {kind: sum(results.get(row.name, {}).get("result") == kind for row in rows) for kind in ("pass", "FAIL", SKIPPED, LATE)}
    lines = [f"# {headline}", "",
             f"{counts['pass']} passed, {counts['FAIL']} failed, {counts[SKIPPED]} cannot run here, {counts[LATE]} not run for lack of time. "
             "Written by `tests/gpu/check.sh`.", ""]
    if machine.simulated:
        lines += ["**On the simulated device**: this shows that the check works, and nothing about a GPU.", ""]
    lines += ["| row | what | result | measured | s |", "|---|---|---|---|---|"]
    for row in rows:
        result = results.get(row.name)
        if result is not None:
            measured = result["measured"].replace("|", "/").replace("\n", " ")
            lines.append(f"| {row.name} | {row.what} | {result['result']} | {measured} | {result['seconds']} |")
    return "\n".join(lines) + "\n"


def headline_of(machine: Machine) -> str:
    try:
        known = facts(machine, "context")
        return f"{known['gpu']}, driver {known['driver']}, PyTorch {known['torch']}, {datetime.date.today()}"
    except (Failed, json.JSONDecodeError, OSError) as reason:
        return f"unknown GPU ({reason}), {datetime.date.today()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="has bin/vramscope: a build folder, an installation or an unpacked package")
    parser.add_argument("--python", required=True, help="an interpreter with PyTorch")
    parser.add_argument("--out", type=Path, required=True, help="for the table, the results and the recordings")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="rows whose name has one of these words")
    parser.add_argument("--again", action="store_true", help="also rows that have been measured")
    parser.add_argument("--minutes", type=float, default=25, help="rows that have not begun by then are left out (default 25)")
    parser.add_argument("--simulated", metavar="MODEL", help="with the simulated device in the GPU's place: tests the check itself")
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / "bin/vramscope").exists():
        parser.error(f"there is no {build}/bin/vramscope: name a build folder or an unpacked package")
    end = time.monotonic() + 60 * options.minutes
    machine = Machine(build, options.python, options.out.resolve(), options.simulated)
    kept, written = machine.work.parent / "results.json", machine.work.parent / "gpu-check.md"
    results: Dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    rows = rows_of(machine)
    asked = [row for row in rows if options.only is None or any(word in row.name for word in options.only)]
    headline = headline_of(machine)
    for row in asked:
        if results.get(row.name, {}).get("result") in ("pass", "FAIL", SKIPPED) and not options.again:
            continue
        if time.monotonic() > end:
            results[row.name] = {"result": LATE, "measured": f"{options.minutes:.0f} minutes were over", "seconds": 0}
        else:
            results[row.name] = measure(row)
        print(f"{results[row.name]['result']:>8}  {row.name}: {results[row.name]['measured']}", flush=True)
        kept.write_text(json.dumps(results, indent=1), encoding="utf-8")
        written.write_text(table(machine, rows, results, headline), encoding="utf-8")
    print(f"{written}")
    return 1 if any(results.get(row.name, {}).get("result") in ("FAIL", LATE) for row in asked) else 0


if __name__ == "__main__":
    sys.exit(main())
