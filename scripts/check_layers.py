#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layout of the source tree: which room may include which, and what every file must have.

    trace_format <- profiler <- viewer          injector -> trace_format only          samples: on their own
    injector/attach, which runs in the `vramscope` command: profiler may include it, it includes trace_format only
    profiler and viewer: the floors of FLOORS; each includes only the floors below it. Only the two programs may include the subcommands
    (profiler/cli)
    the analyzing half: no header of Unix, except in the files of SYSTEM_SEAMS

Also: PyTorch and CUDA headers only where a program is built against them; nothing heavy inside the recorded process; an SPDX line in
every source file; no file too long to read in one sitting, and none that nothing builds; no path of somebody's machine.
Exit 0: no violation; 1: each line printed is one violation.
"""

import ast
import os
import re
import sys
from typing import Iterator, List, NamedTuple, Optional

ATTACH = "injector/attach"  # the part of the injector that runs in the `vramscope` command, not in the target
ROOMS = ("trace_format", "injector", "profiler", "viewer", "samples", "bench", "tests")
MAY_INCLUDE = {
    "trace_format": {"trace_format"},
    "injector": {"injector", "trace_format"},
    ATTACH: {ATTACH, "trace_format"},
    "profiler": {"profiler", "trace_format", ATTACH},
    "viewer": {"viewer", "profiler", "trace_format"},
    "samples": {"samples"},
    "bench": {*ROOMS, ATTACH},
    "tests": {*ROOMS, ATTACH},
}
# The rooms of the analysis, from the ground up. A room includes rooms of lower floors only.
FLOORS = (
    ("text",),
    ("collector", "model"),
    ("allocator", "packing", "timeline"),
    ("classify", "snapshot"),
    ("growth", "whatif"),
    ("fragmentation", "report"),
    ("diff", "experiment", "export", "html", "leaks", "plan", "serve"),
    ("fleet",),
    ("check", "python"),
    ("cli",),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
USERS_OF_CLI = ("viewer/main.cc",)
# The analyzing half must also build for Windows and macOS. Only the few files of SYSTEM_SEAMS may call the operating system; it reads files through them.
ANALYSIS = re.compile(r"trace_format/|profiler/(?!collector/|experiment/|serve/|python/|cli/)|profiler/cli/(allocator|ask|frame|report)/")
SYSTEM_HEADER = re.compile(r"(sys|linux|netinet|arpa)/|(unistd|fcntl|poll|dlfcn|pthread|signal|link|elf|spawn|termios|pwd|netdb|sched|dirent)\.h$|csignal$")
SYSTEM_SEAMS = {
    "trace_format/append_variant.cc", "trace_format/file_sink.cc", "trace_format/mapped_file.cc", "trace_format/process_identity.h",
    "profiler/model/symbol_files.cc", "profiler/report/failed.cc", "profiler/snapshot/byte_stream.cc",
    "profiler/cli/frame/progress.cc", "profiler/cli/frame/terminal.cc",
    "profiler/cli/report/remote_file.cc", "profiler/cli/report/report.cc", "profiler/cli/report/serve.cc",
    "profiler/cli/report/view.cc",
}
# Built against LibTorch: the sample, the optional bridge, and tests of both.
TORCH_USERS = ("injector/torch/bridge/", "samples/", "tests/")
TORCH_HEADER = re.compile(r"(torch|ATen|c10|caffe2)/|(cuda|cudnn|cublas|cupti|nccl|nvml|nvtx)\w*(\.h|/)")
# Inside the recorded process: no exceptions, no streams, no libraries that the program might have in another version.
HEAVY_HEADER = re.compile(r"(fmt|boost|nlohmann)/|(iostream|fstream|sstream|iomanip|regex|stdexcept|filesystem)$")
# Linked into tests and benchmarks only.
TEST_OR_BENCH = re.compile(r"_(test|bench|fuzz)\.cc$|/testing/")
OUTSIDE_THE_PROCESS = re.compile(r"(_test|_bench|_fuzz|/recorded_program)\.(cc|h)$|/(testing|tests)/|/test_\w+\.(cc|h)$")

SOURCE_FILE = re.compile(r"(\.(h|cc|cpp|c|py|sh|cmake)|CMakeLists\.txt)$")
TEXT_FILE = re.compile(r"\.(h|cc|cpp|c|py|sh|cmake|txt|md|json|yml)$")
CXX_FILE = re.compile(r"\.(h|cc|cpp|c)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
MACHINE_PATH = re.compile(r"/(?:work|root|home)/[a-z]|/tmp/[a-z]+[0-9]")
MAX_LINES = 400
MAY_BE_LONGER: "set[str]" = set()


class Violation(NamedTuple):
    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def files(root: str) -> Iterator[str]:
    """Paths below `root`, relative, without build folders and hidden ones."""
    for folder, children, names in os.walk(root):
        children[:] = sorted(name for name in children if not name.startswith((".", "build")) and name != "__pycache__")
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def room_of(path: str) -> Optional[str]:
    if path.startswith(ATTACH + "/"):
        return ATTACH
    first = path.split("/", 1)[0]
    return first if first in ROOMS else None


def included_room(root: str, path: str, header: str) -> Optional[str]:
    """The room that `#include "header"` in `path` reaches. Like the compiler, looks next to the file first, then from the root."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), header))
    is_beside = header.startswith(".") or os.path.exists(os.path.join(root, beside))
    return room_of(beside if is_beside else header)


