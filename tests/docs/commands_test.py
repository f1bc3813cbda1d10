#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/questions and of README.md do what the pages show: each block of `sh` after a comment `run` is run here.

    <!-- run -->                          exit code 0 of each command; the lines of the `text` block that follows are in the output, in order
    <!-- run: exit 1 -->                  the last command of the block ends with 1
    <!-- run: first line -->              only the first line is compared: the others depend on the time that the host takes
    <!-- run: seldom -->                  takes long: only with VRAMSCOPE_TEST_EVERY=1

`train.py` is samples/gpt2.py, `./train` is samples/gpt.cpp where it was built. A line `...` stands for any lines, and times for any times.
The figures are those of PYTORCH; with another release digits are not compared. Pages share one folder, and a command that several pages have runs once.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import drawn
import recorded_run
from recorded_run import SOURCE, clean_environment, python

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs/questions").glob("*.md"))]
CPP_SAMPLE = Path(recorded_run.vramscope()).parent.parent / "samples/sample_gpt"
PYTORCH = "2.15"
BLOCK = re.compile(r"<!-- run(?:: (?P<how>[^>]*?))? -->\n```sh\n(?P<commands>.*?)```\n(?:\n```text\n(?P<shown>.*?)```\n)?", re.S)


class Block(NamedTuple):
    commands: List[str]
    how: List[str]
    shown: List[str]

    @property
    def code(self) -> int:
        return next((int(word[5:]) for word in self.how if word.startswith("exit ")), 0)


def blocks(page: Path) -> List[Block]:
    found = []
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        commands = [line.split("  #")[0].strip() for line in block["commands"].replace("\\\n", " ").split("\n")]
        how = [word.strip() for word in (block["how"] or "").split(",") if word]
        shown = [line for line in (block["shown"] or "").split("\n") if line.strip() and line.strip() != "..."]
        found.append(Block([command for command in commands if command], how, shown[:1] if "first line" in how else shown))
    return found


def comparable(line: str, digits: bool) -> str:
    """One space between words, and no times."""
    line = re.sub(r"[\d.,]+ (ns|us|ms|s)\b", "TIME", " ".join(line.split()))
    return line if digits else re.sub(r"[\d.,]+", "0", line)


class CommandsTest(unittest.TestCase):
    done: Dict[str, Tuple[int, str]]
    folder: Path
    environment: Dict[str, str]
    digits: bool

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vramscope-docs-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.done = {}
        shutil.copy(SOURCE / "samples/gpt2.py", cls.folder / "train.py")
        if CPP_SAMPLE.exists():
            (cls.folder / "train").symlink_to(CPP_SAMPLE)
        programs = [Path(recorded_run.vramscope()).parent, Path(python()).parent]
        package = programs[0].parent / "share/vramscope/site-packages"  # what pip installs
        cls.environment = clean_environment(PATH=":".join([*map(str, programs), os.environ["PATH"]]), PYTHONPATH=str(package), LC_ALL="C.UTF-8")
        version = subprocess.run([python(), "-c", "import importlib.metadata as m; print(m.version('torch'))"], capture_output=True, text=True, check=True)
        cls.digits = version.stdout.startswith(PYTORCH + ".")

    def output_of(self, command: str) -> Tuple[int, str]:
        if command not in self.done:
            done = recorded_run.run(["bash", "-c", command], cwd=self.folder, env=self.environment)
            self.done[command] = done.code, f"{done.stdout.decode()}\n{done.stderr.decode()}"
        return self.done[command]

    def check(self, block: Block) -> None:
        output = ""
        for command in block.commands:
            code, text = self.output_of(command)
            self.assertEqual(code, block.code if command == block.commands[-1] else 0, f"{command}\n{text}")
            output += text
        lines = iter(output.split("\n"))
        for line in block.shown:
            wanted = comparable(line, self.digits)
            printed = any(wanted in comparable(got, self.digits) for got in lines)
            self.assertTrue(printed, f"{block.commands}: not printed, or not in this order: {line}\n{output}")


def test_of(page: Path) -> None:
    def test(self: CommandsTest) -> None:
        for block in blocks(page):
            if any("./train" in command for command in block.commands) and not CPP_SAMPLE.exists():
                self.skipTest(f"{CPP_SAMPLE} was not built")
            if "seldom" not in block.how or drawn.EVERY:
                with self.subTest(commands=block.commands):
                    self.check(block)

    if blocks(page):
        name = page.stem.lower().replace("-", "_")
        setattr(CommandsTest, f"test_{name}", test)


for path in PAGES:
    test_of(path)


class ShownTest(unittest.TestCase):
    def test_every_question_has_commands_that_run(self) -> None:
        for page in PAGES[1:]:
            self.assertTrue(blocks(page), f"{page}: no block behind <!-- run -->")


CommandsTest = drawn.share(4)(CommandsTest)  # noqa: F811

if __name__ == "__main__":
    recorded_run.main()
