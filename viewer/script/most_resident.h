// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace vramscope::viewer {

// The most memory that this process has had so far.
[[nodiscard]] uint64_t MostResidentBytes();

}  // namespace vramscope::viewer
