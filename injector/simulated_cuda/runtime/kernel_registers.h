// SPDX-License-Identifier: Apache-2.0
// Facts about the registers of kernels, looked up by the kernel's mangled name.
//
// Why: when CUB sorts short keys, its digit counts have room for every thread block that can be resident at
// once (InvokePasses in cub/device/dispatch/dispatch_radix_sort.cuh). By threads alone that would be eight
// blocks per multiprocessor of an A100, and counts of 4.3 MiB instead of 584 KiB. A kernel's code, which
// states its registers, is compressed and not read.
#pragma once

namespace vramscope::simulated {

// True if one block takes all registers of a multiprocessor, so that no second block is resident.
bool TakesAllRegisters(const char* kernel);

}  // namespace vramscope::simulated
