// SPDX-License-Identifier: Apache-2.0
// What CUB's radix sort takes beside keys and values when PyTorch sorts more than 4096 elements of one row.
//
// Why a formula: keys of four bytes are sorted in one sweep, those of two in several, each with a count of
// digits for every thread block that could be there: 584 KiB on an A100 however few are sorted, which neither
// halves with the keys nor grows with the batch. CUB: InvokeOnesweep and InvokePasses in
// cub/device/dispatch/dispatch_radix_sort.cuh, Policy800 in tuning/tuning_radix_sort.cuh (CCCL 2.2 to 3.1).
// Values are PyTorch's indices of 8 bytes, and so is what counts them (ATen/cuda/cub-RadixSortPairs.cu).
#pragma once

#include <cstdint>

namespace vramscope::whatif {

[[nodiscard]] uint64_t OneSweepSortBytes(uint64_t items);                        // keys of 4 bytes
[[nodiscard]] uint64_t ManySweepSortBytes(uint64_t items, int multiprocessors);  // of 2

}  // namespace vramscope::whatif
