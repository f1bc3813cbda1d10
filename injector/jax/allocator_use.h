// SPDX-License-Identifier: Apache-2.0
// Compares the bytes that JAX's allocator has handed out on each device with the buffers that were recorded.
//
//   bytes in use (the allocator)  =  buffers and temporaries that were recorded  +  the rest
//
// The rest is memory that no function of the plug-in shows: constants of programs, and the unused end of a
// block that the allocator did not split. It is recorded as one block per device, which is replaced when the
// rest changes, so that all recorded blocks add up to the allocator's figure.
//
// While a program is compiled, XLA may try several algorithms for an operation in memory of their own. The
// allocator's peak shows how much memory this took. That amount is recorded as a block that ends with the
// compilation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

// A recorded block began (positive) or ended (negative).
void CountBytes(uint16_t device_code, int64_t bytes);

// True if the last comparison found bytes that no recorded block explains.
bool HasRest(uint16_t device_code);
// Records the rest as it is now. Call it when no execution is underway in this thread.
void CompareWithAllocator(Device* device);
// Like CompareWithAllocator, after a buffer began or ended. Does nothing for a device that was never
// compared.
void CompareAgain(uint16_t device_code);

}  // namespace vramscope::injector::jax
