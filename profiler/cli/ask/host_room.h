// SPDX-License-Identifier: Apache-2.0
// Computes how many runs of a user's program fit in the memory of this machine at the same time.
//
// Tensors on a simulated GPU take no memory, but the program's data and PyTorch itself do. If the machine has
// too little memory, the kernel kills runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::cli {

// Returns the free bytes of this machine or of this process's control group, whichever is less. Returns
// UINT64_MAX if both are unknown.
[[nodiscard]] uint64_t FreeHostBytes();

// Returns how many programs may run at the same time, from 1 to `cores`. Each program needs `each` bytes; the
// machine has `free` bytes. A fifth of the memory stays free. Returns 1 if `each` is 0 (unknown).
[[nodiscard]] size_t RunsAtATime(size_t cores, uint64_t free, uint64_t each);

}  // namespace vramscope::cli
