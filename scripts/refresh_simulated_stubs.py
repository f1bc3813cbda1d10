#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the tables of the simulated CUDA libraries (injector/simulated_cuda/stubs/*.def) in step with PyTorch wheels.

    scripts/refresh_simulated_stubs.py --check build/release/lib/vramscope/simulated_cuda  site-packages ...
        checks that every symbol that these wheels need from a CUDA library is in the libraries that were built; prints those that are not
    scripts/refresh_simulated_stubs.py --headers /usr/local/cuda/include  site-packages ...
        adds what is missing to the tables; the public headers show which arguments are results

A symbol that is written by hand (libraries/, driver/, runtime/) is in no table. Nothing is ever removed: older wheels need it.
Exit 0: all there; 1: something is missing (--check); 2: could not be done.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Set

from elf_file import ElfFile, NotElf

SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "injector", "simulated_cuda")
CUDA_LIBRARY = re.compile(r"lib(cu|nv|nccl)")
# The library of a symbol without a version is found by its prefix; the longest that fits wins.
PREFIXES = {
    "__cuda": "cudart", "cuda": "cudart", "cublasLt": "cublasLt", "cublas": "cublas", "cudnn": "cudnn", "cufft": "cufft", "curand": "curand",
    "cusolver": "cusolver", "cusparseLt": "cusparseLt", "cusparse": "cusparse", "nvrtc": "nvrtc", "cupti": "cupti", "cuFile": "cufile",
    "nccl": "nccl", "nvshmem": "nvshmem_host", "nvml": "nvidia-ml", "cu": "cuda",
}
HEADERS = {
    "cublas": ["cublas_v2.h"], "cublasLt": ["cublasLt.h"], "cudnn": ["cudnn.h"], "cufft": ["cufftXt.h"], "curand": ["curand.h"],
    "cusolver": ["cusolverDn.h", "cusolverSp.h"], "cusparse": ["cusparse.h"], "nvrtc": ["nvrtc.h"], "cupti": ["cupti.h"],
    "cufile": ["cufile.h"], "nccl": ["nccl.h"],
}
# Fortran names of LAPACK that begin like the driver's functions.
FOREIGN = re.compile(r"cu[a-z]+_$")
HAND_WRITTEN = re.compile(r"SIMULATED_EXPORT [^;{=]*?[ *](\w+)\(|^\w+\((\w+)\)$", re.MULTILINE)
PROTOTYPE = re.compile(r"([A-Za-z_][\w ]*[\w*])\s+\**(\w+)\s*\(([^;{}]*?)\)\s*;", re.DOTALL)
IN_VECTOR_REGISTER = re.compile(r"(float|double|cu(Double|Float)?Complex)\s*\w*$")


class Wanted(NamedTuple):
    library: str  # "cublas"
    name: str
    is_data: bool


def libraries_of(folder: str) -> Iterator[ElfFile]:
    for path in sorted(glob.glob(os.path.join(folder, "*.so*"))):
        try:
            yield ElfFile(path)
        except NotElf:
            continue


def library_of(name: str) -> Optional[str]:
    fitting = [prefix for prefix in PREFIXES if name.startswith(prefix)]
    return PREFIXES[max(fitting, key=len)] if fitting and not FOREIGN.match(name) else None


def wanted_by(site_packages: str) -> Set[Wanted]:
    """What the wheel's libraries need from CUDA libraries."""
    found: Set[Wanted] = set()
    for library in libraries_of(os.path.join(site_packages, "torch", "lib")):
        for symbol in library.symbols():
            if symbol.defined or (symbol.library and not CUDA_LIBRARY.match(symbol.library)):
                continue
            owner = symbol.library[3:].split(".so")[0] if symbol.library else library_of(symbol.name)
            if owner:
                found.add(Wanted(owner, symbol.name, symbol.is_data))
    return found


def cuda_major_of(site_packages: str) -> str:
    needed = {name for library in libraries_of(os.path.join(site_packages, "torch", "lib")) for name in library.needed}
    return next((name.rsplit(".", 1)[1] for name in needed if name.startswith("libcudart.so.")), "?")


def built_in(folder: str) -> Set[str]:
    return {symbol.name for library in libraries_of(folder) for symbol in library.symbols() if symbol.defined}


