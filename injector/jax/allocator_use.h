// SPDX-License-Identifier: Apache-2.0
// Compares the bytes of JAX's allocator on each device with the recorded buffers.
//
//   bytes in use (the allocator)  =  buffers and temporaries that were recorded  +  the rest
//
// The rest is memory that the plug-in does not report as buffers, for example constants of programs and
// unused ends of blocks. The rest is recorded as one block per device. When its size changes, a new block
// replaces the old block.
//
// During a compilation, XLA may allocate memory to try algorithms (autotuning). The allocator's peak shows
// the size of this memory. The size is recorded as one block, allocated and freed at the end of the
// compilation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

// Call with a positive `bytes` when a recorded block is allocated, and with a negative `bytes` when it is
// freed.
void CountBytes(uint16_t device_code, int64_t bytes);

// Returns true if the last comparison found a rest of more than 0 bytes.
bool HasRest(uint16_t device_code);
// Compares, and records the rest. Do not call while this thread executes a program.
void CompareWithAllocator(Device* device);
// Call after a buffer was allocated or freed. Compares again if CompareWithAllocator was called for this
// device before.
void CompareAgain(uint16_t device_code);

}  // namespace vramscope::injector::jax
