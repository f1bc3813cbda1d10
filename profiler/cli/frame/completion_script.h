// SPDX-License-Identifier: Apache-2.0
// Shell completion for vramscope's verbs, options, values, files, and for the command that follows them.
//
// Why a complete script and not a call of vramscope at each TAB: it is fast even if the command is on a slow
// disk, and users can read what will run. The words come from the tables of --help.
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// Needs bash 4. Completes the words of a recorded command with the package bash-completion if that is loaded.
[[nodiscard]] std::string BashCompletion(std::span<const Verb> verbs);
[[nodiscard]] std::string ZshCompletion(std::span<const Verb> verbs);
[[nodiscard]] std::string FishCompletion(std::span<const Verb> verbs);

}  // namespace vramscope::cli
