#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table of driver hooks (injector/cuda/driver_functions.def, driver_abi.h) with NVIDIA's headers.

    scripts/check_driver_table.py [FOLDER_WITH_CUDA_H...]

Without folders: those that `scripts/setup.sh --tests` has fetched, and where the CUDA toolkit is installed. The headers of each CUDA release are
in the wheels nvidia-cuda-runtime-cu11, nvidia-cuda-runtime-cu12 and nvidia-cuda-runtime of the Python package index. For each folder:
every row is a function of that release, by its name, version, default stream and types; no form that the release has is left out; every
struct has the layout that our code reads. Exit 0: no difference, 1: each line printed is one difference, 77: no header.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "injector/cuda/driver_functions.def"
TABLE_HEADER = ROOT / "injector/cuda/driver_table.h"
INSTALLED = (*sorted((ROOT / "build/cuda-headers").glob("*")), "/usr/local/cuda/include", "/usr/include")
SKIPPED = 77

HANDLES = {"CUcontext", "CUmodule", "CUarray", "CUmipmappedArray", "CUstream", "CUmemoryPool", "CUgraph", "CUgraphNode", "CUgraphExec",
           "CUlibrary", "CUfunction", "CUkernel", "CUexternalMemory", "CUgreenCtx", "CUdevResourceDesc", "Handle"}
WIDE = {"CUdeviceptr", "CUdeviceptr_v2", "size_t", "unsigned long long", "cuuint64_t", "CUmemGenericAllocationHandle",
        "CUmemGenericAllocationHandle_v1", "uint64_t", "DevicePtr", "PhysicalHandle"}
BY_VALUE = {"CUipcMemHandle", "CUipcMemHandle_v1", "IpcHandle"}

# Our struct and its field: NVIDIA's.
LAYOUTS = {
    "Location": ("CUmemLocation", {"type": "type", "id": "id"}),
    "AllocationProperties": ("CUmemAllocationProp", {"location": "location"}),
    "PoolProperties": ("CUmemPoolProps", {"location": "location"}),
    "ArrayDescriptor": ("CUDA_ARRAY_DESCRIPTOR", {"width": "Width", "height": "Height", "format": "Format", "channels": "NumChannels"}),
    "Array3dDescriptor": ("CUDA_ARRAY3D_DESCRIPTOR", {"width": "Width", "height": "Height", "depth": "Depth", "format": "Format",
                                                      "channels": "NumChannels", "flags": "Flags"}),
    "MulticastProperties": ("CUmulticastObjectProp", {"bytes": "size"}),
    "ExternalMemory": ("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", {"bytes": "size"}),
    "ExternalBuffer": ("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", {"bytes": "size"}),
    "AllocationNode": ("CUDA_MEM_ALLOC_NODE_PARAMS", {"bytes": "bytesize", "pointer": "dptr"}),
    "GraphNode": ("CUgraphNodeParams", {"type": "type", "allocation": "alloc", "freed": "free"}),
}
NUMBERS = {"kPerThreadStream": "CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM", "kAllocationNode": "CU_GRAPH_NODE_TYPE_MEM_ALLOC",
           "kFreeNode": "CU_GRAPH_NODE_TYPE_MEM_FREE"}
ABSENT_BEFORE = {"MulticastProperties": 12010, "GraphNode": 12020}


class Row(NamedTuple):
    symbol: str
    base: str
    since: int
    per_thread: bool
    types: Tuple[str, ...]


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def width(parameter: str) -> str:
    """How a parameter is passed: "pointer", "8" or "4" (bytes), or "struct"."""
    if "*" in parameter:
        return "pointer"
    words = [word for word in parameter.split() if word not in ("const", "struct")]
    for length in (3, 2, 1):
        name = " ".join(words[:length])
        if name in HANDLES:
            return "pointer"
        if name in WIDE:
            return "8"
        if name in BY_VALUE:
            return "struct"
    return "4"


def types_of(parameters: str) -> Tuple[str, ...]:
    return tuple(width(parameter) for parameter in parameters.split(",") if parameter.strip() not in ("", "void"))


def read_table() -> List[Row]:
    pattern = r"^DRIVER_FUNCTION\((\w+), (\w+), (\d+), (\w+), \w+, \(([^)]*)\), \([^)]*\)\)"
    text = without_comments(TABLE.read_text(encoding="utf-8"))
    rows = [Row(symbol, base, int(since), stream == "kPerThread", types_of(parameters))
            for symbol, base, since, stream, parameters in re.findall(pattern, text, re.MULTILINE)]
    assert len(rows) == len(re.findall(r"^DRIVER_FUNCTION\(", text, re.MULTILINE)), "a row that this script cannot read"
    return rows


