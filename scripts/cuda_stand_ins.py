#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a stock PyTorch CUDA wheel importable on a machine without CUDA, in 1.4 GB instead of 5.4 GB.

    pip install --no-deps torch            # leaves out the nvidia-* packages
    scripts/cuda_stand_ins.py build/venv/bin/python

The wheel's libraries name the CUDA libraries in DT_NEEDED, so `import torch` fails without them, although CPU training calls nothing
in them but the start-up registration. This script reads from the wheel's own ELF files which symbols it needs from each library, and in
which version. For each missing library it builds a stand-in of a few KB whose functions all return "no CUDA device"
(cudaErrorNoDevice = 100). PyTorch then behaves as on any machine without a GPU: torch.cuda.is_available() is False, without a warning.

The stand-ins are put into the first folder of the wheel's own DT_RPATH outside torch/lib (site-packages/nvidia/...), so no environment
variable is needed and real packages can be installed over them. They are written only into an environment that our scripts made
(marker file `vramscope-venv`), or anywhere with --force. Exit 0: nothing is missing any more; 2: it could not be done.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from elf_file import ElfFile, NotElf

MARKER = "vramscope-venv"
MANIFEST = "vramscope-stand-ins.txt"
NVIDIA_LIBRARY = re.compile(r"lib(cu|nv|nccl)")
# The driver is never in a wheel: PyTorch looks for it at run time and also works without it.
DRIVER_LIBRARIES = {"libcuda.so.1", "libnvidia-ml.so.1"}
TEXT_FUNCTION = re.compile(r"(Error|Status)(String|Name)$|^ncclGetLastError$")


class Failure(Exception):
    """One sentence for the user."""


class Wanted(NamedTuple):
    """What the wheel needs from one library: version -> symbol names ("" = unversioned), and which of them are data."""

    versions: Dict[str, Set[str]]
    data: Set[str]


def site_packages_of(target: str) -> str:
    if os.path.isdir(target):
        return os.path.abspath(target)
    try:
        answer = subprocess.run([target, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(f"{target} is neither a folder nor a Python that runs: {error}") from error
    return answer.stdout.strip()


def is_ours(site_packages: str) -> bool:
    """True if the environment around `site_packages` (PREFIX/lib/pythonX.Y/site-packages) has our marker file."""
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(site_packages)))
    return os.path.exists(os.path.join(prefix, MARKER))


def wheel_libraries(torch_lib: str) -> List[ElfFile]:
    found = []
    for path in sorted(glob.glob(os.path.join(torch_lib, "*.so*"))):
        try:
            found.append(ElfFile(path))
        except NotElf:
            continue
    if not found:
        raise Failure(f"{torch_lib} has no libraries: install torch there first (pip install --no-deps torch)")
    return found


def search_folders(libraries: List[ElfFile]) -> List[str]:
    folders: List[str] = []
    for library in libraries:
        for entry in library.search_path:
            folder = os.path.realpath(entry.replace("$ORIGIN", os.path.dirname(library.path)))
            if folder not in folders:
                folders.append(folder)
    return folders


def missing_sonames(libraries: List[ElfFile], folders: List[str]) -> List[str]:
    """The NVIDIA libraries that the wheel's own search path lacks. A system-wide copy does not count: another version may lie there."""
    needed = {name for library in libraries for name in library.needed}
    candidates = sorted(name for name in needed if NVIDIA_LIBRARY.match(name) and name not in DRIVER_LIBRARIES)
    return [name for name in candidates if not any(os.path.exists(os.path.join(folder, name)) for folder in folders)]


def wanted_symbols(libraries: List[ElfFile], sonames: List[str]) -> Dict[str, Wanted]:
    wanted = {soname: Wanted({}, set()) for soname in sonames}
    # Some libraries (NCCL, cuFile, cuSPARSELt) have no versions: we find their symbols by the prefix, for example cuFileRead in libcufile.so.0.
    stems = {soname[3:].split(".so")[0].lower(): soname for soname in sonames}
    for library in libraries:
        local_stems = {stem: soname for stem, soname in stems.items() if soname in library.needed}
        if not local_stems:
            continue
        for symbol in library.symbols():
            if symbol.defined:
                continue
            soname: Optional[str] = symbol.library
            if not soname:
                lowered = symbol.name.lower()
                soname = next((owner for stem, owner in local_stems.items() if lowered.startswith(stem)), None)
            if soname in wanted:
                wanted[soname].versions.setdefault(symbol.version, set()).add(symbol.name)
                if symbol.is_data:
                    wanted[soname].data.add(symbol.name)
    return wanted


