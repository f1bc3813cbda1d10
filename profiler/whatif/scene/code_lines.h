// SPDX-License-Identifier: Apache-2.0
// Lines of PyTorch code that apply a change. This file has the lines for changes that need a re-run, and for
// other optimizers. If the lines contain names of modules, the transformation itself returns them (lever.h).
#pragma once

#include <string>
#include <string_view>

namespace vramscope::whatif {

// Returns the code with line breaks; "" if this file has no lines for the change.
[[nodiscard]] std::string CodeLines(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