def typedefs(folder: Path) -> Dict[Tuple[str, int, bool], Tuple[str, ...]]:
    """The forms of all functions of a release: (base, version, per-thread stream) -> types."""
    text = without_comments((folder / "cudaTypedefs.h").read_text(encoding="utf-8", errors="replace"))
    found = re.findall(r"PFN_(cu\w+?)_v(\d+)(_pt[sd][sz])?\s*\)\s*\(([^;]*)\)\s*;", text)
    return {(base, int(version), bool(suffix)): types_of(parameters) for base, version, suffix, parameters in found}


def release_of(folder: Path) -> int:
    found = re.search(r"^#define CUDA_VERSION (\d+)", (folder / "cuda.h").read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    assert found, folder
    return int(found[1])


def compare_rows(rows: List[Row], folder: Path, release: int) -> Iterator[str]:
    forms = typedefs(folder)
    header = (folder / "cuda.h").read_text(encoding="utf-8", errors="replace")
    table = {(row.base, row.since, row.per_thread): row for row in rows}
    oldest = {row.base: min(other.since for other in rows if other.base == row.base) for row in rows}
    for key, row in table.items():
        if row.since > release:
            continue
        if key not in forms:
            yield f"{row.symbol}: there is no form of {row.base} of version {row.since}"
        elif forms[key] != row.types:
            yield f"{row.symbol}: takes {row.types}, NVIDIA's {forms[key]}"
        name = f"__CUDA_API_PTSZ({row.base})" if row.per_thread else row.symbol
        if not re.search(rf"\b{re.escape(name)}(?!\w)", header):
            yield f"{row.symbol}: cuda.h does not have it"
    for base, version, per_thread in forms:
        if base in oldest and version >= oldest[base] and (base, version, per_thread) not in table:
            yield f"{base}: the table lacks the form of version {version}{' for the per-thread stream' if per_thread else ''}"


def compare_layouts(folder: Path, release: int) -> Iterator[str]:
    """Compares the layouts of structs, with a compiler that reads both headers."""
    lines = ['#include <cuda.h>', '#include "injector/cuda/driver_abi.h"', "#include <cstddef>", "using namespace vramscope::injector::driver;"]
    for ours, (theirs, fields) in LAYOUTS.items():
        if release < ABSENT_BEFORE.get(ours, 0):
            continue
        for field, their_field in fields.items():
            lines.append(f'static_assert(offsetof({ours}, {field}) == offsetof({theirs}, {their_field}), "{ours}::{field}");')
    for ours, theirs in NUMBERS.items():
        lines.append(f'static_assert(static_cast<long long>({ours}) == static_cast<long long>({theirs}), "{ours}");')
    lines.append('static_assert(sizeof(IpcHandle) == sizeof(CUipcMemHandle), "IpcHandle");')
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as source:
        source.write("\n".join(lines) + "\n")
        source.flush()
        command = ["c++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{ROOT}", f"-isystem{folder}", source.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        if "error:" in line:
            yield line.split("error:", 1)[1].strip()


def main(arguments: List[str]) -> Optional[int]:
    folders = [Path(argument) for argument in arguments or INSTALLED]
    folders = [folder for folder in folders if (folder / "cudaTypedefs.h").exists()]
    if not folders:
        print("No cuda.h is here, so the table of driver hooks was not compared with one.")
        return SKIPPED
    newest = re.search(r"kNewestKnownCuda = (\d+);", TABLE_HEADER.read_text(encoding="utf-8"))
    assert newest
    rows = read_table()
    differences = 0
    for folder in folders:
        release = release_of(folder)
        found = [*compare_rows(rows, folder, release), *compare_layouts(folder, release)]
        if release > int(newest[1]):
            found.append(f"kNewestKnownCuda is {newest[1]}: where nothing else differs it can be {release}")
        for difference in found:
            print(f"CUDA {release // 1000}.{release % 1000 // 10}: {difference}")
        differences += len(found)
        print(f"CUDA {release // 1000}.{release % 1000 // 10}: {len(rows)} rows, {len(LAYOUTS)} structs, {len(found)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
