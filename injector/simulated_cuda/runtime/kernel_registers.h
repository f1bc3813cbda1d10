// SPDX-License-Identifier: Apache-2.0
// What is known of the registers of kernels, by their mangled names.
//
// Why: CUB makes the counts of digits of a sort of short keys as large as all thread blocks need that can be
// resident at once (InvokePasses in cub/device/dispatch/dispatch_radix_sort.cuh). By threads alone they are
// eight on a multiprocessor of an A100, and the counts 4.3 MiB instead of 584 KiB. A kernel's code, which
// states its registers, is compressed and not read.
#pragma once

namespace vramscope::simulated {

// Whether one block takes all registers of a multiprocessor, so that no second one is resident.
bool TakesAllRegisters(const char* kernel);

}  // namespace vramscope::simulated
