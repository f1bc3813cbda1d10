// SPDX-License-Identifier: Apache-2.0
// Register use of kernels. The register use limits how many thread blocks are resident on a multiprocessor.
//
// CUB's radix sort of short keys allocates counters for every resident thread block (InvokePasses in
// cub/device/dispatch/dispatch_radix_sort.cuh). If only the number of threads limited the resident blocks,
// the counters would take 4.3 MiB instead of 584 KiB on an A100. The register use cannot be read from the
// kernel's code, because the code is compressed.
#pragma once

namespace vramscope::simulated {

// Returns true if one thread block uses all registers of a multiprocessor. `kernel` is a mangled name.
bool TakesAllRegisters(const char* kernel);

}  // namespace vramscope::simulated
