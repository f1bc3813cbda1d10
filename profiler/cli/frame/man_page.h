// SPDX-License-Identifier: Apache-2.0
// Generates the manual pages from the help tables: vramscope(1), and one page per verb.
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// Both return a page with the macros of man(7).
[[nodiscard]] std::string ManPage(std::span<const Verb> verbs, const std::string& version);
[[nodiscard]] std::string ManPage(const Verb& verb, const std::string& version);

}  // namespace vramscope::cli
