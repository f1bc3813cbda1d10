// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The peak memory use of this process, for the viewer's own measurements.
namespace vramscope::viewer {

// The highest resident memory of this process so far, in bytes.
[[nodiscard]] uint64_t MostResidentBytes();

}  // namespace vramscope::viewer
