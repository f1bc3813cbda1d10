# SPDX-License-Identifier: Apache-2.0
"""Finds out what runs on the simulated device, and writes the tables of breadth.md. Rows that fail have their messages.

    breadth.py                              all sections, through `vramscope dryrun`, with this Python's PyTorch; about half an hour
    breadth.py --section trainers           one of them; the others stay as they are
    breadth.py --section trainers ROW...    these rows of it; the table keeps its others. Rows of operators are only printed

Sections: operators (PyTorch's own list, op_db), architectures (transformers, torchvision), trainers (trainers.py, ranks.py). They need expecttest,
transformers, torchvision, triton, lightning, accelerate, peft, bitsandbytes, deepspeed; what is not installed fails with Python's own message.
VRAMSCOPE_BIN names the vramscope to use.
"""
import argparse
import importlib.metadata
import json
import re
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import recorded_run  # noqa: E402

DOCUMENT = HERE / "breadth.md"
GPU = "h100-80gb"
LONGEST_MESSAGE = 220
PACKAGES = ("torch", "transformers", "torchvision", "triton", "lightning", "accelerate", "peft", "bitsandbytes", "deepspeed")

# Programs of trainers.py, and of ranks.py after "ranks", each with the rank of a job as which it runs.
ALONE = (
    "transformers_trainer", "transformers_trainer_compiled", "transformers_generate", "lightning_trainer", "accelerate_loop", "peft_lora",
    "bitsandbytes_absent", "bitsandbytes_adamw_8bit", "bitsandbytes_linear_4bit", "torch_compile", "torch_compile_reduce_overhead",
    "torch_compile_max_autotune", "torch_compile_dynamic", "deepspeed_zero_2")
OF_MANY = (
    ("ranks ddp", 8, 3), ("ranks zero1", 8, 3), ("ranks fsdp1", 8, 3), ("ranks fsdp2", 8, 3), ("ranks tensor_parallel", 8, 3),
    ("deepspeed_zero_1", 8, 3), ("deepspeed_zero_2", 8, 3), ("deepspeed_zero_3", 8, 3), ("deepspeed_zero_3_offload", 8, 3),
    ("transformers_trainer_fsdp", 8, 3), ("transformers_trainer_deepspeed", 8, 3), ("accelerate_loop_ddp", 8, 3),
    ("pipeline_gpipe", 4, 0), ("pipeline_gpipe", 4, 1), ("pipeline_1f1b", 4, 1), ("pipeline_1f1b", 4, 3), ("pipeline_interleaved_1f1b", 4, 1))


class Row(NamedTuple):
    name: str
    result: str  # works | works with note | fails | crashes
    note: str


def dryrun(command: List[str], *options: str, timeout: float = 900) -> recorded_run.Finished:
    return recorded_run.run(
        [recorded_run.vramscope(), "dryrun", "--gpu", GPU, "--steps", "all", "--depth", "light", "--json", *options, "--", sys.executable, *command],
        timeout=timeout)


def forked_rows(section: str, names: List[str]) -> List[Row]:
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        done = dryrun([str(HERE / "breadth_rows.py"), section, file.name, *names], timeout=3600)
        rows = [Row(*json.loads(line)) for line in file]
    if done.code != 0:
        raise SystemExit(f"{section}: {last_error(done.stderr.decode())}")
    return rows


def last_error(text: str) -> str:
    """The exception that ended the program, as Python prints it, without torchrun's prefix."""
    lines = [re.sub(r"^\[rank\d+\]: ", "", line).strip() for line in text.splitlines()]
    errors = [line for line in lines if re.match(r"[A-Za-z_.]*(Error|Exception|Interrupt)\b", line)]
    return (errors or [line for line in lines if line] or ["no message"])[-1][:LONGEST_MESSAGE]


def trainer_row(program: str, world: int = 0, rank: int = 0) -> Row:
    file, _, kind = program.rpartition(" ")
    name = f"{'ranks.py ' if file else ''}{kind}" + (f", rank {rank} of {world}" if world else "")
    options = ["--world-size", str(world), "--rank", str(rank)] if world else []
    try:
        done = dryrun([str(HERE / f"{file or 'trainers'}.py"), kind], *options)
    except AssertionError as error:
        return Row(name, "fails", str(error).splitlines()[0].split(": ")[-1])
    if done.code != 0:
        crashed = done.code < 0 or done.code > 128
        return Row(name, "crashes" if crashed else "fails", f"exit code {done.code}" if crashed else last_error(done.stderr.decode()))
    answer = json.loads(done.stdout)
    peak = f"peak {answer['peak']['allocated_bytes'] / 2**20:.1f} MiB allocated"
    sizes = sum(read["count"] for read in answer["data_reads"] if read["decides"] == "sizes")
    return Row(name, "works with note" if sizes else "works", peak + (f"; {sizes} sizes depend on data" if sizes else ""))


