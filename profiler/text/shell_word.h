// SPDX-License-Identifier: Apache-2.0
// Quotes names in commands that a user copies into a shell.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::text {

// As one word of a command line: "run.vms", "'my run.vms'", "'it'\''s.vms'".
[[nodiscard]] std::string ShellWord(std::string_view word);

}  // namespace vramscope::text