def check(built: str, wheels: Iterable[str]) -> int:
    missing = 0
    for wheel in wheels:
        folder = os.path.join(built, f"cuda{cuda_major_of(wheel)}")
        have = built_in(folder)
        wanted = wanted_by(wheel)
        for symbol in sorted(wanted):
            if symbol.name not in have:
                print(f"{wheel}: {symbol.name} of lib{symbol.library} is missing in {folder}")
                missing += 1
        print(f"{wheel}: {len(wanted)} symbols wanted")
    return 1 if missing else 0


# ---- refreshing


def hand_written() -> Set[str]:
    names: Set[str] = set()
    for path in glob.glob(os.path.join(SOURCE, "*", "*.cc")):
        with open(path, encoding="utf-8") as file:
            names.update(filter(None, (group for match in HAND_WRITTEN.finditer(file.read()) for group in match.groups())))
    return names


def prototypes(headers: str, library: str) -> Dict[str, "tuple[str, List[str]]"]:
    """name -> (result type, parameters), as the preprocessed public headers give them."""
    found = {}
    for header in HEADERS.get(library, []):
        if not os.path.exists(os.path.join(headers, header)):
            continue
        command = ["g++", "-E", "-P", "-x", "c++", f"-I{headers}", "-include", "cstddef", os.path.join(headers, header)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)
        for result, name, parameters in PROTOTYPE.findall(text):
            found[name] = (result.strip(), [" ".join(part.split()) for part in parameters.split(",") if part.strip() not in ("", "void")])
    return found


def effects(name: str, parameters: List[str]) -> List[str]:
    """What the stub writes (stub.h)."""
    result = []
    index = 0
    for parameter in parameters:
        if IN_VECTOR_REGISTER.match(parameter):
            continue
        pointer = re.match(r"(?!const\b)([\w ]+?)\s*\*\s*(?:const\s+)?\w*(\[\])?$", parameter)
        if pointer and index < 24:
            kind = pointer[1].strip().replace("enum ", "").replace("struct ", "")
            if kind in ("int", "int32_t", "unsigned int", "unsigned", "uint32_t"):
                result.append(f"INT({index})")
            elif kind in ("size_t", "int64_t", "long long", "uint64_t", "long long int"):
                result.append(f"LONG({index})")
            elif re.search(r"Create|Init", name) and not any(effect.startswith("HANDLE") for effect in result):
                result.append(f"HANDLE({index})")
        index += 1
    return result


def row(symbol: Wanted, known: Dict[str, "tuple[str, List[str]]"]) -> str:
    if symbol.is_data:
        return f"DATA({symbol.name})"
    result, parameters = known.get(symbol.name, ("int", []))
    if "char" in result:
        return f"TEXT({symbol.name})"
    return f"STUB({', '.join([symbol.name, *effects(symbol.name, parameters)])})"


def refresh(headers: str, wheels: Iterable[str]) -> int:
    by_hand = hand_written()
    wanted = sorted({symbol for wheel in wheels for symbol in wanted_by(wheel) if symbol.library not in ("cudart", "cuda", "nvidia-ml")})
    for library in sorted({symbol.library for symbol in wanted}):
        path = os.path.join(SOURCE, "stubs", f"{library}.def")
        rows: Dict[str, str] = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                rows = {re.split(r"[(,)]", line)[1]: line for line in file.read().splitlines() if re.match(r"[A-Z]+\(", line)}
        known = prototypes(headers, library)
        for symbol in wanted:
            if symbol.library == library and symbol.name not in rows:
                rows[symbol.name] = row(symbol, known)
        kept = [rows[name] for name in sorted(rows) if name not in by_hand]
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"// SPDX-License-Identifier: Apache-2.0\n// lib{library}: kept by scripts/refresh_simulated_stubs.py; stub.h says what a row means.\n")
            file.write("// clang-format off\n" + "".join(f"{line}\n" for line in kept))
        print(f"{path}: {len(kept)} rows")
    return 0


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("wheels", nargs="+", metavar="SITE_PACKAGES")
    parser.add_argument("--check", metavar="FOLDER", help="the folder of cuda12 and cuda13 that was built")
    parser.add_argument("--headers", metavar="FOLDER", default="", help="CUDA's public headers")
    arguments = parser.parse_args(argv)
    try:
        return check(arguments.check, arguments.wheels) if arguments.check else refresh(arguments.headers, arguments.wheels)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"refresh_simulated_stubs: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
