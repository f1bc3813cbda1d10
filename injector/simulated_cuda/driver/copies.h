// SPDX-License-Identifier: Apache-2.0
// How bytes move: really, as far as a program can see it, and not at all where it would only cost time and
// memory.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// To the host: always. Into device memory: up to TheSettings().copy_limit; a larger block keeps what it held,
// which is zero unless it was written in small pieces. Ranges may overlap. kInvalidValue for a range that
// leaves the device's memory.
int Copy(uint64_t to, uint64_t from, uint64_t bytes);

// `count` values of `width` bytes (1, 2 or 4). Zero gives the host's pages back; other values are written up
// to the copy limit.
int Fill(uint64_t to, uint32_t value, unsigned width, uint64_t count);

}  // namespace vramscope::simulated
