// SPDX-License-Identifier: Apache-2.0
// Compares the bytes of JAX's allocator on each device with the recorded buffers.
//
//   bytes in use (the allocator)  =  buffers and temporaries that were recorded  +  the rest
//
// The rest is memory that the plug-in does not show: constants of programs, and unsplit ends of blocks. The
// rest is recorded as one block per device, replaced when it changes.
//
// During a compilation, XLA may try algorithms in memory of their own. The allocator's peak shows how much.
// That memory is recorded as a block that ends with the compilation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

// Call when a recorded block has begun (`bytes` positive) or ended (negative).
void CountBytes(uint16_t device_code, int64_t bytes);

// True if the last comparison found unexplained bytes.
bool HasRest(uint16_t device_code);
// Records the rest. Do not call during an execution in this thread.
void CompareWithAllocator(Device* device);
// Like CompareWithAllocator, after a buffer began or ended. Only for devices compared before.
void CompareAgain(uint16_t device_code);

}  // namespace vramscope::injector::jax
