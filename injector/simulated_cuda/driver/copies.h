// SPDX-License-Identifier: Apache-2.0
// Copies bytes, if the program can see the result.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// To the host: always. Into device memory: up to TheSettings().copy_limit. A larger copy is skipped: the
// destination keeps its contents. Ranges may overlap. kInvalidValue outside the device's memory.
int Copy(uint64_t to, uint64_t from, uint64_t bytes);

// Writes `count` values of `width` bytes (1, 2 or 4). Zero frees host pages; other values are written up to
// the copy limit.
int Fill(uint64_t to, uint32_t value, unsigned width, uint64_t count);

}  // namespace vramscope::simulated
