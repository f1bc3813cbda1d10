#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares injector/cupti/abi.h, our declarations of CUPTI's interface, with the headers of a CUPTI release.

    scripts/check_cupti_layout.py CUPTI_INCLUDE [CUDA_INCLUDE]

CUPTI_INCLUDE has cupti.h (the toolkit's include folder, or that of the package nvidia-cuda-cupti). CUDA_INCLUDE has cuda.h, if it is not there too.
Prints one line for each difference. Exit 0: no difference; 1: a difference; 77: there are no headers.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Tuple

SOURCE = Path(__file__).resolve().parent.parent

# Our name, the header's name (without CUPTI_DRIVER_TRACE_CBID_).
FUNCTIONS = {
    "kMemFreeHost": "cuMemFreeHost", "kMemHostAlloc": "cuMemHostAlloc", "kMemAlloc": "cuMemAlloc_v2", "kMemAllocPitch": "cuMemAllocPitch_v2",
    "kMemFree": "cuMemFree_v2", "kMemHostAlloc2": "cuMemHostAlloc_v2", "kMemAllocHost": "cuMemAllocHost_v2",
    "kMemHostRegister": "cuMemHostRegister", "kMemHostUnregister": "cuMemHostUnregister", "kIpcCloseMemHandle": "cuIpcCloseMemHandle",
    "kMemAllocManaged": "cuMemAllocManaged", "kMemHostRegister2": "cuMemHostRegister_v2", "kMemAddressReserve": "cuMemAddressReserve",
    "kMemAddressFree": "cuMemAddressFree", "kMemCreate": "cuMemCreate", "kMemRelease": "cuMemRelease", "kMemMap": "cuMemMap",
    "kMemUnmap": "cuMemUnmap", "kMemImport": "cuMemImportFromShareableHandle", "kMemRetain": "cuMemRetainAllocationHandle",
    "kIpcOpenMemHandle": "cuIpcOpenMemHandle_v2", "kMemAllocAsync": "cuMemAllocAsync", "kMemAllocAsyncPerThread": "cuMemAllocAsync_ptsz",
    "kMemFreeAsync": "cuMemFreeAsync", "kMemFreeAsyncPerThread": "cuMemFreeAsync_ptsz", "kMemAllocFromPool": "cuMemAllocFromPoolAsync",
    "kMemAllocFromPoolPerThread": "cuMemAllocFromPoolAsync_ptsz", "kMulticastCreate": "cuMulticastCreate",
}
SINCE_12 = {"cuMulticastCreate", "cuMemHostAlloc_v2"}  # not in every release

VALUES = {
    "kMemoryActivity": "CUPTI_ACTIVITY_KIND_MEMORY2", "kPoolActivity": "CUPTI_ACTIVITY_KIND_MEMORY_POOL",
    "kMultipleSubscribers": "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "kUnknownError": "CUPTI_ERROR_UNKNOWN",
    "kDriverApi": "CUPTI_CB_DOMAIN_DRIVER_API", "kExit": "CUPTI_API_EXIT", "kFlushForced": "CUPTI_ACTIVITY_FLAG_FLUSH_FORCED",
    "kAllocated": "CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION", "kReleased": "CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE",
    "kPinned": "CUPTI_ACTIVITY_MEMORY_KIND_PINNED", "kDevice": "CUPTI_ACTIVITY_MEMORY_KIND_DEVICE",
    "kManaged": "CUPTI_ACTIVITY_MEMORY_KIND_MANAGED", "kDeviceStatic": "CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC",
    "kManagedStatic": "CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC",
    "kPoolDestroyed": "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED", "kPoolTrimmed": "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED",
}

CALLBACK = {"site": "callbackSite", "function_name": "functionName", "parameters": "functionParams", "return_value": "functionReturnValue",
            "symbol_name": "symbolName", "context": "context", "context_id": "contextUid", "correlation_data": "correlationData",
            "correlation_id": "correlationId"}
MEMORY = {"kind": "kind", "operation": "memoryOperationType", "memory_kind": "memoryKind", "correlation_id": "correlationId",
          "address": "address", "bytes": "bytes", "timestamp": "timestamp", "program_counter": "PC", "process": "processId",
          "device": "deviceId", "context": "contextId", "stream": "streamId", "name": "name", "is_async": "isAsync",
          "pool_type": "memoryPoolConfig.memoryPoolType", "pool": "memoryPoolConfig.address",
          "release_threshold": "memoryPoolConfig.releaseThreshold", "pool_size_or_process": "memoryPoolConfig.pool.size",
          "pool_used": "memoryPoolConfig.utilizedSize"}
POOL = {"kind": "kind", "operation": "memoryPoolOperationType", "pool_type": "memoryPoolType", "correlation_id": "correlationId",
        "process": "processId", "device": "deviceId", "least_kept": "minBytesToKeep", "address": "address", "size": "size",
        "release_threshold": "releaseThreshold", "timestamp": "timestamp", "used": "utilizedSize"}

PARAMETERS: List[Tuple[str, Dict[str, int]]] = [  # where callbacks.cc reads the arguments
    ("cuMemAlloc_v2", {"dptr": 0, "bytesize": 8}), ("cuMemAllocManaged", {"dptr": 0, "bytesize": 8}),
    ("cuMemAllocPitch_v2", {"dptr": 0, "pPitch": 8, "WidthInBytes": 16, "Height": 24}), ("cuMemFree_v2", {"dptr": 0}),
    ("cuMemAllocAsync", {"dptr": 0, "bytesize": 8, "hStream": 16}), ("cuMemFreeAsync", {"dptr": 0}),
    ("cuMemAllocFromPoolAsync", {"dptr": 0, "bytesize": 8, "pool": 16, "hStream": 24}),
    ("cuMemHostAlloc", {"pp": 0, "bytesize": 8}), ("cuMemAllocHost_v2", {"pp": 0, "bytesize": 8}), ("cuMemFreeHost", {"p": 0}),
    ("cuMemHostRegister_v2", {"p": 0, "bytesize": 8}), ("cuMemHostUnregister", {"p": 0}),
    ("cuMemAddressReserve", {"ptr": 0, "size": 8}), ("cuMemAddressFree", {"ptr": 0}), ("cuMemCreate", {"handle": 0, "size": 8}),
    ("cuMemRelease", {"handle": 0}), ("cuMemMap", {"ptr": 0, "size": 8, "handle": 24}), ("cuMemUnmap", {"ptr": 0, "size": 8}),
    ("cuMemImportFromShareableHandle", {"handle": 0}), ("cuMemRetainAllocationHandle", {"handle": 0}),
    ("cuIpcOpenMemHandle_v2", {"pdptr": 0}), ("cuIpcCloseMemHandle", {"dptr": 0}), ("cuMulticastCreate", {"mcHandle": 0}),
]


def newest(headers: str, name: str) -> str:
    """The newest version of a struct, which is the one that the release writes: the one with the highest number."""
    numbers = [int(number) for number in re.findall(rf"\}} {name}(\d+);", headers)]
    return f"{name}{max(numbers)}"


def checks(include: Path) -> Tuple[List[str], List[str]]:
    """C++ conditions, and the structs of generated_cuda_meta.h that they need (it names types that cuda.h leaves out for programs)."""
    headers = "".join(path.read_text(errors="replace") for path in include.glob("cupti_activity*.h"))
    functions = (include / "cupti_driver_cbid.h").read_text()
    meta = (include / "generated_cuda_meta.h").read_text()
    conditions = [f"int64_t(abi::{ours}) == int64_t({theirs})" for ours, theirs in VALUES.items()]
    for ours, theirs in FUNCTIONS.items():
        if theirs in SINCE_12 and not re.search(rf"CBID_{theirs}\s*=", functions):
            continue
        conditions.append(f"int64_t(abi::{ours}) == int64_t(CUPTI_DRIVER_TRACE_CBID_{theirs})")
    memory, pool = newest(headers, "CUpti_ActivityMemory"), newest(headers, "CUpti_ActivityMemoryPool")
    for ours, theirs, fields in (("CallbackData", "CUpti_CallbackData", CALLBACK), ("MemoryRecord", memory, MEMORY), ("PoolRecord", pool, POOL)):
        for our_field, their_field in fields.items():
            conditions.append(f"offsetof(abi::{ours}, {our_field}) == offsetof({theirs}, {their_field})")
            conditions.append(f"sizeof(abi::{ours}::{our_field}) == sizeof((({theirs}*)nullptr)->{their_field})")
    structs = []
    for name, fields in PARAMETERS:
        if struct := re.search(rf"typedef struct {name}_params_st \{{.*?\}} {name}_params;", meta, re.DOTALL):
            structs.append(struct.group(0))
            conditions += [f"offsetof({name}_params, {field}) == {offset}" for field, offset in fields.items()]
    return conditions, structs


def failures(include: Path, cuda: Path, conditions: List[str], structs: List[str]) -> List[str]:
    """The conditions that do not hold; the whole output of the compiler if the headers themselves cannot be compiled."""
    lines = [f"#include <{header}>" for header in ("cstddef", "cuda.h", "cupti_callbacks.h", "cupti_activity.h", "cupti_driver_cbid.h")]
    lines += structs
    lines += ['#include "injector/cupti/abi.h"', "namespace abi = vramscope::injector::cupti;"]
    lines += [f'static_assert({condition}, "{condition}");' for condition in conditions]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "check.cc"
        program.write_text("\n".join(lines) + "\n")
        done = subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{SOURCE}", "-isystem", str(include),
                               "-isystem", str(cuda), str(program)], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    failed = re.findall(r"static assertion failed: (.*)", done.stderr)
    others = [line for line in done.stderr.splitlines() if "error:" in line and "static assertion" not in line]
    return failed + others[:5]


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    include, cuda = Path(sys.argv[1]), Path(sys.argv[-1])
    if not (include / "cupti_activity.h").exists() or not (cuda / "cuda.h").exists():
        print("no CUPTI headers (cupti_activity.h) or no cuda.h there")
        return 77
    conditions, structs = checks(include)
    failed = failures(include, cuda, conditions, structs)
    for failure in failed:
        print(failure)
    version = re.search(r"define CUPTI_API_VERSION (\d+)", (include / "cupti_version.h").read_text())
    print(f"CUPTI {version.group(1) if version else '?'}: {len(conditions)} facts, {len(failed)} differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
