// SPDX-License-Identifier: Apache-2.0
// How many runs of a user's program the memory of this machine can hold at a time.
//
// Why: tensors on a simulated GPU take no memory, but the program still holds its data and PyTorch itself.
// The kernel kills runs if the machine has too little memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::cli {

// Free memory of this machine, or of this process's control group if that has less. UINT64_MAX = unknown.
[[nodiscard]] uint64_t FreeHostBytes();

// How many programs that need `each` bytes may run at a time with `free` bytes: 1 to `cores`. A fifth of the
// memory stays free. `each` = 0: unknown, gives 1.
[[nodiscard]] size_t RunsAtATime(size_t cores, uint64_t free, uint64_t each);

}  // namespace vramscope::cli
