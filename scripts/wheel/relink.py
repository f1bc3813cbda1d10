#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links the programs and libraries of an installed tree again, so that they run with an older C library.

    scripts/wheel/relink.py BUILD TREE --machine aarch64 --zig ZIG --glibc 2.28 --work FOLDER

BUILD is a finished build by Ninja, TREE what `cmake --install` made of it. A file of TREE that needs a newer glibc is linked as Ninja linked it,
from the same object files, with five differences:

    c++                         zig cc, which has the symbols of every glibc
    /usr/lib/.../libzstd.so     libzstd.a; libfmt.a is made from fmt's headers
    /usr/lib/.../libEGL.so      nothing: late_libraries.c loads it when the program starts
    names.ld                    -Wl,-T,names.ld, because zig does not know the name
    libstdc++, libgcc           their archives, and what these lack in the older glibc: glibc_2_28.c, cmake/older_glibc.c

The other files are left as they are. All are stripped. Prints the static archives that were linked in, one a line.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from elf_file import ElfFile, NotElf
from toolchain import Toolchain, toolchain

LINK = re.compile(r"^: && (.*? -o (\S+) .*?) && ", re.MULTILINE)
SHARED_LIBRARY = re.compile(r"^/.*/lib([^/]+?)\.so[.0-9]*$")
GLIBC = re.compile(r"^GLIBC_([0-9.]+)$")
DROPPED = ("-static-libstdc++", "-static-libgcc", "-O3", "-DNDEBUG", "-fPIC")
LATE = ("OpenGL", "EGL")
NEEDED_BY = {"freetype": ("png16", "brotlidec", "brotlicommon")}  # what the shared library loads itself
COMPILED_IN = ("libstdc++.a", "libgcc_eh.a", "libgcc.a")

Version = Tuple[int, ...]


def run(command: List[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\nrelink.py: exit {done.returncode}: {done.stderr}")
    return done.stdout


def version(text: str) -> Version:
    return tuple(int(part) for part in text.split("."))


def newest_glibc(file: ElfFile) -> Version:
    """The newest version of glibc that a symbol of the file names; () if none does."""
    return max((version(match.group(1)) for match in (GLIBC.match(symbol.version) for symbol in file.symbols()) if match), default=())


def elf_files(tree: Path) -> Iterator[Tuple[Path, ElfFile]]:
    for path in sorted(tree.rglob("*")):
        if path.is_file() and not path.is_symlink():
            try:
                yield path, ElfFile(str(path))
            except NotElf:
                pass


def link_commands(build: Path) -> Dict[str, str]:
    """The link command of each output, by its path in the build folder."""
    return {match.group(2): match.group(1) for match in LINK.finditer(run(["ninja", "-t", "commands", "all"], build))}


def command_for(path: str, commands: Dict[str, str]) -> str:
    """`path` in the installed tree has the same place in the build, or else a name that only one output has."""
    if path in commands:
        return commands[path]
    same = [output for output in commands if output.endswith("/" + Path(path).name)]
    if len(same) != 1:
        sys.exit(f"relink.py: {path}: the build has {len(same)} link commands for this name")
    return commands[same[0]]


class Linker:
    """Links outputs of one build for an older glibc. Everything that it compiles is in the folder `work`."""

    def __init__(self, build: Path, work: Path, tools: Toolchain) -> None:
        self.build = build
        self.work = work
        self.zig = tools.zig
        self.archives: Set[Path] = set()
        work.mkdir(parents=True, exist_ok=True)
        self.compat = [self.compiled(source, *self.zig, "-std=c11") for source in (HERE / "glibc_2_28.c", SOURCE / "cmake/older_glibc.c")]

    def compiled(self, source: Path, *compiler: str) -> str:
        """The object file of a source file, which is compiled unless it was before."""
        compiled = self.work / (source.name + ".o")
        if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
            run([*compiler, "-O2", "-fPIC", "-c", str(source), "-o", str(compiled)], self.build)
        return str(compiled)

    def archive(self, name: str, compiler: str) -> str:
        """The static library that the compiler finds by this name."""
        found = Path(run([compiler, f"-print-file-name={name}"], self.build).strip())
        if not found.is_absolute():
            sys.exit(f"relink.py: {name} is missing; scripts/setup.sh installs it")
        self.archives.add(found.resolve())
        return str(found)

    def arguments(self, word: str, compiler: str) -> List[str]:
        """The arguments of zig for one word of Ninja's command."""
        shared = SHARED_LIBRARY.match(word)
        name = shared.group(1) if shared else ""
        if word in DROPPED or name in LATE:
            return []
        if word.endswith(".ld"):
            return [f"-Wl,-T,{word}"]
        if word.startswith("/") and word.endswith(".a"):  # ours have paths in the build folder
            self.archives.add(Path(word).resolve())
        if name == "fmt":
            return [self.compiled(HERE / "fmt.cc", compiler, "-std=c++20")]
        if name:
            return [self.archive(f"lib{archive}.a", compiler) for archive in (name, *NEEDED_BY.get(name, ()))]
        return [word]

    def late_calls(self, libraries: List[str], program: ElfFile) -> List[str]:
        """The object file through which the program calls the functions of these libraries; none if there are no libraries."""
        if not libraries:
            return []
        lacking = {symbol.name for symbol in program.symbols() if not symbol.defined}
        calls: Dict[str, str] = {}
        for library in (ElfFile(path) for path in libraries):
            own = {symbol.name for symbol in library.symbols() if symbol.defined}
            calls.update((name, library.soname) for name in sorted(lacking & own - set(calls)))
        (self.work / "late_calls.inc").write_text("".join(f'LATE_CALL("{library}", {name})\n' for name, library in calls.items()))
        (self.work / "late_libraries.c.o").unlink(missing_ok=True)
        return [self.compiled(HERE / "late_libraries.c", *self.zig, "-std=gnu11", f"-I{self.work}")]

    def link(self, command: str, output: Path, before: ElfFile) -> None:
        """Links `output` again, which is still the file that Ninja linked: `before`."""
        compiler, *words = shlex.split(command)
        at = words.index("-o")
        del words[at : at + 2]
        inputs: List[str] = []
        for argument in (argument for word in words for argument in self.arguments(word, compiler)):
            if not (argument.endswith(".o") and argument in inputs):  # libfmt.so may be repeated, an object file may not
                inputs.append(argument)
        late = dict.fromkeys(word for word in words for shared in [SHARED_LIBRARY.match(word)] if shared and shared.group(1) in LATE)
        inputs += [*self.late_calls(list(late), before), *self.compat, *(self.archive(name, compiler) for name in COMPILED_IN)]
        kind = [] if "-shared" in inputs else ["-pie"]
        run([*self.zig, *kind, "-o", str(output), *inputs, "-lm", "-lpthread", "-ldl"], self.build)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--zig", required=True)
    parser.add_argument("--glibc", required=True)
    parser.add_argument("--work", type=Path, required=True)
    asked = parser.parse_args()
    commands = link_commands(asked.build)
    tools = toolchain(asked.machine, asked.zig, asked.glibc)
    linker = Linker(asked.build.resolve(), asked.work.resolve(), tools)
    for path, file in list(elf_files(asked.tree.resolve())):
        if newest_glibc(file) > version(asked.glibc):
            linker.link(command_for(str(path.relative_to(asked.tree.resolve())), commands), path, file)
        run([tools.strip, str(path)], asked.build)
    print("\n".join(sorted(str(archive) for archive in linker.archives)))


if __name__ == "__main__":
    main()
