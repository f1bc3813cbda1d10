// SPDX-License-Identifier: Apache-2.0
// Facts about kernels' registers, by mangled name.
//
// CUB's counts for short keys have room for every resident thread block (InvokePasses in
// cub/device/dispatch/dispatch_radix_sort.cuh). If threads alone limited the number of blocks, the counts
// would take 4.3 MiB instead of 584 KiB on an A100. A kernel's code states its registers, but is compressed.
#pragma once

namespace vramscope::simulated {

// True if one block takes all registers of a multiprocessor.
bool TakesAllRegisters(const char* kernel);

}  // namespace vramscope::simulated
