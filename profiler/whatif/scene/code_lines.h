// SPDX-License-Identifier: Apache-2.0
// PyTorch lines that apply a change: for changes that a re-run answers, and for other optimizers. A
// transformation returns its own lines (lever.h) if they name the modules that it changes.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::whatif {

// PyTorch code, with line breaks; "" if this file has no lines for the lever.
[[nodiscard]] std::string CodeLines(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
