#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every *.md of the tree; needs no network. Prints one line for each thing that is wrong; exit 1 if there is any.

    links       a relative link leads to a file or folder of the tree, and its #anchor to a heading there
    cells       a table cell has at most 160 characters as it is read (a link counts by its text)
    paths       a file or program of this tree that a page names (scripts/lint.sh, build/release/profiler/plan/plan_bench) is there
    menu        mkdocs.yml lists every page of docs/
    sentences   README.md, docs/README.md and docs/questions have no sentence of more than 30 words

Anchors are those of GitHub: lower case, no punctuation, a hyphen for each space, and `-1` at the end for the second heading of the same text.
"""
import glob
import os
import re
import subprocess
import sys
from typing import Dict, Iterator, List, NamedTuple, Set, Tuple
from urllib.parse import unquote

LONGEST_CELL = 160  # characters
LONGEST_SENTENCE = 30  # words
# What newcomers read, from the README to an answer.
FIRST_PAGES = re.compile(r"^(README\.md|docs/README\.md|docs/questions/.*)$")
# Pages that a program wrote: their cells quote messages of PyTorch.
GENERATED = ("tests/simulated_cuda/breadth.md",)

LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"(?<![\w./<-])((?:build/[\w-]+/)?(?:bench|cmake|injector|profiler|samples|scripts|tests|trace_format|viewer)/[\w./*-]*\w)")
CODE = re.compile(r"`[^`]*`")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[0-9])")


class Wrong(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def pages(root: str) -> List[str]:
    """The pages of the working tree, also those not yet added; without git, all but the build folders."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"], capture_output=True, text=True)
    if listed.returncode == 0:
        found = listed.stdout.split("\n")
    else:
        found = [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names if name.endswith(".md")]
        found = [path for path in found if not path.startswith(("build", "."))]
    return sorted(path for path in set(found) if path and os.path.exists(os.path.join(root, path)))


def prose(text: str) -> Iterator[Tuple[int, str]]:
    """The lines outside code blocks and comments, with their numbers; lines inside are empty."""
    fence = ""
    comment = False
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and not fence:
            fence = mark.group(1)
            yield number, ""
            continue
        if mark and line.strip() == fence:
            fence = ""
            yield number, ""
            continue
        comment = comment or line.lstrip().startswith("<!--")
        yield number, "" if fence or comment else line
        comment = comment and "-->" not in line


def as_read(markdown: str) -> str:
    return re.sub(r"[*_]{2}", "", LINK.sub(r"\1", markdown))


def anchors(text: str) -> Set[str]:
    found: Set[str] = set()
    times: Dict[str, int] = {}
    for _, line in prose(text):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            slug = re.sub(r"[^\w\- ]", "", as_read(heading.group(1)).lower()).replace(" ", "-")
            found.add(slug if slug not in times else f"{slug}-{times[slug]}")
            times[slug] = times.get(slug, 0) + 1
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def wrong_links(root: str, path: str, text: str) -> Iterator[Wrong]:
    for number, line in prose(text):
        for _, target in LINK.findall(CODE.sub("", line)):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            name, _, anchor = unquote(target).partition("#")
            file = os.path.normpath(os.path.join(root, os.path.dirname(path), name)) if name else os.path.join(root, path)
            if not os.path.exists(file):
                yield Wrong(path, number, f"the link {target} leads to no file")
            elif anchor and file.endswith(".md"):
                with open(file, encoding="utf-8") as other:
                    if anchor not in anchors(other.read()):
                        yield Wrong(path, number, f"the link {target} leads to no heading")


def is_built(root: str, path: str) -> bool:
    """True if this program of a build folder is built from the folder of the same name: x_bench from x_bench.cc, x_test from the room x."""
    folder, name = os.path.split(os.path.join(root, path))
    if os.path.exists(os.path.join(folder, name + ".cc")):
        return True
    try:
        with open(os.path.join(folder, "CMakeLists.txt"), encoding="utf-8") as file:
            return re.search(rf"\b{re.escape(re.sub('_test$', '', name))}\b", file.read()) is not None
    except OSError:
        return False


def wrong_paths(root: str, path: str, text: str) -> Iterator[Wrong]:
    for number, line in enumerate(text.split("\n"), 1):
        for named in NAMED_PATH.findall(line):
            if named.startswith("build/"):
                there = is_built(root, named.split("/", 2)[2])
            else:
                there = bool(glob.glob(os.path.join(root, named))) or os.path.exists(os.path.join(root, os.path.dirname(path), named))
            if not there:
                yield Wrong(path, number, f"there is no {named}")


def wrong_cells(path: str, text: str) -> Iterator[Wrong]:
    for number, line in prose(text):
        if not line.startswith("|"):
            continue
        for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]:
            length = len(as_read(cell.strip()))
            if length > LONGEST_CELL:
                yield Wrong(path, number, f"a cell of {length} characters: a cell is a phrase of at most {LONGEST_CELL}; sentences stand below the table")


def paragraphs(text: str) -> Iterator[Tuple[int, str]]:
    """Paragraphs and items of lists, each with the number of its first line."""
    first, gathered = 0, ""
    for number, line in prose(text + "\n"):
        item = re.match(r"\s*([-*]|\d+\.)\s+(.*)", line)
        if not line.strip() or item or line.startswith(("#", "|", "![")):
            if gathered:
                yield first, gathered
            first, gathered = number, item.group(2) if item else ""
        else:
            first = first if gathered else number
            gathered = f"{gathered} {line.strip()}".strip()


def wrong_sentences(path: str, text: str) -> Iterator[Wrong]:
    for number, paragraph in paragraphs(text):
        for sentence in END_OF_SENTENCE.split(CODE.sub("`code`", as_read(paragraph))):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > LONGEST_SENTENCE:
                yield Wrong(path, number, f"a sentence of {len(words)} words, at most {LONGEST_SENTENCE}: {' '.join(words[:6])} ...")


def missing_in_menu(root: str) -> Iterator[Wrong]:
    menu = os.path.join(root, "mkdocs.yml")
    if os.path.exists(menu):
        with open(menu, encoding="utf-8") as file:
            listed = set(re.findall(r"(?m): (\S+\.md)$", file.read()))
        for path in pages(root):
            if path.startswith("docs/") and path[len("docs/"):] not in listed:
                yield Wrong(path, 1, "the menu in mkdocs.yml does not list this page")


def check(root: str) -> List[Wrong]:
    found: List[Wrong] = list(missing_in_menu(root))
    for path in pages(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        found.extend(wrong_links(root, path, text))
        found.extend(wrong_paths(root, path, text))
        if path not in GENERATED:
            found.extend(wrong_cells(path, text))
        if FIRST_PAGES.match(path):
            found.extend(wrong_sentences(path, text))
    return found


if __name__ == "__main__":
    faults = check(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