def cudnn_version(site_packages: str) -> Tuple[int, int, int]:
    """The release named in the wheel's METADATA. torch.backends.cudnn refuses a library older than the one it was compiled against."""
    for path in glob.glob(os.path.join(site_packages, "torch-*.dist-info", "METADATA")):
        with open(path, encoding="utf-8") as file:
            match = re.search(r"^Requires-Dist: nvidia-cudnn-cu\d+ ?\(?==(\d+)\.(\d+)\.(\d+)", file.read(), re.MULTILINE)
        if match:
            return int(match[1]), int(match[2]), int(match[3])
    return 0, 0, 0


def cudnn_source(version: Tuple[int, int, int]) -> str:
    major, minor, patch = version
    number = major * (10000 if major >= 9 else 1000) + minor * 100 + patch  # CUDNN_VERSION changed its form with 9.0
    return f"""word cudnnGetVersion(void) {{ return {number}; }}
int cudnnGetProperty(int which, int* value) {{
  static const int parts[3] = {{{major}, {minor}, {patch}}};
  if (which < 0 || which > 2) return 100;
  *value = parts[which];
  return 0;
}}"""


def source_text(wanted: Wanted, cudnn: Tuple[int, int, int]) -> str:
    """C code in which every needed name is an alias of one of two functions: 800 separate functions would do no more."""
    lines = [
        "typedef unsigned long word;",
        "static word no_device(void) { return 100; } /* cudaErrorNoDevice; non-zero is an error in every one of these libraries */",
        'static const char* text(void) { return "no CUDA device: this library is a stand-in"; }',
    ]
    names = set().union(*wanted.versions.values())
    if "cudnnGetVersion" in names:
        lines.append(cudnn_source(cudnn))
        names -= {"cudnnGetVersion", "cudnnGetProperty"}
    for name in sorted(names):
        if name in wanted.data:
            lines.append(f"char {name}[4096];")
        elif TEXT_FUNCTION.search(name):
            lines.append(f'const char* {name}(void) __attribute__((alias("text")));')
        else:
            lines.append(f'word {name}(void) __attribute__((alias("no_device")));')
    return "\n".join(lines) + "\n"


def version_script(wanted: Wanted) -> str:
    return "".join(
        f"{version} {{ global: {' '.join(name + ';' for name in sorted(names))} }};\n" for version, names in sorted(wanted.versions.items()) if version
    )


def build(soname: str, wanted: Wanted, cudnn: Tuple[int, int, int], folder: str) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise Failure("no C compiler: install gcc (apt-get install gcc)")
    with tempfile.TemporaryDirectory() as scratch:
        source, script, output = (os.path.join(scratch, name) for name in ("stand_in.c", "versions", soname))
        with open(source, "w", encoding="utf-8") as file:
            file.write(source_text(wanted, cudnn))
        command = [compiler, "-O1", "-w", "-fno-builtin", "-fPIC", "-shared", "-nostdlib", f"-Wl,-soname,{soname}", "-o", output, source]
        if any(wanted.versions):
            with open(script, "w", encoding="utf-8") as file:
                file.write(version_script(wanted))
            command.append(f"-Wl,--version-script={script}")
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Failure(f"building the stand-in for {soname} failed:\n{result.stderr.strip()}")
        shutil.copyfile(output, os.path.join(folder, soname))


def stand_in(site_packages: str) -> List[str]:
    """Builds what is missing; returns the sonames built. Repeating it builds nothing."""
    torch_lib = os.path.realpath(os.path.join(site_packages, "torch", "lib"))
    libraries = wheel_libraries(torch_lib)
    folders = search_folders(libraries)
    missing = missing_sonames(libraries, folders)
    if not missing:
        return []
    folder = next((name for name in folders if name != torch_lib), None)
    if folder is None:
        raise Failure(f"the libraries in {torch_lib} have no search path (DT_RPATH) into site-packages: is this a wheel from the Python package index?")
    os.makedirs(folder, exist_ok=True)
    cudnn = cudnn_version(site_packages)
    for soname, wanted in wanted_symbols(libraries, missing).items():
        build(soname, wanted, cudnn, folder)
    with open(os.path.join(folder, MANIFEST), "a", encoding="utf-8") as file:
        file.write("".join(f"{soname}\n" for soname in missing))
    return missing


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("target", metavar="PYTHON_OR_SITE_PACKAGES", help="a Python interpreter, or its site-packages folder")
    parser.add_argument("--force", action="store_true", help=f"also into an environment without the marker file {MARKER}")
    arguments = parser.parse_args(argv)
    try:
        site_packages = site_packages_of(arguments.target)
        if not arguments.force and not is_ours(site_packages):
            raise Failure(f"{site_packages} belongs to an environment that our scripts did not make; give --force if that is meant")
        built = stand_in(site_packages)
    except (Failure, OSError) as failure:
        print(f"cuda_stand_ins: {failure}", file=sys.stderr)
        return 2
    print(f"cuda_stand_ins: built {len(built)} ({', '.join(built)})" if built else "cuda_stand_ins: nothing is missing")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
