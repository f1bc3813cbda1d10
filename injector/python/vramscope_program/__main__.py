# SPDX-License-Identifier: Apache-2.0
"""Runs the training step that was noted in FILE again, as it was or with changes.

    python vramscope_program FILE [--steps N] [--batch N|2x] [--sequence N|2x] [--precision bf16|fp16] [--quantize nf4:PATHS]
    python vramscope_program FILE --variants LIST --answers ANSWERS [--limit SECONDS] [--jobs N]

Other changes are requested through VRAMSCOPE_TRY, as `vramscope try` does for any program. Exit codes: 1 if the step raised an exception (the last
line of stderr has the exception and the call that raised it), 2 if FILE cannot be run, 3 if a change was not applied.

LIST is a file with [{"words": ["--batch", "2x"], "try": {"amp": "bf16", ...} or null}, ...]. Each variant runs in a process of its own. The file
ANSWERS gets {"pid", "status" (as waitpid gives it), "over" (took longer than the limit), "last_line"} for each."""

import argparse
import json
import os
import sys
from typing import Any, Dict, List, Optional

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # the folder above, which has this package and its neighbors


def factor(text: str, size: int) -> float:
    return float(text[:-1]) if text.endswith("x") else int(text) / size


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="vramscope_program", description="Runs a noted training step again.")
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--batch", default="1x")
    parser.add_argument("--sequence", default="1x")
    parser.add_argument("--precision", choices=("bf16", "fp16"))
    parser.add_argument("--quantize", metavar="int8|nf4[:PATHS]")
    parser.add_argument("--device", help="cuda or cpu. Default: the recorded device if it exists")
    parser.add_argument("--variants", metavar="LIST")
    parser.add_argument("--answers", metavar="ANSWERS")
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=0, help="runs at a time; 0 = one for each core")
    return parser


def _run(document: Dict[str, Any], options: argparse.Namespace) -> int:
    if os.environ.get("VRAMSCOPE_TRY") and "vramscope_try" not in sys.modules:
        import vramscope_try

        vramscope_try.arrange(os.environ["VRAMSCOPE_TRY"])
    from vramscope_program.loop import run

    return run(document, options)


def _run_variants(document: Dict[str, Any], options: argparse.Namespace) -> int:
    from vramscope_program.variants import cores, run_all

    with open(options.variants, encoding="utf-8") as file:
        variants = json.load(file)

    def run(words: List[str]) -> int:
        return _run(document, _parser().parse_args([options.file, *words]))

    answers = run_all(variants, run, options.limit, options.jobs or cores())
    with open(options.answers, "w", encoding="utf-8") as file:
        json.dump(answers, file)
    return 0


def main(words: Optional[Any] = None) -> int:
    options = _parser().parse_args(words)
    with open(options.file, encoding="utf-8") as file:
        document = json.load(file)
    if document.get("version") != 1 or "body" not in document:
        print("not a program that can be run: " + "; ".join(document.get("missing", ["unknown version"])), file=sys.stderr)
        return 2
    os.environ["VRAMSCOPE_PROGRAM"] = "off"  # a re-run need not be noted
    return _run_variants(document, options) if options.variants else _run(document, options)


if __name__ == "__main__":
    sys.exit(main())
