# SPDX-License-Identifier: Apache-2.0
"""Runs public programs on the simulated device and compares with what their authors measured on real GPUs: the rows of docs/accuracy.md.

    measure.py --cache ~/.cache/vramscope/recordings --python 2.11=/venv/bin/python --python 2.6=/old/bin/python [NAME...]

The repositories are cloned into the cache, or taken from there when it has OWNER+NAME or OWNER+NAME/repo. They are never part of this
project. Each interpreter needs the packages of the programs: einops, jaxtyping, einx, pandas, and for some tqdm.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import recorded_run  # noqa: E402
import stand_ins  # noqa: E402
from compare import MIB, Row, compare  # noqa: E402
from recordings import RECORDINGS, Recording, by_name  # noqa: E402

TIMEOUT_S = 1800


class CannotMeasure(Exception):
    """Why a recording has no row, as one sentence."""


def repository(cache: Path, name: str, clone: bool = False) -> Path:
    """The git repository in the cache."""
    folder = cache / name.replace("/", "+")
    for place in (folder / "repo", folder):
        if (place / ".git").exists() or (place / "objects").exists():
            return place
    if clone and subprocess.run(["git", "clone", "-q", f"https://github.com/{name}", str(folder)], check=False).returncode == 0:
        return folder
    raise CannotMeasure(f"{name} is not in {cache}")


def file_at(repo: Path, commit: str, path: str) -> bytes:
    done = subprocess.run(["git", "-C", str(repo), "show", f"{commit}:{path}"], capture_output=True, check=False)
    if done.returncode:
        raise CannotMeasure(f"{path} is not in the repository at {commit}")
    return done.stdout


def edit(recording: Recording, folder: Path) -> None:
    for path, old, new in recording.edits:
        text = (folder / path).read_text(encoding="utf-8")
        if old not in text:
            raise CannotMeasure(f"{path} has no {old!r}")
        (folder / path).write_text(text.replace(old, new), encoding="utf-8")


def thread(cache: Path, recording: Recording) -> Path:
    """The folder with script.py and output.txt, which someone has to copy out of the thread."""
    folder = cache / recording.repository.replace("/", "+") / "issues" / str(recording.thread)
    if not (folder / "script.py").exists() or not (folder / "output.txt").exists():
        raise CannotMeasure(f"copy script.py and output.txt from https://github.com/{recording.repository}/issues/{recording.thread} to {folder}")
    return folder


def check_out(repo: Path, recording: Recording, folder: Path) -> None:
    """Writes the Python files of the recording's commit, with its edits, but not the recordings and reports of that commit."""
    if recording.thread:
        (folder / "script.py").write_bytes((repo / "script.py").read_bytes())
        edit(recording, folder)
        return
    listed = subprocess.run(["git", "-C", str(repo), "ls-tree", "-r", "--name-only", recording.commit], capture_output=True, text=True, check=True)
    for path in listed.stdout.splitlines():
        if path.endswith(".py"):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file_at(repo, recording.commit, path))
    edit(recording, folder)
    for place in (recording.folder, str(Path(recording.produced).parent)):
        (folder / place).mkdir(parents=True, exist_ok=True)
    for name in recording.stand_ins:
        getattr(stand_ins, name)(folder / recording.folder)


def measure(recording: Recording, cache: Path, python: str, clone: bool = False) -> Row:
    """Runs the program, whole, and compares. Raises CannotMeasure."""
    if recording.thread:
        repo = thread(cache, recording)
        recorded = (repo / "output.txt").read_bytes()
    else:
        repo = repository(cache, recording.repository, clone)
        recorded = file_at(repo, recording.recorded_commit or recording.commit, recording.recorded)
    with tempfile.TemporaryDirectory(prefix="vramscope-accuracy-") as scratch:
        folder = Path(scratch)
        check_out(repo, recording, folder)
        path = ":".join(str(folder / place) for place in recording.python_path)
        command = [recorded_run.vramscope(), "dryrun", "--gpu", recording.gpu, "--steps", "all", "--depth", "light", "--json",
                   *recording.options, "--", python, *recording.command]
        environment = recorded_run.clean_environment(PYTHONPATH=path, **recording.environment)
        done = recorded_run.run(command, timeout=TIMEOUT_S, cwd=str(folder / recording.folder), env=environment)
        produced = folder / recording.produced
        if recording.produced and not produced.exists():
            last = (done.stderr.decode().strip().splitlines() or ["nothing"])[-1]
            raise CannotMeasure(f"exit {done.code}, it said last: {last}")
        return compare(recording.kind, recorded, produced.read_bytes() if recording.produced else done.stderr,
                       recording.patterns, recording.produced_patterns or recording.patterns)


def percent(error: Optional[float]) -> str:
    return "" if error is None else "0" if error == 0 else f"{100 * error:+.3f} %"


def markdown(recording: Recording, row: Row) -> str:
    events = "" if row.events is None else f"{row.same_events:,} of {row.events:,}"
    if row.frees_swapped:
        events = f"the first {events}; then the order of frees differs"
    reserved = "" if row.reserved is None else f"{row.reserved / MIB:,.0f}"
    figures = f", worst of {row.figures}" if row.figures > 1 else ""
    allocated = "" if row.allocated is None else f"{row.allocated / MIB:,.1f}"
    cells = [recording.name, f"{recording.torch}, {recording.gpu}", recording.note, events, allocated,
             percent(row.allocated_error) + (figures if row.allocated_error is not None else ""), reserved, percent(row.reserved_error)]
    return "| " + " | ".join(cells) + " |"


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--python", action="append", default=[], metavar="RELEASE=PATH")
    parser.add_argument("--clone", action="store_true", help="clone what the cache lacks")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(argv)
    pythons: Dict[str, str] = dict(pair.split("=", 1) for pair in options.python)
    known = by_name()
    for recording in [known[name] for name in options.names] or RECORDINGS:
        try:
            if recording.torch not in pythons:
                raise CannotMeasure(f"needs --python {recording.torch}=PATH")
            print(markdown(recording, measure(recording, options.cache, pythons[recording.torch], options.clone)), flush=True)
        except (CannotMeasure, ValueError) as reason:
            print(f"| {recording.name} | {recording.torch}, {recording.gpu} | not measured: {reason} | | | | | |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