def check_includes(root: str, path: str, text: str) -> Iterator[Violation]:
    room = room_of(path)
    if room is None or not CXX_FILE.search(path):
        return
    in_process = room == "injector" and not OUTSIDE_THE_PROCESS.search(path) and not path.startswith("injector/torch/bridge/")
    for match in INCLUDE.finditer(text):
        quote, header = match.groups()
        line = text.count("\n", 0, match.start(1)) + 1
        target = included_room(root, path, header) if quote == '"' else None
        if target and target not in MAY_INCLUDE[room]:
            yield Violation(path, line, f"{room} must not include {target} ({header})")
        if target is None and TORCH_HEADER.match(header) and not path.startswith(TORCH_USERS):
            yield Violation(path, line, f"PyTorch and CUDA headers are only for {', '.join(TORCH_USERS)} ({header})")
        if in_process and HEAVY_HEADER.match(header):
            yield Violation(path, line, f"not inside the recorded process: {header}")


def check_floors(path: str, text: str) -> Iterator[Violation]:
    """The order of rooms inside profiler, which tests and benchmarks may ignore."""
    folders = path.split("/")
    if folders[0] not in ("profiler", "viewer") or len(folders) < 3 and path not in USERS_OF_CLI or TEST_OR_BENCH.search(path):
        return
    room = folders[1] if folders[0] == "profiler" else "viewer"
    if room not in FLOOR_OF and room != "viewer":
        yield Violation(path, 1, f"profiler/{room} has no floor: add it to FLOORS")
        return
    floor = len(FLOORS) if path in USERS_OF_CLI else FLOOR_OF.get(room, FLOOR_OF["cli"])
    for match in re.finditer(r'^\s*#\s*include\s*"profiler/([^/"]+)/', text, re.MULTILINE):
        target = match.group(1)
        if target != room and FLOOR_OF.get(target, -1) >= floor:
            yield Violation(path, text.count("\n", 0, match.start()) + 1, f"{room} must not include profiler/{target}: it is no lower floor")


def check_system(path: str, text: str) -> Iterator[Violation]:
    """The analyzing half stays free of Unix outside of its seams."""
    if not ANALYSIS.match(path) or not CXX_FILE.search(path) or path in SYSTEM_SEAMS or TEST_OR_BENCH.search(path):
        return
    for match in INCLUDE.finditer(text):
        if match.group(1) == "<" and SYSTEM_HEADER.match(match.group(2)):
            yield Violation(path, text.count("\n", 0, match.start(1)) + 1, f"not in the analyzing half, except in SYSTEM_SEAMS: <{match.group(2)}>")


TENSORFLOW_ROOMS = ("injector/python/vramscope_shim_tensorflow/", "injector/python/vramscope_try_keras/")


def check_shim_imports(root: str, path: str, text: str) -> Iterator[Violation]:
    """The Python shim runs in every user's environment: the standard library, its framework when it is there, and itself."""
    if not path.startswith("injector/python/") or not path.endswith(".py") or path.endswith("_test.py"):
        return
    own = {os.path.splitext(name)[0] for _, folders, names in os.walk(os.path.join(root, "injector/python")) for name in (*folders, *names)}
    framework = {"tensorflow", "keras"} if path.startswith(TENSORFLOW_ROOMS) else {"torch"}
    allowed = own | set(getattr(sys, "stdlib_module_names", ())) | framework
    if not hasattr(sys, "stdlib_module_names"):  # Python before 3.10 has no list of them
        return
    for node in ast.walk(ast.parse(text)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            modules = [node.module]
        for module in modules:
            if module.split(".")[0] not in allowed:
                yield Violation(path, node.lineno, f"the shim must not import {module}")


def check_text(path: str, text: str) -> Iterator[Violation]:
    lines = text.splitlines()
    if SOURCE_FILE.search(path):
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
            yield Violation(path, 1, "no SPDX-License-Identifier line")
        if len(lines) > MAX_LINES and path not in MAY_BE_LONGER:
            yield Violation(path, MAX_LINES, f"{len(lines)} lines; split it along a seam (at most {MAX_LINES})")
    for number, line in enumerate(lines, 1):
        match = MACHINE_PATH.search(line)
        if match:
            yield Violation(path, number, f"a path of one machine: {match.group()}")


def check_built(root: str, path: str) -> Iterator[Violation]:
    """A source file is named by a CMakeLists.txt of its folder, or of one above it. Tests and scripts also compile files by themselves."""
    if room_of(path) not in ("trace_format", "injector", ATTACH, "profiler", "viewer") or not path.endswith(".cc"):
        return
    lists = []
    folder = os.path.dirname(path)
    while folder:
        where = os.path.join(root, folder, "CMakeLists.txt")
        if os.path.exists(where):
            with open(where, encoding="utf-8") as file:
                lists.append(file.read())
        folder = os.path.dirname(folder)
    name = re.compile(rf"(?<![\w.]){re.escape(os.path.basename(path))}\b")
    if lists and not any(name.search(text) for text in lists):
        yield Violation(path, 1, "no CMakeLists.txt builds it")


def check(root: str) -> List[Violation]:
    found: List[Violation] = []
    for path in files(root):
        if not TEXT_FILE.search(path):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        found += check_includes(root, path, text)
        found += check_floors(path, text)
        found += check_system(path, text)
        found += check_shim_imports(root, path, text)
        found += check_text(path, text)
        found += check_built(root, path)
    return found


def main(argv: List[str]) -> int:
    root = argv[0] if argv else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = check(root)
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
