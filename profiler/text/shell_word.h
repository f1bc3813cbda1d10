// SPDX-License-Identifier: Apache-2.0
// Quotes a name for a shell command that a user copies.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::text {

// Returns the text as one word of a command line: "run.vms", "'my run.vms'", "'it'\''s.vms'".
[[nodiscard]] std::string ShellWord(std::string_view word);

}  // namespace vramscope::text
