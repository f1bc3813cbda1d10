#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the deep recorder (injector/torch/bridge) in advance for the published releases of PyTorch, for a wheel.

    scripts/wheel/bridges.py FOLDER --machine x86_64 --releases all --torch-python PYTHON --zig ZIG --glibc 2.28 --work build/wheel/bridges

FOLDER gets the libraries and index.txt, which the recorder reads (profiler/collector/launch/prebuilt_bridge.h). `--releases newest`: only
the release of PYTHON, whose own headers are used. The headers of the others are from their wheels for aarch64, the smallest ones that have them: pip
downloads each wheel once, and only its headers are kept. Those that the deep recorder includes declare the same as in the wheels for x86-64 (compared
for 2.6.0 and 2.15.0, preprocessed), and the recorder compares the layout headers before it uses a library.

    headers/torch-2.6.0.zip    the headers of one release
    facts/HASH.json            release, ABI, sources, compiler and flags -> the hash of the preprocessed source, and of the layout headers
    objects/HASH.o             preprocessed source, compiler and flags -> object file

Releases share a library only if their preprocessed source is equal, byte for byte.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BRIDGE = SOURCE / "injector/torch/bridge"
sys.path.insert(0, str(HERE.parent))
from elf_file import ElfFile
from toolchain import toolchain

RELEASES = ("2.2.0", "2.2.1", "2.2.2", "2.3.0", "2.3.1", "2.4.0", "2.4.1", "2.5.0", "2.5.1", "2.6.0", "2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1",
            "2.10.0", "2.11.0", "2.12.0", "2.12.1", "2.13.0", "2.14.0", "2.14.1", "2.15.0")
LAST_OF_OLD_ABI = (2, 6)  # the wheels of the package index; others of the same releases have the new ABI
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_28_aarch64")
# The flags with which the recorder compiles it on the user's machine (bridge_build.cc).
FLAGS = ("-O1", "-g0", "-fPIC", "-fvisibility=hidden", "-w")
# What manylinux_2_28 allows, which is what the C++ library of GCC 8 has.
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
SYMBOL_VERSION = re.compile(r"^(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)$")


