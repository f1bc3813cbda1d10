// SPDX-License-Identifier: Apache-2.0
// Shell completion for vramscope's verbs, options, values, files, and for the command that follows them.
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// Returns a script for bash 4 and later. To complete the words of a recorded command, the script needs the
// package bash-completion.
[[nodiscard]] std::string BashCompletion(std::span<const Verb> verbs);
[[nodiscard]] std::string ZshCompletion(std::span<const Verb> verbs);
[[nodiscard]] std::string FishCompletion(std::span<const Verb> verbs);

}  // namespace vramscope::cli
