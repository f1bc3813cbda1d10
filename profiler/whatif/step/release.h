// SPDX-License-Identifier: Apache-2.0
// Compares the PyTorch release with which a step was recorded.
#pragma once

#include <string_view>

namespace vramscope::whatif {

// True if the release `torch` (such as "2.15.0+cu132") is major.minor or newer. A text that cannot be read
// counts as the newest release.
[[nodiscard]] bool IsFrom(std::string_view torch, int major, int minor);

}  // namespace vramscope::whatif