class Build(NamedTuple):
    """One release with one std::string ABI."""

    release: str
    abi: str  # "old", "new"
    layout: str  # SHA-256 of the layout headers
    source: str  # SHA-256 of the preprocessed source and the flags


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nbridges.py: exit {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def layout_headers() -> List[str]:
    """The recorder's own list of layout headers."""
    text = (SOURCE / "profiler/collector/launch/torch_headers.h").read_text()
    return re.findall(r'"([^"]+\.h)"', text[text.index("kLayoutHeaders = {") : text.index("};")])


def bridge_files() -> List[Path]:
    shared = [SOURCE / name for name in ("injector/core/api.h", "trace_format/event.h", "trace_format/raw_record.h")]
    return sorted([*shared, *BRIDGE.glob("*.cc"), *BRIDGE.glob("*.h")])


def keep_headers(wheel: Path, kept: Path) -> None:
    unfinished = kept.with_suffix(".unfinished")
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as headers:
        for name in whole.namelist():
            if name.startswith("torch/include/") and not name.endswith("/"):
                headers.writestr(name[len("torch/include/") :], whole.read(name))
    unfinished.replace(kept)


class Bridges:
    def __init__(self, asked: argparse.Namespace) -> None:
        self.work: Path = asked.work.resolve()
        self.python: str = asked.torch_python
        self.tools = toolchain(asked.machine, asked.zig, asked.glibc)
        for folder in ("headers", "facts", "objects"):
            (self.work / folder).mkdir(parents=True, exist_ok=True)
        self.unpacked = ""  # the release whose headers are in the folder `include`
        self.include = self.work / f"include-{os.getpid()}"
        self.how = digest(run(self.tools.compiler, "--version").encode(), repr(FLAGS).encode())
        self.sources = digest(*(path.read_bytes() for path in bridge_files()))
        found = run(self.python, "-c", "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])").strip()
        self.own_torch = Path(found)
        version = re.search(r"__version__ = '([0-9.]+)", (self.own_torch / "version.py").read_text())
        self.own_release = version.group(1) if version else ""

    def headers(self, release: str) -> Path:
        """A folder with the headers of a release: those of the torch at hand, or unpacked into `work`."""
        if release == self.own_release:
            return (self.own_torch / "include").resolve()
        kept = self.work / f"headers/torch-{release}.zip"
        if not kept.exists():
            with tempfile.TemporaryDirectory(dir=self.work) as folder:
                platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
                run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--python-version", "3.11",
                    "--only-binary", ":all:", *platforms, "--dest", folder, f"torch=={release}")
                keep_headers(next(Path(folder).glob("torch-*.whl")), kept)
        if self.unpacked != release:
            shutil.rmtree(self.include, ignore_errors=True)
            with zipfile.ZipFile(kept) as archive:
                archive.extractall(self.include)
            self.unpacked = release
        return self.include

    def preprocessed(self, headers: Path, abi: str) -> bytes:
        standard = "c++20" if "#error C++20" in (headers / "ATen/ATen.h").read_text() else "c++17"
        done = subprocess.run(
            [self.tools.compiler, "-E", "-P", f"-std={standard}", "-DNDEBUG", f"-D_GLIBCXX_USE_CXX11_ABI={int(abi == 'new')}", *FLAGS,
             f"-fmacro-prefix-map={SOURCE}=.", f"-fmacro-prefix-map={headers}=torch", "-isystem", str(headers),
             "-isystem", str(headers / "torch/csrc/api/include"), "-I", str(SOURCE), str(BRIDGE / "bridge.cc")],
            capture_output=True)
        if done.returncode:
            sys.exit(f"bridges.py: the headers of {headers}: {done.stderr.decode()}")
        return f"// -std={standard} ABI {abi}\n".encode() + done.stdout

    def build(self, release: str, abi: str) -> Build:
        """The build of a release, whose object file is then in the cache."""
        facts = self.work / f"facts/{digest(*(part.encode() for part in (self.how, self.sources, release, abi)))}.json"
        if facts.exists():
            known = Build(**json.loads(facts.read_text()))
            if self.object_file(known.source).exists():
                return known
        headers = self.headers(release)
        text = self.preprocessed(headers, abi)
        found = Build(release, abi, digest(*((headers / name).read_bytes() for name in layout_headers())), digest(self.how.encode(), text))
        self.compile(text, self.object_file(found.source))
        facts.write_text(json.dumps(found._asdict()))
        return found

    def object_file(self, source: str) -> Path:
        return self.work / f"objects/{source}.o"

    def compile(self, text: bytes, output: Path) -> None:
        if output.exists():
            return
        standard = text[: text.index(b"\n")].decode().split()[1]
        source, unfinished = output.with_suffix(".ii"), output.with_suffix(".unfinished")
        source.write_bytes(text)
        run(self.tools.compiler, standard, *FLAGS, "-c", str(source), "-o", str(unfinished))
        source.unlink()
        unfinished.replace(output)

    def compiled(self, source: Path, abi: str) -> str:
        """The object file of a source file that includes no header of torch."""
        output = self.work / f"objects/{digest(self.how.encode(), self.sources.encode(), source.read_bytes(), abi.encode())}.o"
        if not output.exists():
            unfinished = output.with_suffix(".unfinished")
            for_cxx = [self.tools.compiler, "-std=c++17", f"-D_GLIBCXX_USE_CXX11_ABI={int(abi == 'new')}"]
            compiler = [*self.tools.zig, "-std=c11"] if source.suffix == ".c" else for_cxx
            run(*compiler, *FLAGS, "-DNDEBUG", "-I", str(SOURCE), "-c", str(source), "-o", str(unfinished))
            unfinished.replace(output)
        return str(output)

    def stand_in(self, name: str) -> str:
        """An empty library with the soname of one of torch's: the real one is in the process before the bridge."""
        path = self.work / name
        empty = self.work / "empty.c"
        empty.write_text("")
        run(*self.tools.zig, "-shared", f"-Wl,-soname,{name}", str(empty), "-o", str(path))
        return str(path)

    def link(self, build: Build, output: Path) -> None:
        torch = [self.stand_in(name) for name in ("libtorch_cpu.so", "libc10.so")]
        parts = [self.compiled(path, build.abi) for path in (BRIDGE / "python_stack.cc", BRIDGE / "text_cache.cc", HERE / "libstdcxx_3_4_24.cc")]
        compat = self.compiled(HERE / "glibc_2_28.c", "")
        # Exceptions and strings pass between the bridge and torch, so the C++ library is the one of the process.
        cxx = [str(Path(run(self.tools.compiler, f"-print-file-name={name}").strip()).resolve()) for name in ("libstdc++.so.6", "libgcc_s.so.1")]
        run(*self.tools.zig, "-shared", "-o", str(output), str(self.object_file(build.source)), *parts, compat,
            "-Wl,--no-as-needed", *torch, *cxx, "-Wl,--allow-shlib-undefined", "-Wl,--gc-sections")
        run(self.tools.strip, str(output))
        check(output)


def check(library: Path) -> None:
    """Ends with a message if the library needs more than manylinux_2_28 allows."""
    for symbol in ElfFile(str(library)).symbols():
        match = SYMBOL_VERSION.match(symbol.version)
        if match and not symbol.defined and numbers(match.group(2)) > NEWEST[match.group(1)]:
            sys.exit(f"bridges.py: {library}: {symbol.name} is of {symbol.version}")


def wanted(releases: Tuple[str, ...]) -> Iterator[Tuple[str, str]]:
    for release in releases:
        if numbers(release)[:2] <= LAST_OF_OLD_ABI:
            yield release, "old"
        yield release, "new"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--releases", choices=("all", "newest"), required=True)
    parser.add_argument("--torch-python", required=True)
    parser.add_argument("--zig", required=True)
    parser.add_argument("--glibc", required=True)
    parser.add_argument("--work", type=Path, required=True)
    asked = parser.parse_args()
    bridges = Bridges(asked)
    asked.folder.mkdir(parents=True, exist_ok=True)
    libraries: Dict[str, str] = {}
    lines = []
    for release, abi in wanted(RELEASES if asked.releases == "all" else (bridges.own_release,)):
        build = bridges.build(release, abi)
        if build.source not in libraries:
            libraries[build.source] = f"torch-{release}-{abi}.so"
            bridges.link(build, asked.folder / libraries[build.source])
        lines.append(f"{release} {abi} {build.layout} {libraries[build.source]}\n")
    (asked.folder / "index.txt").write_text("".join(lines))
    shutil.rmtree(bridges.include, ignore_errors=True)
    print(f"{len(libraries)} libraries for {len(lines)} builds of PyTorch")


if __name__ == "__main__":
    main()