def trainers(names: List[str]) -> List[Row]:
    jobs = [(program, 0, 0) for program in ALONE] + list(OF_MANY)
    rows = []
    for job in jobs:
        if not names or job[0] in names:
            rows.append(trainer_row(*job))
            print("  ".join(rows[-1]), flush=True)
    return rows


def counted(rows: List[Row]) -> str:
    return ", ".join(f"{sum(row.result == result for row in rows)} {text}" for result, text in (
        ("works", "work"), ("works with note", "work with a note"), ("fails", "fail with a message"), ("crashes", "crash"))
        if any(row.result == result for row in rows))


def table(rows: List[Row]) -> List[str]:
    cells = [[cell.replace("|", "/").replace("<", "&lt;") for cell in row] for row in rows]
    return ["| | | |", "|---|---|---|", *(f"| {name} | {result} | {note} |" for name, result, note in cells)]


def operators_text(rows: List[Row]) -> List[str]:
    """Rows that fail as a table. Of the many rows that work only the names, grouped by what was done."""
    lines = [f"{len(rows)} rows: {counted(rows)}.", "", *table([row for row in rows if row.result != "works"])]
    both = [row.name for row in rows if row.result == "works" and "backward" in row.note]
    forward = [row.name for row in rows if row.result == "works" and "backward" not in row.note]
    for title, names in (("Forward and backward", both), ("Forward only, because these have no backward for the number types of the samples", forward)):
        listed = textwrap.wrap(", ".join(f"`{name}`" for name in names), 150, break_long_words=False, break_on_hyphens=False)
        lines += ["", f"<details><summary>{title}: {len(names)} work</summary>", "", *listed, "", "</details>"]
    return lines


def plain_text(rows: List[Row]) -> List[str]:
    return [f"{len(rows)} rows: {counted(rows)}.", "", *table(rows)]


SECTIONS: Dict[str, Callable[[List[str]], List[Row]]] = {
    "operators": lambda names: forked_rows("operators", names),
    "architectures": lambda names: forked_rows("architectures", names),
    "trainers": trainers,
}


def version(package: str) -> Optional[str]:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return None


def place(text: str, section: str) -> Tuple[int, int]:
    """Where the text between the marks of that section begins and ends."""
    begin, end = f"<!-- {section}: written by breadth.py -->\n", f"<!-- end of {section} -->\n"
    if begin not in text or end not in text:
        raise SystemExit(f"{DOCUMENT} has no place for {section}: it wants the lines {begin.strip()} and {end.strip()}.")
    return text.index(begin) + len(begin), text.index(end)


def merged(written: str, rows: List[Row]) -> List[Row]:
    """The rows of a table that was written before, with `rows` in their places, or at the end."""
    old = [Row(*re.split(r" \| ", line.strip("| "))) for line in written.splitlines() if re.match(r"\| [^|]+ \| [a-z ]+ \| .*\|$", line)]
    new = {row.name: row for row in rows}
    return [new.pop(row.name, row) for row in old] + list(new.values())


def main(arguments: Any) -> int:
    crashed = False
    for section in [arguments.section] if arguments.section else list(SECTIONS):
        rows = SECTIONS[section](arguments.names)
        crashed |= any(row.result == "crashes" for row in rows)
        text = DOCUMENT.read_text(encoding="utf-8")
        begin, end = place(text, section)
        if arguments.names:
            print("\n".join(table(rows)))
            if section == "operators":
                continue
            rows = merged(text[begin:end], rows)
        lines = ["With " + ", ".join(filter(None, map(version, PACKAGES))) + f", on `{GPU}`.", ""]
        body = operators_text(rows) if section == "operators" else plain_text(rows)
        DOCUMENT.write_text(text[:begin] + "\n" + "\n".join(lines + body) + "\n\n" + text[end:], encoding="utf-8")
        print(f"{section}: {body[0]}", flush=True)
    return 1 if crashed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", choices=("operators", "architectures", "trainers"))
    parser.add_argument("names", nargs="*", metavar="ROW")
    parsed = parser.parse_args()
    if parsed.names and not parsed.section:
        parser.error("rows are named together with their --section")
    sys.exit(main(parsed))
