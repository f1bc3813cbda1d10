// SPDX-License-Identifier: Apache-2.0
// Which release of PyTorch a step was recorded with.
#pragma once

#include <string_view>

namespace vramscope::whatif {

// Whether `torch`, "2.15.0+cu132", is major.minor or newer; what cannot be read is taken for the newest.
[[nodiscard]] bool IsFrom(std::string_view torch, int major, int minor);

}  // namespace vramscope::whatif
