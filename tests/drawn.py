# SPDX-License-Identifier: Apache-2.0
"""Long tests take turns: each commit runs a half to a fifth of them, and the next commit runs the next ones.

    @drawn.share(2)
    class NamesTest(unittest.TestCase): ...     every second of its tests; the others are skipped by name
    @drawn.whole(3)
    class WheelTest(unittest.TestCase): ...     all of its tests, in every third commit; each class has its own commits

    python3 drawn.py 2 PROGRAM ...              every second test of a GoogleTest program

VRAMSCOPE_TEST_EVERY=1 (scripts/test.sh --all) runs all of them. So does VRAMSCOPE_TEST_DRAW=all, without the other effects of the former.
VRAMSCOPE_TEST_DRAW=7 repeats a turn. Without it the number of commits decides, or the date if there is no clone.
"""
import datetime
import functools
import os
import random
import subprocess
import sys
import unittest
import zlib
from pathlib import Path
from typing import Callable, List, Type, TypeVar

Case = TypeVar("Case", bound=Type[unittest.TestCase])

EVERY = bool(os.environ.get("VRAMSCOPE_TEST_EVERY"))
DRAW = os.environ.get("VRAMSCOPE_TEST_DRAW", "")
NOT_ITS_TURN = "not its turn; VRAMSCOPE_TEST_EVERY=1 runs it"


@functools.lru_cache(maxsize=None)
def turn() -> int:
    if DRAW.isdigit():
        return int(DRAW)
    try:
        asked = subprocess.run(["git", "-C", str(Path(__file__).parent), "rev-list", "--count", "HEAD"], capture_output=True, text=True)
        return int(asked.stdout)
    except (OSError, ValueError):
        return datetime.date.today().toordinal()


def seed() -> int:
    """A seed for random inputs. It differs between commits and is the same within a commit, so that a commit passes twice or fails twice.
    VRAMSCOPE_TEST_SEED=N uses N."""
    return int(os.environ.get("VRAMSCOPE_TEST_SEED") or random.Random(turn()).randrange(1, 1 << 31))


def chosen(names: List[str], one_of: int) -> List[str]:
    """The share of these names whose turn it is: one of `one_of`, at least one. All of them if all tests are requested."""
    if EVERY or DRAW == "all":
        return names
    ordered = sorted(names)
    return [name for index, name in enumerate(ordered) if (index + turn()) % one_of == 0] or [ordered[turn() % len(ordered)]]


def is_asked_for(case: str, name: str) -> bool:
    """True if the command line names the test."""
    return any(word in (name, f"{case}.{name}") for word in sys.argv[1:])


def share(one_of: int) -> Callable[[Case], Case]:
    def draw(case: Case) -> Case:
        names = [name for name in dir(case) if name.startswith("test")]
        kept = chosen(names, one_of)
        for name in sorted(set(names) - set(kept)):
            if not is_asked_for(case.__qualname__, name):
                setattr(case, name, unittest.skip(NOT_ITS_TURN)(getattr(case, name)))
        if len(kept) < len(names):
            print(f"{case.__qualname__}: {len(kept)} of {len(names)} tests have their turn; VRAMSCOPE_TEST_DRAW={turn()} repeats it", file=sys.stderr)
        return case

    return draw


def whole(one_of: int) -> Callable[[Case], Case]:
    def draw(case: Case) -> Case:
        has_turn = EVERY or DRAW == "all" or (turn() + zlib.crc32(case.__qualname__.encode())) % one_of == 0
        return case if has_turn else unittest.skip(NOT_ITS_TURN)(case)

    return draw


def run_a_share(one_of: int, command: List[str]) -> None:
    if not EVERY and DRAW != "all":
        os.environ.update(GTEST_TOTAL_SHARDS=str(one_of), GTEST_SHARD_INDEX=str(turn() % one_of))
    os.execv(command[0], command)


if __name__ == "__main__":
    run_a_share(int(sys.argv[1]), sys.argv[2:])
