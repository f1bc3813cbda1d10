// SPDX-License-Identifier: Apache-2.0
// The PyTorch release that recorded a step.
#pragma once

#include <string_view>

namespace vramscope::whatif {

// True if `torch`, "2.15.0+cu132", is major.minor or newer. Unreadable text counts as the newest release.
[[nodiscard]] bool IsFrom(std::string_view torch, int major, int minor);

}  // namespace vramscope::whatif
