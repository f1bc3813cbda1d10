// SPDX-License-Identifier: Apache-2.0
// What makes a shell complete vramscope's verbs, options, values, files and the command behind them.
//
// Why a whole script and no call of vramscope at each TAB: it answers at once, also where the command lies on
// a slow disk, and a shell's user can read what will run. The words come from the tables of --help.
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// Needs bash 4. Uses the package bash-completion for the words of a recorded command where it is loaded.
[[nodiscard]] std::string BashCompletion(std::span<const Verb> verbs);
[[nodiscard]] std::string ZshCompletion(std::span<const Verb> verbs);
[[nodiscard]] std::string FishCompletion(std::span<const Verb> verbs);

}  // namespace vramscope::cli
