# SPDX-License-Identifier: Apache-2.0
"""Long tests are drawn: each run of the suite takes some of them, each commit others, so that all are run within a few commits.

    @drawn.share(1 / 2)
    class NamesTest(unittest.TestCase): ...     half of its tests, at least one; the others are skipped by name

VRAMSCOPE_TEST_EVERY=1 (scripts/test.sh --all) runs all of them. VRAMSCOPE_TEST_SEED repeats a draw; without it the commit is the seed.
"""
import functools
import math
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Callable, List, Type, TypeVar

Case = TypeVar("Case", bound=Type[unittest.TestCase])

EVERY = bool(os.environ.get("VRAMSCOPE_TEST_EVERY"))


@functools.lru_cache(maxsize=None)
def seed() -> str:
    given = os.environ.get("VRAMSCOPE_TEST_SEED")
    if given:
        return given
    asked = subprocess.run(["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return asked.stdout.strip() or "no commit"


def chosen(names: List[str], part: float, of: str) -> List[str]:
    """`part` of these, at least one; the same for the same seed and `of`. All where every test is wanted."""
    if EVERY:
        return names
    return random.Random(f"{seed()} {of}").sample(sorted(names), max(1, math.ceil(len(names) * part)))


def share(part: float) -> Callable[[Case], Case]:
    def draw(case: Case) -> Case:
        names = [name for name in dir(case) if name.startswith("test")]
        kept = chosen(names, part, case.__qualname__)
        if any(word in arguments() for word in (*names, *(f"{case.__qualname__}.{name}" for name in names))):
            return case  # asked for by name
        for name in sorted(set(names) - set(kept)):
            setattr(case, name, unittest.skip("not drawn; VRAMSCOPE_TEST_EVERY=1 runs it")(getattr(case, name)))
        if len(kept) < len(names):
            print(f"{case.__qualname__}: {len(kept)} of {len(names)} tests were drawn; VRAMSCOPE_TEST_SEED={seed()} repeats it", file=sys.stderr)
        return case

    return draw


def arguments() -> List[str]:
    return sys.argv[1:]
