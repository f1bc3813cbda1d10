// SPDX-License-Identifier: Apache-2.0
// The peak of the viewer's own memory use, for the measurements of frame_times.h.
#pragma once

#include <cstdint>

namespace vramscope::viewer {

// Returns the highest resident memory of this process so far, in bytes.
[[nodiscard]] uint64_t MostResidentBytes();

}  // namespace vramscope::viewer
